/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints on libibverbs, and what the device tells of them. Handles are struct ibv_context *, ibv_pd * (parent
 * domains too), ibv_td *, ibv_mr *, ibv_cq * and ibv_qp * (reliable connected, to be connected by the caller). */
#ifndef ZIP_COMMON_ENDPOINT_EP_IBV_H
#define ZIP_COMMON_ENDPOINT_EP_IBV_H

#include <errno.h>
#include <infiniband/verbs.h>

#include "common/endpoint/endpoint.h"
#include "common/endpoint/ep_set.h"

struct zep_ibv {
	const char *device; /* name, kept by the caller */
	int access;	    /* of memory regions: enum ibv_access_flags */
	uint64_t mapped;    /* bytes of the process's address space before anything was made */
	/* mlx5dv_init_obj() of the provider's library, where the device is its; NULL else. Not linked, so that hosts
	 * with other devices need no mlx5 library. */
	int (*init_obj)(void *obj, uint64_t type);
};

/* Before a call of libibverbs that makes something; and why it has not made it, never 0. Providers may refuse without a
 * word (bnxt_re, of more inline data than it takes), and what errno was before is not their answer. */
static inline void zep_ibv_ask(void)
{
	errno = 0;
}
static inline int zep_ibv_refusal(void)
{
	return errno ? errno : EINVAL;
}

/* Does not open the device. Before the first zep_set_build() with it. */
void zep_ibv_init(struct zep_ibv *, const char *device, int access);
/* What to look at where memory, or queues, which lie in memory, are refused with this errno: ""; or the limit of locked
 * memory, if it may be that. */
const char *zep_ibv_hint(int code);
extern const struct zep_ops zep_ibv_ops; /* to: struct zep_ibv * */

#endif

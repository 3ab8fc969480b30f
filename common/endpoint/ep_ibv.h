/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints on libibverbs, and what the device tells about them. Handles are struct ibv_context *, ibv_pd * (also of
 * parent domains), ibv_td *, ibv_mr *, ibv_cq * and ibv_qp * (reliable connected; the caller connects them). */
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
	/* mlx5dv_init_obj() of the provider's library, for a device of that provider; otherwise NULL. It is not linked,
	 * so that hosts with other devices need no mlx5 library. */
	int (*init_obj)(void *obj, uint64_t type);
};

/* zep_ibv_ask is called before a call of libibverbs that makes something; zep_ibv_refusal then says why nothing was
 * made, and is never 0. Providers may refuse without an errno (bnxt_re, when asked for too much inline data), and an
 * older errno is not their answer. */
static inline void zep_ibv_ask(void)
{
	errno = 0;
}
static inline int zep_ibv_refusal(void)
{
	return errno ? errno : EINVAL;
}

/* Fills the struct; does not open the device. To be called before the first zep_set_build() with it. */
void zep_ibv_init(struct zep_ibv *, const char *device, int access);
/* A hint for a refusal of memory, or of queues, which lie in memory, with this errno: "", or the limit of locked memory
 * if it may be the reason. */
const char *zep_ibv_hint(int code);
extern const struct zep_ops zep_ibv_ops; /* to: struct zep_ibv * */

#endif

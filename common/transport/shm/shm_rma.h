/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations of the shm transport (struct zrma in transport.h), by process_vm_readv and process_vm_writev.
 * The connecting side is the owner, the accepting side (zipperd) the initiator.
 *
 * The kernel allows these calls to a process that might trace the other process; ptrace scope, capabilities and
 * security modules take part in the decision. So the accepting side tries them, both ways, with a word that the
 * connecting side names in the shared memory; and only where both are of the same user. (Otherwise a zipperd of root
 * could be made to read another user's process that has got the number of a process that is gone.) The key is an
 * address and a length: a process names its own memory, never another's.
 *
 * Operations are complete when they return. One operation at a time is allowed, so that the bytes which were read are
 * still in the cache when they are written.
 */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_RMA_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_RMA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/transport/base/transport.h"

struct shm_link;

struct shm_rma {
	_Atomic uint64_t
		word;	/* connecting side: the accepting side has increased the word by one if it may write here */
	uint64_t value; /* connecting side: the first value of the word */
	pid_t pid;	/* accepting side: the peer's; 0: one-sided operations are not possible */
};

struct shm_rma_half { /* initiator's; the thread of the half alone touches it */
	struct zrma_done done;
	bool outstanding;
	int error;
};

/* Connecting side, before the offer: names the word. */
void shm_rma_offer(struct shm_link *);
/* Accepting side, when the memory is there: tries access to the word. */
void shm_rma_try(struct shm_link *);

extern const struct zrma shm_rma_ops;

#endif

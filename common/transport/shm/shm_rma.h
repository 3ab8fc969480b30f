/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations of the shm transport (struct zrma in transport.h): process_vm_readv and process_vm_writev. The
 * connecting side is the owner, the accepting side (zipperd) the initiator. Inner header.
 *
 * The kernel allows it to who might trace the other process: ptrace scope, capabilities and security modules have a
 * say. So the accepting side tries it, both ways, with a word that the connecting side names in the shared memory; and
 * only where both are the same user. (A zipperd of root could otherwise be made to read a process of somebody else that
 * has got the number of one that is gone.) The key is address and length: a process names its own memory, nobody
 * else's.
 *
 * Operations are complete when they return. One at a time is allowed: the piece that was read is still in the cache
 * when it is written.
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
	_Atomic uint64_t word; /* connecting side: the accepting side has increased it by one if it may write here */
	uint64_t value;	       /* connecting side: of the word, in the beginning */
	pid_t pid;	       /* accepting side: of the peer; 0: not possible */
};

struct shm_rma_half { /* initiator's, each touched by the thread of its half */
	struct zrma_done done;
	bool outstanding;
	int error;
};

/* Connecting side, before the offer. */
void shm_rma_offer(struct shm_link *);
/* Accepting side, when the memory is there. */
void shm_rma_try(struct shm_link *);

extern const struct zrma shm_rma_ops;

#endif

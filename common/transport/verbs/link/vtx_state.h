/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a send half. vtx.h and vtx_queue.h say what is done with it. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VTX_STATE_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VTX_STATE_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/transport/verbs/device/vobject.h"
#include "common/transport/verbs/device/vpass.h"
#include "common/transport/verbs/device/vpool.h"
#include "common/transport/verbs/link/vhalf.h"
#include "common/transport/verbs/link/vrma_slot.h"

#define VLIST_MAX 32 /* sends in a list */
#define VINLINE_MAX 512

struct vlink;

struct vtx {
	struct vqueue queue;
	struct vpool *pool;
	struct vpass *pass;
	int epoll;
	enum vmode mode;
	bool armed;	  /* notification was asked for */
	bool told_ready;  /* connecting end */
	bool watches_out; /* the TCP connection's room is watched */
	bool want_buffer; /* the last refusal was for lack of one */
	bool waits;	  /* was refused since it was armed last */
	bool stopping;	  /* our own end, in another thread than the pool's: what it has is given back by fini */
	int failing;	  /* why it cannot go on, where the reason to be told may still be another */
	struct vdoubt doubt;
	pthread_mutex_t noticing; /* of the next two, and the channel: not on the data path */
	bool quiet;		  /* of errors alone is to be told: the receive half's thread takes notice */
	enum vnotice awaits;
	int error;
	uint32_t limit, sent; /* sends that may have been made; that have */
	uint32_t depth;	      /* of the send queue: twice the window, as completions are late */
	uint32_t signal;      /* one in so many reports its completion */
	uint32_t head, tail;  /* sends in it */
	uint32_t send_bytes, inline_bytes;
	uint32_t held; /* buffers under way */
	bool holds;    /* is in the pool's list of those with more than their own */
	struct vlink *next_holder;
	uint32_t run, run_held; /* sends since the last that reports; those of them with a buffer */
	uint32_t credits_used;	/* receives for credit that are to be posted again */
	uint32_t refused;
	uint32_t writes;
	uint32_t reaps;	     /* in vain, while there are writes */
	int64_t given_up_ms; /* when its queue pair was asked first to end what is under way; 0: it was not */
	uint64_t copied;     /* bytes of payload */
	uint8_t *rest;	     /* of a message that was taken and could not be sent wholly */
	size_t rest_at, rest_len;
	uint32_t list; /* sends that are not posted */
	struct vrma_slot rma[VRMA_MAX];
	struct vdone local;
	struct vlate late_window;
	struct vbuf **slot; /* [slot_mask + 1]: what a send holds, or NULL */
	uint32_t slot_mask;
	struct ibv_send_wr wr[VLIST_MAX];
	struct ibv_sge sge[VLIST_MAX];
	uint8_t (*copy)[VINLINE_MAX]; /* [VLIST_MAX]: of inline sends that are not posted */
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a send half (vtx.h, vtx_queue.h). */
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
	bool armed;	  /* an event was asked for */
	bool told_ready;  /* connecting end */
	bool watches_out; /* the TCP connection's room is watched */
	bool want_buffer; /* the last refusal was for lack of a buffer */
	bool waits;	  /* a message was refused since the half was armed last */
	bool stopping;	  /* this end closes the link, in another thread than the pool's: fini gives buffers back */
	int failing;	  /* why the half cannot go on, where the reason to tell may still be another one */
	struct vdoubt doubt;
	pthread_mutex_t noticing; /* of the next two members, and the channel: not on the data path */
	bool quiet;		  /* the receive half's thread is told of errors alone */
	enum vnotice awaits;
	int error;
	uint32_t limit, sent; /* sends that may have been made so far; sends that have been made */
	uint32_t depth;	      /* of the send queue: twice the window, as completions are late */
	uint32_t signal;      /* one in so many reports its completion */
	uint32_t head, tail;  /* first send in the queue; next send */
	uint32_t send_bytes, inline_bytes;
	uint32_t held; /* buffers under way */
	bool holds;    /* the half is in the pool's list of holders (vholders.h) */
	struct vlink *next_holder;
	uint32_t run, run_held; /* sends since the last that reports; those of them with a buffer */
	uint32_t credits_used;	/* used receives for credit, which are to be posted again */
	uint32_t refused;
	uint32_t writes;
	uint32_t reaps;	     /* in vain, while there are writes */
	int64_t given_up_ms; /* when the queue pair was first put into its error state to end operations; 0: it was not
			      */
	uint64_t copied;     /* bytes of payload */
	uint8_t *rest;	     /* rest of a message that was taken and could not be sent wholly */
	size_t rest_at, rest_len;
	uint32_t list; /* number of sends in the list */
	struct vrma_slot rma[VRMA_MAX];
	struct vdone local;
	struct vlate late_window;
	struct vbuf **slot; /* [slot_mask + 1]: the buffer that a send holds, or NULL */
	uint32_t slot_mask;
	struct ibv_send_wr wr[VLIST_MAX];
	struct ibv_sge sge[VLIST_MAX];
	uint8_t (*copy)[VINLINE_MAX]; /* [VLIST_MAX]: of inline sends in the list */
};

#endif

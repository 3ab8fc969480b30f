/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a receive half (vrx.h). */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VRX_STATE_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VRX_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/transport/verbs/device/vobject.h"
#include "common/transport/verbs/device/vpass.h"
#include "common/transport/verbs/device/vpool.h"
#include "common/transport/verbs/link/vhalf.h"
#include "common/transport/verbs/link/vrma_slot.h"
#include "common/wire/wire.h"

#define VARRIVALS 512 /* a power of two, more than the largest window and VPOLL */

/* The way of packets to the peer and back, as far as the receive half knows it: in this order, up to one of the last
 * two. */
enum vrx_way {
	VRX_WAY_UNTRIED, /* no credit was given yet */
	VRX_WAY_TRIED,	 /* the first credit is on its way */
	VRX_WAY_PROVEN,	 /* the peer's device has acknowledged a message of credit */
	VRX_WAY_NONE	 /* there is none, and a warning has said so: messages stay with TCP */
};

struct varrival {
	struct vbuf *buf;
	uint32_t len;
};

struct vrx {
	struct vqueue queue;
	struct vpool *pool;
	struct vpass *pass;
	int epoll;
	enum vmode mode;
	bool armed;
	enum vnotice awaits;
	enum vrx_way way;
	bool due;	 /* credit is to be told, as the send queue was full */
	bool fin;	 /* the TCP connection ended */
	bool closing;	 /* the peer has said CLOSE, after close_at sends */
	bool stopping;	 /* this end closes the link */
	bool blind;	 /* the completion queue has failed: it does not show all completions, now and later */
	int64_t late_ms; /* when the wait for late sends began; 0: it has not begun */
	int error;
	int broken; /* why no more messages will come; those that have come are still delivered */
	struct vdoubt doubt;
	int sender; /* why the send half has failed, which its thread may not know; the weakest of reasons */
	uint32_t close_at;
	uint32_t limit, consumed;
	int32_t extra;	       /* shared buffers of the pool that the sender has credit for */
	uint32_t window;       /* the sends that the sender should have ahead, by its use (vcredit.c) */
	uint32_t told, ahead;  /* when credit was told last: the value of consumed; the credit ahead */
	uint32_t burst, calms; /* since then: the most sends that were there at once; times in a row without a burst */
	uint32_t send_bytes;
	uint32_t sends, run, vain; /* messages of credit under way; those since the last that reports; vain polls */
	uint32_t reads;
	uint32_t reaps;	     /* in vain, while there are reads */
	int64_t given_up_ms; /* as of struct vtx */
	uint64_t copied;     /* bytes of payload */
	/* The message that is being put together, or that waits because it was refused. */
	struct vbuf *kept; /* a whole message, in its buffer */
	bool open, whole;
	struct zwire_env env;
	uint8_t raw[ZWIRE_ENV_BYTES];
	uint8_t *placed, *memory; /* the payload goes to placed or, if that is NULL, to memory */
	uint32_t have;
	/* Sends that have come and were not looked at: never more than the window. */
	uint32_t next, got;
	struct varrival arrival[VARRIVALS];
	struct vbuf *unwanted; /* while stopping: failed receives, and sends beyond the peer's credit */
	struct vrma_slot rma[VRMA_MAX];
	struct vdone local;
	struct vlate late_window;
};

#endif

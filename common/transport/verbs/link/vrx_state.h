/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a receive half. vrx.h says what is done with it. */
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
	bool granted;	 /* credits were given at all */
	bool proven;	 /* and one that was has been acknowledged: there is a way to the peer and back */
	bool useless;	 /* there is none, which was said: messages stay with TCP */
	bool due;	 /* credit is to be told, and the send queue was full */
	bool fin;	 /* the TCP connection ended */
	bool closing;	 /* the peer said CLOSE, after close_at sends */
	bool stopping;	 /* our own end */
	bool blind;	 /* the completion queue has failed: what it shows is not all, nor so the next */
	int64_t late_ms; /* since when those that have not come yet are looked for; 0: they are not */
	int error;
	int broken; /* why no more will come; what has come is still delivered */
	struct vdoubt doubt;
	int sender; /* why the send half has failed, of which its thread may not know; the least of reasons */
	uint32_t close_at;
	uint32_t limit, consumed;
	int32_t extra;	       /* of the pool's shared credits */
	uint32_t window;       /* how many sends it should have ahead, as its use says (credit.c) */
	uint32_t told, ahead;  /* when credit was told last: consumed then; given then */
	uint32_t burst, calms; /* since then the most that were there at once; times in a row that they were few */
	uint32_t send_bytes;
	uint32_t sends, run, vain; /* credits under way; since the last that reports; polls in vain */
	uint32_t reads;
	uint32_t reaps;	     /* in vain, while there are reads */
	int64_t given_up_ms; /* as of vtx */
	uint64_t copied;     /* bytes of payload */
	/* the message that is being put together, or waits because it was refused */
	struct vbuf *kept; /* a whole one, in its buffer */
	bool open, whole;
	struct zwire_env env;
	uint8_t raw[ZWIRE_ENV_BYTES];
	uint8_t *placed, *memory; /* payload goes to the one or, if NULL, the other */
	uint32_t have;
	/* what came and was not looked at: never more than the window */
	uint32_t next, got;
	struct varrival arrival[VARRIVALS];
	struct vbuf *unwanted; /* stopping: what failed, or is more than the peer may send */
	struct vrma_slot rma[VRMA_MAX];
	struct vdone local;
	struct vlate late_window;
};

#endif

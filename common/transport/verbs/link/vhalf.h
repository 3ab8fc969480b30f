/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the two halves of a link: constants, and small structures. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VHALF_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VHALF_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define VLINE 128	/* pairs of cache lines are fetched together */
#define VPOLL 16	/* completions taken at a time */
#define VLOOK_EVERY 64	/* vain tries between two looks at other events, as a look costs a system call */
#define VCREDIT_RUN 4	/* one in so many messages of credit reports its completion */
#define VCREDITS_MAX 64 /* messages of credit that a sender has not looked at: at most 24 with any window */

enum vmode {		 /* how the messages of one direction travel */
	VMODE_STREAM,	 /* over the TCP connection */
	VMODE_SWITCHING, /* SWITCH is on its way (vframe.h) */
	VMODE_QUEUE	 /* over the queue pair */
};

/* The completions for which a completion queue is to raise an event (vnotice.h). The wish stands until the event has
 * been taken: a new wish has no effect while an event is raised (arm_sn in mlx5). */
enum vnotice { VNOTICE_NONE, VNOTICE_ERRORS, VNOTICE_ALL };

struct vdoubt {		  /* a port may be the reason why a queue pair failed, and its event may yet come */
	int64_t since_ms; /* when the doubt began; 0: there is none */
	int64_t asked_ms; /* when the port was asked last */
};

struct vdone { /* the end of work that the device did for this half alone: a memory window */
	bool done;
	int rc;
};

struct vreg;
struct vlate { /* a window that the device has not bound in time, with its memory; mw NULL: there is none */
	struct ibv_mw *mw;
	struct vreg *reg;
};

#endif

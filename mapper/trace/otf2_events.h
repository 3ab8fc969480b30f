/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of an OTF2 trace, one location after the other, by the library of OTF2. What events become is up to the
 * callbacks of the caller. One thread. */
#ifndef ZIP_MAPPER_OTF2_EVENTS_H
#define ZIP_MAPPER_OTF2_EVENTS_H

#ifdef HAVE_OTF2

#include "mapper/trace/otf2_defs.h"

struct otf2_events {
	OTF2_EvtReaderCallbacks *(*callbacks)(void); /* NULL: they cannot be made */
	/* before and behind the events of a location of this rank; 0 or a negative errno with the reason */
	int (*begin)(void *arg, uint32_t rank);
	int (*end)(void *arg);
	void *arg;     /* of these and of the callbacks */
	const int *rc; /* the result of the latest callback; its reason is in err */
};

/* Reads the definitions, then all events. Fills in the ranks and the communicators of the trace. 0 or a negative errno
 * with the reason. Free defs and trace in any case. */
int otf2_events_read(const struct otf2_events *, const char *path, struct otf2_defs *, struct trace *, struct zerr *);

/* The rank in the world of a rank in an event of rank `self`. 0 or -EINVAL with the reason. */
int otf2_events_peer(const struct trace *, const struct otf2_comm *, uint32_t self, uint64_t rank, uint32_t *peer,
	struct zerr *);
/* Says that a number is not defined. -EINVAL. */
int otf2_events_unknown(uint32_t rank, const char *what, uint64_t ref, struct zerr *);
/* The kind of a collective operation; ZGRAPH_KINDS: it moves no data, or is unknown. */
enum zgraph_kind otf2_events_kind(OTF2_CollectiveOp);
uint64_t otf2_events_ns(const struct otf2_defs *, uint64_t ticks);

#endif
#endif

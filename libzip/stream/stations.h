/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of each station (shim/station.h): its channels, streams, queues and transfers. The functions of stream/ and
 * bridge/ are given the station, or something that knows its station: a channel, a remote rank, an operation. Only the
 * modules below (pool.h, req.h, type.h) look at zstation_here; so a thread that has the whole library visits the
 * station whose state it passes. Each member belongs to the module that is named. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_STATIONS_H
#define ZIP_LIBZIP_STATIONS_H

#include <stdint.h>

#include "libzip/stream/breach.h"
#include "libzip/shim/station.h"
#include "libzip/stream/match.h"
#include "libzip/stream/oplist.h"
#include "libzip/world/idtab.h"

struct zchannel;
struct zendpoint;
struct zqueued;
struct zremote;
struct zstrands;
struct ztransport;

struct zstation {
	int number; /* index into zstations */
	struct {    /* breach.h: the message that ends a channel, or nothing */
		const char *what;
		char text[ZBREACH_BYTES]; /* about the message that ended this channel */
		const struct zchannel *channel;
	} breach;
	uint32_t first; /* number of vrank 0 at this station, as envelopes name it; plus v: of vrank v */
	struct {	/* channel.h */
		struct zchannel *by_zipper; /* [n = zrails.n * zrails.tracks * zworld.nparts] */
		int n;
		struct zchannel **open; /* [nopen]: those with a link, of both kinds; room for cap */
		int nopen, cap;
		struct zchannel *direct; /* list of all direct ones, also waiting ones */
		/* Resources that the links share, of the one transport that has such a thing, and the transport that
		 * they are to be given back to; NULL: none yet. With one station alone only links that come in use
		 * them: links that are made then share what the transport has for them. */
		struct zendpoint *own;
		const struct ztransport *settles;
	} channels;
	struct zremote **remotes; /* remote.h: [zworld.nranks], by vrank; NULL: never met */
	struct zremote *owed;	  /* outgoing.h: list of ranks that we may owe an acknowledgement */
	struct zidtab transfers;  /* transfer.h */
	uint64_t transfer_serial; /* of the newest one */
	struct zoplist granting;  /* transfer_recv.h: receives that want a larger grant, in turns */
	uint64_t outstanding;	  /* bytes granted and not come, over all transfers */
	struct zmatch match;	  /* queue.h */
	struct zqueued *detached; /* messages that matched probes hold */
	struct zstrands *strands; /* strands.h: messages under way in strands, both ways */
	uint32_t strands_last;	  /* number of the last one that was sent */
	struct zoplist orphans;	  /* anysource.h: freed receives that are to complete natively */
	unsigned anysource_turn;  /* counts up to a look at the native side */
};
extern struct zstation zstations[]; /* [ZSTATIONS_MAX] */

/* MPI_Init, when the world is known: numbers them. */
void zstations_init(void);

/* The station where this thread works. */
static inline struct zstation *zstations_here(void)
{
	return &zstations[zstation_here];
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What channels consist of: shared by the files of channel.h, nobody else's business. Under the shim's lock. */
#ifndef ZIP_LIBZIP_CHANNEL_PARTS_H
#define ZIP_LIBZIP_CHANNEL_PARTS_H

#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "libzip/bridge/channel.h"
#include "libzip/shim/station.h"

struct zcontrol { /* from the pool */
	struct zcontrol *next;
	struct zremote *remote;
	struct zwire_env env;
	uint8_t key[ZRMA_KEY_BYTES];
};

struct zchannel_set {		    /* of a station */
	struct zchannel *by_zipper; /* [n = zrails.n * zworld.nparts] */
	int n;
	struct zchannel **open; /* [nopen]: those with a link, of both kinds */
	int nopen, cap;
	struct zchannel *direct; /* all of them, also waiting ones */
	/* What its links share, of the one transport that has such a thing, and with whom it is to be given back;
	 * NULL: none yet. Where there is one station alone, only links that come in: those that are made then share
	 * what the transport has for them. */
	struct zendpoint *own;
	const struct ztransport *settles;
};
extern struct zchannel_set zchannels_of[]; /* [ZSTATIONS_MAX] */
#define zchannels (zchannels_of[zstation_here])

/* Out of the list of those with a link; what was to be read over it fails. */
void zchannel_close_link(struct zchannel *);

static inline short zchannel_poll_events(uint32_t events)
{
	return (short)((events & EPOLLIN ? POLLIN : 0) | (events & EPOLLOUT ? POLLOUT : 0));
}

#endif

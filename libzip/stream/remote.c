/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of remote ranks, see remote.h. */
#include "libzip/stream/remote.h"

#include <errno.h>
#include <stdlib.h>

#include "libzip/shim/station.h"
#include "libzip/stream/choice.h"
#include "libzip/stream/loss.h"
#include "libzip/world/world.h"

static struct {
	struct zremote **remotes; /* [zworld.nranks], by vrank; NULL: never met */
} stations[ZSTATIONS_MAX];
#define self (stations[zstation_here])

int zremote_init(void)
{
	self.remotes = calloc((size_t)zworld.nranks, sizeof(*self.remotes));
	return self.remotes ? 0 : -ENOMEM;
}

void zremote_fini(void)
{
	for (int i = 0; self.remotes && i < zworld.nranks; i++) {
		if (self.remotes[i])
			zpeer_clear(&self.remotes[i]->stream);
		free(self.remotes[i]);
	}
	free(self.remotes);
	self.remotes = NULL;
}

static struct zremote *add_remote(uint32_t vrank, struct zchannel *channel)
{
	struct zremote *r = channel ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return NULL;
	r->vrank = vrank;
	r->channel = channel;
	self.remotes[vrank] = r;
	if (zremote_is_bridged(r))
		zloss_meet(r);
	return r;
}

struct zremote *zremote_get(uint32_t vrank)
{
	struct zremote *r = self.remotes[vrank];

	if (__builtin_expect(r != NULL, 1))
		return r;
	return add_remote(vrank, zchoice_begin(vrank));
}

struct zremote *zremote_get_direct(uint32_t vrank)
{
	return self.remotes[vrank] ? self.remotes[vrank] : add_remote(vrank, zchannel_create_waiting(vrank));
}

struct zremote *zremote_get_bridged(uint32_t vrank)
{
	struct zremote *r = self.remotes[vrank];

	if (__builtin_expect(!r, 0))
		return add_remote(vrank, zchannel_home(vrank));
	if (__builtin_expect(r->channel->waiting, 0))
		zchoice_give_way(r);
	return r;
}

struct zremote *zremote_find(uint32_t vrank)
{
	return self.remotes[vrank];
}

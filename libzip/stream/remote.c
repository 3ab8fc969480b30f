/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of remote ranks, see remote.h. */
#include "libzip/stream/remote.h"

#include <errno.h>
#include <stdlib.h>

#include "libzip/stream/choice.h"
#include "libzip/stream/loss.h"
#include "libzip/stream/stations.h"
#include "libzip/world/world.h"

int zremote_init(struct zstation *s)
{
	s->remotes = calloc((size_t)zworld.nranks, sizeof(*s->remotes));
	return s->remotes ? 0 : -ENOMEM;
}

void zremote_fini(struct zstation *s)
{
	for (int i = 0; s->remotes && i < zworld.nranks; i++) {
		if (s->remotes[i])
			zpeer_clear(&s->remotes[i]->stream);
		free(s->remotes[i]);
	}
	free(s->remotes);
	s->remotes = NULL;
}

static struct zremote *add_remote(struct zstation *s, uint32_t vrank, struct zchannel *channel)
{
	struct zremote *r = channel ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return NULL;
	r->station = s;
	r->vrank = vrank;
	r->channel = channel;
	s->remotes[vrank] = r;
	if (zremote_is_bridged(r))
		zloss_meet(r);
	return r;
}

struct zremote *zremote_get(struct zstation *s, uint32_t vrank)
{
	struct zremote *r = s->remotes[vrank];

	if (__builtin_expect(r != NULL, 1))
		return r;
	return add_remote(s, vrank, zchoice_begin(s, vrank));
}

struct zremote *zremote_get_direct(struct zstation *s, uint32_t vrank)
{
	return s->remotes[vrank] ? s->remotes[vrank] : add_remote(s, vrank, zchannel_create_waiting(s, vrank));
}

struct zremote *zremote_get_bridged(struct zstation *s, uint32_t vrank)
{
	struct zremote *r = s->remotes[vrank];

	if (__builtin_expect(!r, 0))
		return add_remote(s, vrank, zchannel_home(s, vrank));
	if (__builtin_expect(r->channel->waiting, 0))
		zchoice_give_way(r);
	return r;
}

struct zremote *zremote_find(const struct zstation *s, uint32_t vrank)
{
	return s->remotes[vrank];
}

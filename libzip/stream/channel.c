/* SPDX-License-Identifier: BSD-3-Clause */
/* The data channels of this rank, see channel.h. */
#include "libzip/stream/channel.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "common/session/session.h"
#include "libzip/shim/pool.h"
#include "libzip/stream/breach.h"
#include "libzip/stream/loss.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/world/error.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"
#include "common/session/session_attach.h"

#define ATTACH_TIMEOUT_MS 20000 /* at most: zipperd has answered the join, so it is there */
#define BYE_POLL_MS 100

static const char *job;
/* A transport sets up one link at a time; threads at different stations might want it at once. */
static pthread_mutex_t setting_up = PTHREAD_MUTEX_INITIALIZER;

int zchannel_init(struct zstation *s, const char *its_job)
{
	job = its_job;
	s->channels.nopen = 0;
	s->channels.n = zrails.n * zrails.tracks * zworld.nparts;
	s->channels.by_zipper = calloc((size_t)s->channels.n, sizeof(struct zchannel));
	if (!s->channels.by_zipper)
		return -ENOMEM;
	for (int i = 0; i < s->channels.n; i++)
		s->channels.by_zipper[i] = (struct zchannel){.station = s,
			.by = {.rail = i / zworld.nparts / zrails.tracks, .track = i / zworld.nparts % zrails.tracks},
			.part = i % zworld.nparts,
			.peer = ZWIRE_NOBODY};
	return 0;
}

static void drop_control(struct zchannel *ch)
{
	while (ch->control_head) {
		struct zcontrol *c = ch->control_head;
		ch->control_head = c->next;
		zpool_put(c);
	}
	ch->control_tail = NULL;
}

/* The end of its link begins; nothing waits for it yet. */
static void drain(struct zchannel *ch)
{
	struct zlink *l = ch->link;

	if (l && l->ops->drain)
		l->ops->drain(l);
}

void zchannel_fini(struct zstation *s, void (*closed)(struct zchannel *))
{
	for (int i = 0; i < s->channels.nopen; i++)
		drain(s->channels.open[i]); /* all of them before the first close, so that their waiting overlaps */
	for (int i = 0; i < s->channels.nopen; i++) {
		s->channels.open[i]->link->ops->close(s->channels.open[i]->link);
		closed(s->channels.open[i]);
	}
	for (int i = 0; s->channels.by_zipper && i < s->channels.n; i++)
		drop_control(&s->channels.by_zipper[i]);
	while (s->channels.direct) {
		struct zchannel *ch = s->channels.direct;
		s->channels.direct = ch->next;
		drop_control(ch);
		free(ch);
	}
	if (s->channels.settles)
		s->channels.settles->endpoint_close(s->channels.own);
	s->channels.own = NULL;
	s->channels.settles = NULL;
	free(s->channels.by_zipper);
	free(s->channels.open);
	s->channels.by_zipper = NULL;
	s->channels.open = NULL;
	s->channels.nopen = s->channels.cap = 0;
}

static short poll_events(uint32_t events)
{
	return (short)((events & EPOLLIN ? POLLIN : 0) | (events & EPOLLOUT ? POLLOUT : 0));
}

static void wait_for_room(struct zlink *l)
{
	uint32_t events;
	struct pollfd p = {.fd = l->ops->fd(l, ZLINK_TX, &events)};

	p.events = poll_events(events);
	if (l->ops->arm(l, ZLINK_TX) == 0)
		poll(&p, 1, BYE_POLL_MS);
}

void zchannel_say_bye(struct zstation *s)
{
	struct zwire_env env = {.kind = ZWIRE_BYE, .src = s->first + (uint32_t)zworld.vrank};
	uint8_t raw[ZWIRE_ENV_BYTES];

	for (int i = 0; i < s->channels.nopen; i++) {
		struct zlink *l = s->channels.open[i]->link;
		int rc;
		env.dst = s->channels.open[i]->peer;
		if (env.dst != ZWIRE_NOBODY) /* ZWIRE_NOBODY: zipperd */
			env.dst += s->first;
		zwire_encode(raw, &env);
		while ((rc = l->ops->post(l, raw, NULL, 0)) == -EAGAIN)
			wait_for_room(l);
		while (rc == 0 && l->ops->flush(l) == -EAGAIN)
			wait_for_room(l);
	}
}

/* Puts a channel into the list of open ones, whose memory grows first. */
static void add_open(struct zchannel *ch)
{
	struct zstation *s = ch->station;

	if (s->channels.nopen == s->channels.cap) {
		int cap = s->channels.cap ? 2 * s->channels.cap : 8;
		struct zchannel **more = realloc(s->channels.open, (size_t)cap * sizeof(struct zchannel *));
		if (!more)
			zerror_fatal(1, "out of memory for %d connections", cap);
		s->channels.open = more;
		s->channels.cap = cap;
	}
	s->channels.open[s->channels.nopen++] = ch;
}

void zchannel_close_link(struct zchannel *ch)
{
	struct zstation *s = ch->station;

	for (int i = 0; i < s->channels.nopen; i++)
		if (s->channels.open[i] == ch)
			s->channels.open[i] = s->channels.open[--s->channels.nopen];
	if (ch->link)
		ch->link->ops->close(ch->link);
	ch->link = NULL;
	ch->held_back = false;
}

static struct zendpoint **own_endpoint(struct zstation *s)
{
	return zstation_n > 1 ? &s->channels.own : NULL;
}

static void note_settled(struct zstation *s, const struct zlink *link)
{
	if (s->channels.own && link->ops->settle)
		s->channels.settles = link->ops;
}

/* A zipper that hangs must not hold up a rank that has another one for longer than where it is only waited for. */
static int attach_timeout(int rail)
{
	const int64_t patience_ms = zrails_patience(rail);

	return patience_ms > 0 && patience_ms < ATTACH_TIMEOUT_MS ? (int)patience_ms : ATTACH_TIMEOUT_MS;
}

static int attach_link(struct zchannel *ch, const struct zctl_attach *attach, struct zerr *err)
{
	const struct zsession_way way = zrails_way(ch->by.rail);
	struct zstation *s = ch->station;

	pthread_mutex_lock(&setting_up);
	int rc = zsession_attach_to(&ch->link, &way, attach, own_endpoint(s), attach_timeout(ch->by.rail), err);
	pthread_mutex_unlock(&setting_up);
	if (rc == 0)
		note_settled(s, ch->link);
	return rc;
}

int zchannel_link(struct zstation *s, struct zlink **link, const struct zaddr *addr, const struct zctl_attach *attach,
	int timeout_ms, struct zerr *err)
{
	/* The first zipper introduces ranks only that speak to it alike, so the other rank reads the same protocol. */
	int rc = zsession_attach_direct(link, addr, zrails.rail[0].protocol, attach, own_endpoint(s), timeout_ms, err);

	if (rc == 0)
		note_settled(s, *link);
	return rc;
}

int zchannel_settle(struct zstation *s, struct zlink *link, struct zerr *err)
{
	int rc = s->channels.own ? 0 : link->ops->endpoint_open(&s->channels.own, err);

	if (rc == 0)
		rc = link->ops->settle(link, s->channels.own, s->channels.own, err);
	if (rc >= 0)
		note_settled(s, link);
	return rc;
}

static struct zchannel *find(struct zstation *s, struct zrails_track by, int part)
{
	return &s->channels.by_zipper[(by.rail * zrails.tracks + by.track) * zworld.nparts + part];
}

struct zchannel *zchannel_open(struct zstation *s, struct zrails_track by, int part)
{
	struct zchannel *ch = find(s, by, part);
	const struct zctl_attach attach = {.vrank = (uint32_t)zworld.vrank,
		.part = (uint32_t)part,
		.endpoint = (uint32_t)s->number,
		.track = (uint32_t)by.track};
	struct zerr err = {{0}};

	if (ch->link)
		return ch;
	if (!zrails_is_good(by.rail)) {
		ch->full = true;
		return ch;
	}
	if (attach_link(ch, &attach, &err) != 0) {
		ch->link = NULL;
		ch->full = true;
		zloss_note(by.rail, err.text);
		return ch;
	}
	ch->full = false;
	add_open(ch);
	return ch;
}

const char *zchannel_describe_end(const struct zchannel *ch, int rc)
{
	const char *bad = rc == -EPROTO ? zbreach_find(ch) : NULL;

	return bad ? bad : rc == -ESHUTDOWN ? "closed" : zlink_why(rc);
}

void zchannel_lose_zipper(const struct zchannel *ch, int rc)
{
	struct zerr err;

	zerr_set(&err, rc, "data channel to part %s by zipperd at %s: %s", zworld.part_name[ch->part], ch->link->peer,
		zchannel_describe_end(ch, rc));
	zloss_note(ch->by.rail, err.text);
}

static void drop_ready(struct zchannel *ch)
{
	for (struct zremote *r = ch->ready_head; r; r = r->ready_next)
		r->ready = false;
	ch->ready_head = ch->ready_tail = NULL;
}

void zchannel_close_rail(struct zstation *s, int rail)
{
	struct zchannel *first = find(s, (struct zrails_track){.rail = rail}, 0);

	for (int i = 0; i < zrails.tracks * zworld.nparts; i++)
		drain(&first[i]);
	for (struct zchannel *ch = first; ch < first + zrails.tracks * zworld.nparts; ch++) {
		zchannel_close_link(ch);
		drop_control(ch);
		drop_ready(ch);
		while (zoplist_pop(&ch->data))
			;
		ch->full = true;
		ch->broken = 0; /* the rail may come back */
	}
}

void zchannel_unplace(struct zstation *s, uint64_t xfer)
{
	for (int i = 0; i < s->channels.nopen; i++) {
		struct zlink *l = s->channels.open[i]->link;
		if (s->channels.open[i]->placed == xfer && l->ops->unplace)
			l->ops->unplace(l); /* if that breaks the link, the next poll tells */
	}
}

struct zchannel *zchannel_home(struct zstation *s, uint32_t vrank)
{
	return zchannel_open(s, zrails_of(vrank), (int)zworld.place[vrank].part);
}

struct zchannel *zchannel_carrier(void)
{
	const struct zrails_track by = zrails_of_carrier();

	return zchannel_open(&zstations[0], by, zrails_first_part(by.rail));
}

struct zchannel *zchannel_create_waiting(struct zstation *s, uint32_t vrank)
{
	struct zchannel *ch = calloc(1, sizeof(*ch));

	if (!ch)
		return NULL;
	ch->station = s;
	ch->part = (int)zworld.place[vrank].part;
	ch->peer = vrank;
	ch->waiting = ch->full = true;
	ch->next = s->channels.direct;
	s->channels.direct = ch;
	return ch;
}

void zchannel_set_link(struct zchannel *ch, struct zlink *link)
{
	ch->link = link;
	add_open(ch);
}

void zchannel_set_up(struct zchannel *ch)
{
	ch->waiting = ch->full = false;
}

static void add_direct(const struct zstation *s, struct zctl_to_part *parts)
{
	for (const struct zchannel *ch = s->channels.direct; ch; ch = ch->next) {
		parts[ch->part].msgs += ch->msgs;
		parts[ch->part].bytes += ch->bytes;
	}
}

void zchannel_add_direct(struct zctl_to_part *parts)
{
	for (int i = 0; i < zstation_n; i++)
		add_direct(&zstations[i], parts);
}

static bool has_work(const struct zchannel *ch)
{
	return ch->control_head || ch->ready_head || ch->data.head || ch->held_back || ch->fetching.head;
}

bool zchannel_idle(const struct zstation *s)
{
	for (int i = 0; i < s->channels.n; i++) {
		if (has_work(&s->channels.by_zipper[i]))
			return false;
	}
	for (const struct zchannel *ch = s->channels.direct; ch; ch = ch->next)
		if (has_work(ch))
			return false;
	return true;
}

int zchannel_fds(const struct zstation *s)
{
	return 2 * s->channels.nopen;
}

int zchannel_arm(struct zstation *s, struct pollfd *fds, int n)
{
	for (int i = 0; i < s->channels.nopen; i++) {
		struct zchannel *ch = s->channels.open[i];
		uint32_t events;
		bool send = (ch->full || ch->held_back) && !ch->waiting && !ch->broken;
		if (ch->link->ops->arm(ch->link, ZLINK_RX) != 0 ||
			(send && ch->link->ops->arm(ch->link, ZLINK_TX) != 0))
			return -1;
		fds[n].fd = ch->link->ops->fd(ch->link, ZLINK_RX, &events);
		fds[n++].events = poll_events(events);
		if (send) {
			fds[n].fd = ch->link->ops->fd(ch->link, ZLINK_TX, &events);
			fds[n++].events = poll_events(events);
		}
	}
	return n;
}

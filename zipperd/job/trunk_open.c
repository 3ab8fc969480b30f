/* SPDX-License-Identifier: BSD-3-Clause */
/* Trunks for hops, see trunk_open.h. */
#include "zipperd/job/trunk_open.h"

#include <errno.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/crew.h"
#include "zipperd/conn/dial.h"
#include "zipperd/conn/quota.h"
#include "zipperd/trunk/trunk.h"
#include "zipperd/trunk/trunk_stream.h"

#define PLAIN_MS 60000 /* so long a zipperd counts as one that knows no trunks */

static bool is_plain(const struct daemon *d, const struct zaddr *addr)
{
	for (int i = 0; i < DAEMON_PLAIN_MAX; i++)
		if (d->plain[i].until_ms > d->now_ms && zaddr_same(&d->plain[i].addr, addr))
			return true;
	return false;
}

static void note_plain(struct daemon *d, const struct zaddr *addr)
{
	struct plain_zipper *oldest = &d->plain[0];
	for (int i = 1; i < DAEMON_PLAIN_MAX; i++)
		if (d->plain[i].until_ms < oldest->until_ms)
			oldest = &d->plain[i];
	*oldest = (struct plain_zipper){.addr = *addr, .until_ms = d->now_ms + PLAIN_MS};
}

/* The key that this zipperd proves to others for the job: the user's, or on a node that of the job's credential. NULL:
 * there is none. */
static const uint8_t *find_key(const struct daemon *d, const char *user, const char *job, uint64_t *expires_s)
{
	uint64_t until_s;
	*expires_s = 0;
	if (!d->node.set || strcmp(d->node.user, user) != 0 || strcmp(d->node.job, job) != 0)
		return keys_find(d->keys, user, &until_s);
	*expires_s = d->node.expires_s;
	return d->node.key;
}

bool trunk_open_may(const struct circuit *c, uint32_t share)
{
	const struct daemon *d = c->daemon;
	uint64_t expires_s;
	return d->settings.trunks && share != 0 && !is_plain(d, &c->there) && find_key(d, c->user, c->job, &expires_s);
}

static struct trunk *find(const struct circuit *c, uint32_t share)
{
	const struct daemon *d = c->daemon;
	for (const struct list *node = d->trunks.next; node != &d->trunks; node = node->next) {
		struct trunk *t = list_entry(node, struct trunk, link);
		if (t->opens && t->share == share && t->from == c->fabric[0] && t->to == c->fabric[1] &&
			t->level == settings_seal(&d->settings, t->to, &c->there) && t->nstreams < STREAMS_MAX / 2 &&
			atomic_load(&t->rx.begun) < UINT32_MAX && zaddr_same(&t->there, &c->there) &&
			strcmp(t->user, c->user) == 0 && strcmp(t->job, c->job) == 0)
			return t;
	}
	return NULL;
}

/* Begins a stream for each circuit that has waited; or tells it why there is none. */
static void answer(struct trunk *t, int rc, const struct zerr *why)
{
	while (!list_empty(&t->waiting)) {
		struct circuit *c = list_entry(t->waiting.next, struct circuit, of_trunk);
		struct zlink *z = rc == 0 ? trunk_stream_begin(t) : NULL;
		struct zerr err = *why;
		list_del(&c->of_trunk);
		c->worker = t->tx.worker;
		if (rc == 0 && !z)
			zerr_set(&err, -ENOMEM, "out of memory");
		c->ask(c, z, z ? 0 : rc != 0 ? rc : -ENOMEM, &err);
	}
	if (rc == 0 && !t->members) /* all that waited have gone */
		t->idle(t);
}

static int begin(struct trunk *t, struct zlink *z, struct zerr *err)
{
	struct worker *out = crew_worker(t->daemon, t->from, t->to, crew_turn(t->daemon), err);
	if (!out)
		return -EAGAIN;
	t->answer = answer;
	if (t->share == ZCTL_SHARE_SESSIONS &&
		z->ops->guard) /* else neither end would notice that the network is gone */
		z->ops->guard(z);
	return trunk_connect(t, z, out->opposite, out, err);
}

static void connected(void *owner, struct zlink *z, const struct zerr *why)
{
	struct trunk *t = owner;
	struct daemon *d = t->daemon;
	struct zerr err = *why;
	const int refused = z ? 0 : dial_code(t->dial);
	t->dial = NULL;
	int rc = z ? begin(t, z, &err) : refused;
	if (rc == 0)
		return;
	if (z)
		z->ops->close(z);
	d->nconnections--;
	quota_give(t->account, QUOTA_CONNECTIONS);
	if (rc == -EPROTONOSUPPORT || rc == -EACCES)
		note_plain(d, &t->there);
	list_del(&t->link); /* later hops ask for another one */
	answer(t, rc, &err);
	trunk_free(t);
}

static int dial(struct trunk *t, struct zerr *err)
{
	struct daemon *d = t->daemon;
	uint64_t expires_s;
	const uint8_t *key = find_key(d, t->user, t->job, &expires_s);
	struct zctl_trunk msg = {.share = t->share};
	memcpy(msg.from, d->settings.fabric[t->to], sizeof(msg.from));
	const struct dial_seal seal = {.level = t->level,
		.job = t->job,
		.key = key,
		.expires_s = expires_s,
		.trunk = &msg};
	int rc = quota_take(t->account, QUOTA_CONNECTIONS, d->now_ms, err);
	if (rc != 0)
		return rc;
	rc = dial_start(&t->dial, d, &t->there, t->user, &seal, connected, t, err);
	if (rc == 0)
		d->nconnections++;
	else
		quota_give(t->account, QUOTA_CONNECTIONS);
	return rc;
}

int trunk_open(struct circuit *c, uint32_t share, trunk_open_done *done, struct zerr *err)
{
	struct trunk *t = find(c, share);
	int rc = 0;
	if (!t) {
		t = trunk_create(c->daemon, c->user, c->job);
		if (!t)
			return zerr_set(err, -ENOMEM, "out of memory");
		t->opens = true;
		t->there = c->there;
		t->from = c->fabric[0];
		t->to = c->fabric[1];
		t->share = share;
		t->level = settings_seal(&c->daemon->settings, t->to, &t->there);
		rc = dial(t, err);
		if (rc != 0) {
			trunk_free(t);
			return rc;
		}
	}
	c->ask = done;
	list_add(&t->waiting, &c->of_trunk);
	if (t->channel && t->channel->lent)
		answer(t, 0, &(struct zerr){.text = ""});
	return 0;
}

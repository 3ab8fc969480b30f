/* SPDX-License-Identifier: BSD-3-Clause */
/* Bookkeeping of one stream of sequenced messages, see peer.h. */
#include "libzip/stream/peer.h"

#include <stddef.h>
#include <string.h>

#include "libzip/shim/pool.h"

struct zpeer_msg *zpeer_msg_create(const struct zwire_env *env, const void *payload)
{
	struct zpeer_msg *m = zpool_get(sizeof(*m) + env->len);

	if (!m)
		return NULL;
	*m = (struct zpeer_msg){.env = *env};
	if (env->len > 0) /* else payload may be NULL */
		memcpy(m->payload, payload, env->len);
	return m;
}

void zpeer_push(struct zpeer *p, struct zpeer_msg *m)
{
	m->env.seq = ++p->last;
	m->next = NULL;
	if (p->tail)
		p->tail->next = m;
	else
		p->head = m;
	p->tail = m;
	if (!p->unsent)
		p->unsent = m;
	p->bytes += m->env.len;
}

static struct zpeer_msg *first_unposted(struct zpeer_msg *m)
{
	while (m && m->posted)
		m = m->next;
	return m;
}

void zpeer_sent(struct zpeer *p, struct zpeer_msg *m)
{
	m->posted = ++p->postings;
	if (p->unsent == m)
		p->unsent = first_unposted(m->next);
}

static void drop_head(struct zpeer *p)
{
	struct zpeer_msg *m = p->head;

	p->head = m->next;
	if (!p->head)
		p->tail = NULL;
	if (p->unsent == m)
		p->unsent = first_unposted(m->next);
	p->bytes -= m->env.len;
	p->acked = m->env.seq;
	zpool_put(m);
}

uint32_t zpeer_acked(struct zpeer *p, uint64_t seq)
{
	uint32_t n = 0;

	if (seq <= p->acked || seq > p->last)
		return 0;
	for (; p->head && p->head->env.seq <= seq; n++)
		drop_head(p);
	if (p->refused && p->refused <= p->acked)
		p->refused = 0;
	return n;
}

static struct zpeer_msg *find_retained(const struct zpeer *p, uint64_t seq)
{
	struct zpeer_msg *m = p->head;

	while (m && m->env.seq != seq)
		m = m->next;
	return m;
}

void zpeer_nak(struct zpeer *p, uint64_t seq, const void *way)
{
	struct zpeer_msg *m = find_retained(p, seq);

	if (!m || !m->posted || m->way != way)
		return; /* acknowledged, never posted, or dropped behind a message that was refused before */
	if (!p->refused || seq < p->refused)
		p->refused = seq;
	if (!p->unsent || seq < p->unsent->env.seq)
		p->unsent = m;
	/* Messages that were posted before this one have been taken: they went that way, and this one went again when
	 * its own way was lost. */
	const uint64_t first = m->posted;
	for (; m; m = m->next)
		if (m->way == way && m->posted >= first)
			m->posted = 0;
}

bool zpeer_resume(struct zpeer *p)
{
	if (!p->refused)
		return false;
	p->refused = 0;
	return true;
}

/* The zipperd that had the key is gone. */
static void take_key(struct zpeer *p, struct zpeer_msg *m)
{
	if (m->env.kind != ZWIRE_RTS)
		return;
	p->bytes -= m->env.len;
	m->env.len = 0;
	m->env.flags &= (uint16_t)~ZWIRE_F_ONE_SIDED;
}

void zpeer_drop_early(struct zpeer *p, bool (*is_lost)(const void *way, const void *ctx), const void *ctx,
	const void *usual)
{
	struct zpeer_msg **at = &p->early;

	while (*at) {
		struct zpeer_msg *m = *at;
		if (is_lost(m->way, ctx)) {
			*at = m->next;
			zpool_put(m);
		} else {
			if (usual && m->way == usual)
				m->way = NULL;
			at = &m->next;
		}
	}
}

void zpeer_reroute(struct zpeer *p, bool (*is_lost)(const void *way, const void *ctx), const void *ctx,
	const void *usual)
{
	for (struct zpeer_msg *m = p->head; m; m = m->next) {
		if (is_lost(m->way, ctx)) {
			m->posted = 0;
			m->way = NULL;
			take_key(p, m);
		} else if (usual && m->way == usual) {
			m->way = NULL;
		}
	}
	p->unsent = first_unposted(p->head);
	p->refused = 0;
}

uint32_t zpeer_leave(struct zpeer *p)
{
	uint32_t n = 0;

	p->gone = true;
	p->refused = 0;
	p->halted = false;
	for (; p->head; n++)
		drop_head(p);
	return n;
}

enum zpeer_verdict zpeer_check(const struct zpeer *p, uint64_t seq)
{
	if (seq == p->taken + 1)
		return ZPEER_TAKE;
	return seq <= p->taken ? ZPEER_DUP : ZPEER_GAP;
}

void zpeer_take(struct zpeer *p, uint32_t len)
{
	p->taken++;
	p->owed_bytes += len;
}

bool zpeer_hold(struct zpeer *p, struct zpeer_msg *m)
{
	struct zpeer_msg **at = &p->early;

	while (*at && (*at)->env.seq < m->env.seq)
		at = &(*at)->next;
	if (*at && (*at)->env.seq == m->env.seq)
		return false;
	m->next = *at;
	*at = m;
	return true;
}

struct zpeer_msg *zpeer_next_held(struct zpeer *p)
{
	struct zpeer_msg *m = p->early;

	if (!m || m->env.seq != p->taken + 1)
		return NULL;
	p->early = m->next;
	return m;
}

void zpeer_clear(struct zpeer *p)
{
	zpeer_leave(p);
	while (p->early) {
		struct zpeer_msg *m = p->early;
		p->early = m->next;
		zpool_put(m);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages between the ranks of the simulation, all with one tag: so the n-th receive from a rank gets the n-th
 * message of that rank. Buffers are scribbled over and freed as soon as MPI allows it.
 */
#include "test/unit/libzip/failover_sim_parts.h"

#include <stdlib.h>
#include <string.h>

#define EAGER_BYTES 1024u
#define LONGEST (640u << 10)
#define STREAM_MAX 1000
#define PENDING_MAX 4000
#define AHEAD_MAX 3 /* receives that are posted before what they get is sent */
#define SLOTS 4	    /* of persistent sends, for each rank */
#define UNTOUCHED 0x3c
#define SCRIBBLE 0xee

struct message {
	int len;
	uint32_t id; /* says what is in it */
};

static struct stream {
	struct message sent[STREAM_MAX];
	int nsent, nrecvd;
} streams[SIM_RANKS][SIM_RANKS]; /* from, to */

struct slot { /* a persistent send */
	struct zreq *r;
	uint8_t *buf;
	int len, to;
	bool active;
};
static struct slot slots[SIM_RANKS][SLOTS];

struct pending {		/* an operation that has been started */
	int vrank, from, index; /* of a receive; of a send from is -1 */
	struct zreq *r;
	uint8_t *buf; /* NULL: the request has a copy */
	int len;
	struct slot *slot;
};
static struct pending pending[PENDING_MAX];
static int npending;
static uint32_t last_id;

/* --- messages --- */

static uint8_t byte_of(uint32_t id, uint32_t at)
{
	return (uint8_t)(id * 31 + at * 7 + (at >> 8) * 13 + (id >> 8));
}

static uint8_t *allocate(size_t len)
{
	uint8_t *buf = malloc(len + 1);
	if (!buf)
		sim_fail("no memory");
	return buf;
}

static void fill(uint8_t *buf, const struct message *m)
{
	for (int i = 0; i < m->len; i++)
		buf[i] = byte_of(m->id, (uint32_t)i);
}

static uint8_t *make(const struct message *m)
{
	uint8_t *buf = allocate((size_t)m->len);
	fill(buf, m);
	return buf;
}

static int draw_len(const struct sim_mix *mix)
{
	uint32_t eager = mix->is_short ? 85 : 55, some = mix->is_short ? 95 : 75, most = mix->is_short ? 99 : 97;
	uint32_t k = sim_draw(100);

	if (k < eager)
		return (int)sim_draw(EAGER_BYTES + 1);
	if (k < some)
		return (int)(EAGER_BYTES + 1 + sim_draw(8000));
	if (k < most)
		return (int)(EAGER_BYTES + 1 + sim_draw(60000));
	return (int)(LONGEST - sim_draw(128u << 10)); /* large enough for all rails */
}

static int draw_remote(int v)
{
	int other;
	do
		other = (int)sim_draw((uint32_t)sim.world.nranks);
	while (sim.world.part[other] == sim.world.part[v]);
	return other;
}

static void note_sent(int from, int to, struct message m)
{
	struct stream *s = &streams[from][to];
	if (s->nsent == STREAM_MAX)
		sim_fail("too many messages");
	sim_trace("rank %d sends %u to %d: #%d, %d bytes", from, m.id, to, s->nsent, m.len);
	s->sent[s->nsent++] = m;
}

static void await(struct pending p)
{
	if (npending == PENDING_MAX)
		sim_fail("too many operations");
	pending[npending++] = p;
}

/* --- operations --- */

static void send(int v, int to, int len, enum sim_mode mode, bool is_freed)
{
	const struct message m = {len, ++last_id};
	struct pending p = {.vrank = v, .from = -1, .buf = make(&m), .len = len};

	note_sent(v, to, m);
	p.r = sim.rank[v]->send(p.buf, len, to, mode);
	if (mode == SIM_COPIED) {
		memset(p.buf, SCRIBBLE, (size_t)len);
		free(p.buf);
		p.buf = NULL;
	}
	if (is_freed) /* no call tells when the buffer may be used again */
		sim.rank[v]->free(p.r);
	else
		await(p);
}

static void draw_send(int v, const struct sim_mix *mix)
{
	static const enum sim_mode modes[] = {SIM_STANDARD, SIM_STANDARD, SIM_STANDARD, SIM_SYNC, SIM_SYNC, SIM_COPIED};
	int to = draw_remote(v), len = draw_len(mix);
	enum sim_mode mode = modes[sim_draw(6)];

	send(v, to, len, mode, sim_draw(6) == 0);
}

static void start_persistent(int v, const struct sim_mix *mix)
{
	static const enum sim_mode modes[SLOTS] = {SIM_STANDARD, SIM_SYNC, SIM_BUFFERED, SIM_STANDARD};
	uint32_t k = sim_draw(SLOTS);
	struct slot *s = &slots[v][k];

	if (!s->r) {
		s->to = draw_remote(v);
		s->len = draw_len(mix);
		s->buf = allocate((size_t)s->len);
		s->r = sim.rank[v]->make_persistent(s->buf, s->len, s->to, modes[k]);
	}
	if (s->active)
		return;
	const struct message m = {s->len, ++last_id};
	fill(s->buf, &m);
	note_sent(v, s->to, m);
	s->active = true;
	sim.rank[v]->start(s->r);
	await((struct pending){.vrank = v, .from = -1, .r = s->r, .slot = s});
}

static void send_to_several(int v, const struct sim_mix *mix)
{
	struct message m = {draw_len(mix), 0};
	int to[SIM_RANKS], n = 0;

	for (int d = 0; d < sim.world.nranks; d++)
		if (sim.world.part[d] != sim.world.part[v])
			to[n++] = d;
	if (n < 2)
		return;
	m.id = ++last_id;
	struct pending p = {.vrank = v, .from = -1, .buf = make(&m), .len = m.len};
	for (int i = 0; i < n; i++)
		note_sent(v, to[i], m);
	p.r = sim.rank[v]->send_to_several(p.buf, m.len, to, n);
	await(p);
}

static void recv(int v, int from)
{
	struct stream *s = &streams[from][v];
	struct pending p = {.vrank = v, .from = from, .index = s->nrecvd++, .len = LONGEST};

	if (p.index < s->nsent) /* it is known how long it will be */
		p.len = s->sent[p.index].len + (int)sim_draw(2) * 100;
	p.buf = allocate((size_t)p.len);
	memset(p.buf, UNTOUCHED, (size_t)p.len + 1);
	p.r = sim.rank[v]->recv(p.buf, p.len, from);
	await(p);
}

static void drop(int i)
{
	npending--;
	memmove(&pending[i], &pending[i + 1], (size_t)(npending - i) * sizeof(pending[0]));
}

/* The newest receive, so that the ones before it get what they would have got. */
static void cancel_recv(int v, int from)
{
	struct stream *s = &streams[from][v];

	for (int i = npending; i-- > 0;) {
		struct pending *p = &pending[i];
		if (p->vrank != v || p->from != from)
			continue;
		if (p->index == s->nrecvd - 1 && sim.rank[v]->cancel(p->r)) {
			sim_trace("rank %d cancels its receive #%d from %d", v, p->index, from);
			sim.rank[v]->release(p->r);
			free(p->buf);
			drop(i);
			s->nrecvd--;
		}
		return;
	}
}

void traffic_start(const struct sim_mix *mix)
{
	uint32_t k = sim_draw(mix->sends + mix->persistent + mix->to_several + mix->recvs + mix->cancels);
	int v = (int)sim_draw((uint32_t)sim.world.nranks), other = draw_remote(v);

	if (k < mix->sends)
		draw_send(v, mix);
	else if ((k -= mix->sends) < mix->persistent)
		start_persistent(v, mix);
	else if ((k -= mix->persistent) < mix->to_several)
		send_to_several(v, mix);
	else if (k - mix->to_several >= mix->recvs)
		cancel_recv(v, other);
	else if (streams[other][v].nrecvd < streams[other][v].nsent + AHEAD_MAX)
		recv(v, other);
	if (sim_draw(4) == 0)
		sim_compute(v);
}

void traffic_match(void)
{
	for (int from = 0; from < sim.world.nranks; from++)
		for (int to = 0; to < sim.world.nranks; to++) {
			struct stream *s = &streams[from][to];
			while (s->nrecvd < s->nsent) {
				recv(to, from);
				for (uint32_t i = sim_draw(10); i > 0; i--)
					sim_turn();
			}
			while (s->nsent < s->nrecvd)
				send(from, to, 8, SIM_STANDARD, false);
		}
}

void traffic_barrier(void)
{
	for (int from = 0; from < sim.world.nranks; from++)
		for (int to = 0; to < sim.world.nranks; to++)
			if (sim.world.part[from] != sim.world.part[to]) {
				send(from, to, 8, SIM_STANDARD, false);
				recv(to, from);
			}
}

/* --- what is done --- */

static void check_recv(const struct pending *p, int64_t len, int error)
{
	const struct stream *s = &streams[p->from][p->vrank];
	const struct message *m = &s->sent[p->index];

	if (p->index >= s->nsent)
		sim_fail("rank %d has got message #%d of rank %d, which was not sent", p->vrank, p->index, p->from);
	if (error || len != m->len)
		sim_fail("rank %d, message #%d of rank %d: %lld bytes and not %d, error %x", p->vrank, p->index,
			p->from, (long long)len, m->len, error);
	for (int i = 0; i < m->len; i++)
		if (p->buf[i] != byte_of(m->id, (uint32_t)i))
			sim_fail("rank %d, message #%d of rank %d, %d bytes: wrong from byte %d on", p->vrank, p->index,
				p->from, m->len, i);
	if (p->buf[m->len] != UNTOUCHED)
		sim_fail("rank %d, message #%d of rank %d: more than %d bytes were written", p->vrank, p->index,
			p->from, m->len);
}

/* Its buffer is the application's again. */
static void finish(struct pending *p, int64_t len, int error)
{
	sim_trace("rank %d: %s #%d is done", p->vrank, p->from < 0 ? "a send" : "receive", p->index);
	if (p->from >= 0)
		check_recv(p, len, error);
	else if (error)
		sim_fail("rank %d: a send has error %x", p->vrank, error);
	if (p->slot) {
		memset(p->slot->buf, SCRIBBLE, (size_t)p->slot->len);
		p->slot->active = false;
		return;
	}
	sim.rank[p->vrank]->release(p->r);
	if (p->buf)
		memset(p->buf, SCRIBBLE, (size_t)p->len);
	free(p->buf);
}

void traffic_collect(void)
{
	int kept = 0;
	for (int i = 0; i < npending; i++) {
		struct pending *p = &pending[i];
		int64_t len;
		int error;
		if (sim.rank[p->vrank]->is_done(p->r, &len, &error))
			finish(p, len, error);
		else
			pending[kept++] = *p;
	}
	npending = kept;
}

bool traffic_is_done(int vrank)
{
	for (int i = 0; i < npending; i++)
		if (pending[i].vrank == vrank)
			return false;
	return true;
}

void traffic_show(void (*line)(const char *format, ...))
{
	for (int i = 0; i < npending; i++) {
		const struct pending *p = &pending[i];
		if (p->from >= 0)
			line(" rank %d waits for message #%d of rank %d", p->vrank, p->index, p->from);
		else
			line(" rank %d waits for a %ssend%s", p->vrank, p->slot ? "persistent " : "",
				p->buf || p->slot ? "" : " of what was copied");
	}
}

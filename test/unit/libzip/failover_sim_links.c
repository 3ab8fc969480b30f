/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The links of the simulation: each is two queues. A zipper that dies, or one of whose ranks is cut off, takes with it
 * what it has not read, and some of what it had sent; its ranks notice that at different times, by a link or by the
 * control session. Until then what they post is accepted, and lost.
 */
#include "test/unit/libzip/failover_sim_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RETURN_ONE_OF 150 /* steps in which a rail could come back it does */
#define QUEUE_MAX 24	  /* a rank's posts */
#define ACK_ONE_OF 12	  /* looks at an acknowledgement takes it */

struct queue {
	struct sim_msg *head, *tail;
	uint32_t n;
};

struct link {
	struct queue in, out; /* as the zipper sees it */
	bool attached, said_bye;
	bool to_open; /* OPEN is on its way behind WORLD */
};

static struct rail {
	struct link link[SIM_RANKS][SIM_TRACKS][SIM_PARTS];
	bool dead;
	bool cut[SIM_RANKS];  /* this rank is not reached any more */
	bool quit[SIM_RANKS]; /* by itself */
	bool told[SIM_RANKS]; /* it knows */
	int64_t quit_ns[SIM_RANKS];
	int64_t dead_ns, up_ns;	   /* since when zipperd is away, and when it is started again */
	long broken_at[SIM_RANKS]; /* step in which its links break, dead or cut */
	/* Of the present incarnation: WORLD has been sent to this rank, and comes in that step at the earliest. */
	bool awaits_world[SIM_RANKS];
	long world_at[SIM_RANKS];
	uint32_t incarnation;
} rails[SIM_RAILS];

static struct link *find(int track, int vrank, int part)
{
	return &rails[sim_rail_of(track)].link[vrank][track % SIM_TRACKS][part];
}

static int losses_left;

/* --- queues --- */

static void append(struct queue *q, struct sim_msg *m)
{
	m->next = NULL;
	if (q->tail)
		q->tail->next = m;
	else
		q->head = m;
	q->tail = m;
	q->n++;
}

static void push(struct queue *q, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct sim_msg *m = malloc(sizeof(*m) + len);
	if (!m)
		sim_fail("no memory");
	m->len = len;
	memcpy(m->raw, raw, ZWIRE_ENV_BYTES);
	if (len > 0)
		memcpy(m->payload, payload, len);
	append(q, m);
}

static struct sim_msg *pop(struct queue *q)
{
	struct sim_msg *m = q->head;
	if (!m)
		return NULL;
	q->head = m->next;
	if (!q->head)
		q->tail = NULL;
	q->n--;
	return m;
}

static void keep_first(struct queue *q, uint32_t n)
{
	struct queue kept = {0};
	struct sim_msg *m;
	while ((m = pop(q)))
		if (kept.n < n)
			append(&kept, m);
		else
			free(m);
	*q = kept;
}

static void lose_messages(struct rail *r, int v)
{
	for (struct link *l = r->link[v][0]; l < r->link[v][sim.world.tracks]; l++) {
		keep_first(&l->in, 0);
		keep_first(&l->out, sim_draw(l->out.n + 1));
	}
}

static void trace(const char *what, int rail, int v, const uint8_t raw[ZWIRE_ENV_BYTES])
{
	struct zwire_env e;
	zwire_decode(&e, raw);
	sim_trace("%s by rail %d, rank %d: %s %d->%d seq %llu ack %llu xfer %llx comm %llx offset %llu len %u flags %x",
		what, rail, v, zwire_kind_name(e.kind), (int)e.src, (int)e.dst, (unsigned long long)e.seq,
		(unsigned long long)e.ack, (unsigned long long)e.xfer, (unsigned long long)e.comm,
		(unsigned long long)e.offset, e.len, e.flags);
}

/* --- losses --- */

static bool is_broken(const struct rail *r, int v)
{
	return (r->dead || r->cut[v]) && sim.step >= r->broken_at[v];
}

static void kill_zipper(int rail)
{
	struct rail *r = &rails[rail];
	if (r->dead)
		return;
	sim_trace("the zipper of rail %d dies", rail);
	for (int i = 0; i < 3 * sim.world.tracks; i++)
		zippers_move(sim_track(rail, i % sim.world.tracks), sim_draw(2));
	r->dead = true;
	r->dead_ns = sim.now_ns;
	r->up_ns = sim.now_ns + sim_draw(SIM_RECONNECT_MS * 500000);
	for (int v = 0; v < sim.world.nranks; v++) {
		lose_messages(r, v);
		if (!r->cut[v])
			r->broken_at[v] = sim.step + sim_draw(sim_draw(2) ? 30 : 3000);
	}
}

static void cut_off(int rail, int v)
{
	struct rail *r = &rails[rail];
	sim_trace("rank %d is cut off rail %d", v, rail);
	r->cut[v] = true;
	r->broken_at[v] = sim.step + sim_draw(300);
	for (struct link *l = r->link[v][0]; l < r->link[v][sim.world.tracks]; l++)
		l->said_bye |= sim.left[v];
	lose_messages(r, v);
}

void links_allow_losses(int more)
{
	losses_left += more;
}

static bool is_lost(int rail)
{
	bool lost = rails[rail].dead;
	for (int v = 0; v < sim.world.nranks; v++)
		lost |= rails[rail].cut[v];
	return lost;
}

/* Is there a rail for all parts, without that one? */
static bool carry_all(int without)
{
	uint32_t left = 0;
	bool all = true;
	for (int i = 0; i < sim.world.rails; i++)
		if (i != without && !is_lost(i))
			left |= 1u << i;
	for (int p = 0; p < sim.world.nparts; p++)
		for (int q = 0; q < p; q++)
			all &= (sim.world.carry[p][q] & left) != 0;
	return all;
}

bool links_carry_all(void)
{
	return carry_all(-1);
}

/* Is there another one for all parts? Or will this one come back? */
static bool may_be_lost(int rail)
{
	return !is_lost(rail) && ((sim.world.returns && !sim.ends) || carry_all(rail));
}

void links_lose_some(uint32_t one_of)
{
	if (losses_left == 0 || sim_draw(one_of) != 0)
		return;
	int rail = (int)sim_draw((uint32_t)sim.world.rails);
	if (!may_be_lost(rail))
		return;
	losses_left--;
	if (sim_draw(2))
		kill_zipper(rail);
	else
		cut_off(rail, (int)sim_draw((uint32_t)sim.world.nranks));
}

bool links_tell_losses(void)
{
	bool told = false;

	for (int i = 0; i < sim.world.rails; i++)
		for (int v = 0; v < sim.world.nranks; v++) {
			struct rail *r = &rails[i];
			if (sim.left[v] || r->told[v] || r->awaits_world[v] || !is_broken(r, v) || sim_draw(20) != 0)
				continue;
			r->told[v] = told = true;
			sim.rank[v]->lose(i, "the control session has ended");
		}
	return told;
}

/* --- returns --- */

/* Has every rank lost it? Then all join again, and the zipper begins with nothing. */
static bool can_return(const struct rail *r)
{
	bool can = sim.world.returns && sim.now_ns >= r->up_ns;
	for (int v = 0; v < sim.world.nranks; v++)
		can &= !sim.left[v] && r->quit[v];
	return can;
}

static void begin_again(int rail)
{
	struct rail *r = &rails[rail];
	uint32_t incarnation = 0;
	for (int v = 0; v < sim.world.nranks; v++) {
		const uint32_t least = sim.rank[v]->least(rail);
		incarnation = least > incarnation ? least : incarnation;
		for (struct link *l = r->link[v][0]; l < r->link[v][sim.world.tracks]; l++) {
			keep_first(&l->in, 0);
			keep_first(&l->out, 0);
		}
	}
	sim_trace("rail %d comes back as incarnation %u", rail, incarnation);
	memset(r, 0, sizeof(*r));
	r->incarnation = incarnation;
	for (int v = 0; v < sim.world.nranks; v++) {
		r->awaits_world[v] = true;
		r->world_at[v] = sim.step + sim_draw(sim_draw(2) ? 20 : 1500);
	}
	for (int t = 0; t < sim.world.tracks; t++)
		zippers_begin_again(sim_track(rail, t));
}

/* WORLD comes, or gets lost with the zipper. */
static void give_world(int rail, int v)
{
	struct rail *r = &rails[rail];
	if (!r->awaits_world[v] || sim.step < r->world_at[v])
		return;
	r->awaits_world[v] = false;
	if (is_broken(r, v)) {
		sim_trace("rank %d does not hear that rail %d was back", v, rail);
		r->quit[v] = r->told[v] = true;
		kill_zipper(rail);
		return;
	}
	sim_trace("rank %d hears that rail %d is back", v, rail);
	sim.rank[v]->come_back(rail, r->incarnation);
}

void links_return_some(void)
{
	for (int i = 0; i < sim.world.rails; i++) {
		struct rail *r = &rails[i];
		if (can_return(r) && sim_draw(RETURN_ONE_OF) == 0)
			begin_again(i);
		for (int v = 0; v < sim.world.nranks; v++) {
			if (sim.left[v])
				continue;
			give_world(i, v);
			for (int k = 0; k < sim.world.tracks * SIM_PARTS; k++) {
				/* a rank reads OPEN after it has acted on WORLD */
				const int track = sim_track(i, k / SIM_PARTS);
				struct link *l = find(track, v, k % SIM_PARTS);
				if (!l->to_open || r->awaits_world[v] || sim_draw(20) != 0)
					continue;
				if (!is_broken(r, v))
					sim.rank[v]->open(track, k % SIM_PARTS);
				l->to_open = !l->attached && !is_broken(r, v);
			}
		}
	}
}

bool links_is_dead(int rail)
{
	return rails[rail].dead;
}

/* --- the zippers' side --- */

struct sim_msg *links_pop(int track, int vrank, int part)
{
	if (rails[sim_rail_of(track)].cut[vrank])
		return NULL;
	struct queue *in = &find(track, vrank, part)->in;
	struct zwire_env env;

	/* Acknowledgements are late now and then, and so are messages behind them: grants come first. */
	if (in->head && zwire_decode(&env, in->head->raw) == 0 && env.kind == ZWIRE_ACK && sim_draw(ACK_ONE_OF) != 0)
		return NULL;
	struct sim_msg *m = pop(in);
	if (m)
		trace("comes", sim_rail_of(track), vrank, m->raw);
	return m;
}

void links_push(int track, const struct zwire_env *env, const void *payload)
{
	int dst = (int)env->dst, part = sim.world.part[env->src];
	const struct rail *r = &rails[sim_rail_of(track)];
	struct link *l = find(track, dst, part);
	uint8_t raw[ZWIRE_ENV_BYTES];

	if (r->dead || r->cut[dst] || r->quit[dst] || sim.left[dst])
		return;
	zwire_encode(raw, env);
	push(&l->out, raw, payload, env->len);
	if (!l->attached && !r->awaits_world[dst])
		sim.rank[dst]->open(track, part);
	l->to_open = !l->attached;
}

bool links_reach(int track, int a, int b)
{
	const struct rail *r = &rails[sim_rail_of(track)];
	return !r->cut[a] && !r->cut[b] && !r->quit[a] && !r->quit[b];
}

bool links_said_bye(int track, int vrank, int part)
{
	return find(track, vrank, part)->said_bye;
}

void links_take_bye(int track, int vrank, int part)
{
	find(track, vrank, part)->said_bye = true;
}

void links_leave(int vrank)
{
	for (int i = 0; i < sim.world.rails; i++)
		for (struct link *l = rails[i].link[vrank][0]; l < rails[i].link[vrank][sim.world.tracks]; l++) {
			l->said_bye |= !l->attached || rails[i].cut[vrank];
			keep_first(&l->out, 0);
		}
}

/* --- the ranks' side --- */

static int post(int vrank, int track, int part, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	const int rail = sim_rail_of(track);
	const struct rail *r = &rails[rail];
	struct queue *q = &find(track, vrank, part)->in;

	if (is_broken(r, vrank))
		return -EPIPE;
	if (r->dead || r->cut[vrank]) {
		trace("is lost", rail, vrank, raw);
		return 0;
	}
	if (q->n >= QUEUE_MAX)
		return -EAGAIN;
	trace("posted", rail, vrank, raw);
	push(q, raw, payload, len);
	return 0;
}

static int poll(int vrank, int track, int part, unsigned budget, sim_take *take, void *ctx)
{
	const int rail = sim_rail_of(track);
	const struct rail *r = &rails[rail];
	struct queue *q = &find(track, vrank, part)->out;
	unsigned taken = 0, most = sim_draw(2) ? sim_draw(sim_draw(3) ? 6 : 60) : 1;

	while (taken < most && taken < budget && q->head) {
		struct sim_msg *m = q->head;
		trace("taken", rail, vrank, m->raw);
		int rc = take(ctx, m->raw, m->payload, m->len);
		if (rc == -EINPROGRESS) /* the rest at the next poll */
			return (int)taken;
		if (rc != 0)
			return taken > 0 ? (int)taken : rc;
		if (q->head != m) /* the rank has dropped the rail */
			return (int)taken;
		free(pop(q));
		taken++;
	}
	return taken == 0 && !q->head && is_broken(r, vrank) ? -ECONNRESET : (int)taken;
}

static int attach(int vrank, int track, int part)
{
	const int rail = sim_rail_of(track);
	if (!(sim.world.carry[sim.world.part[vrank]][part] >> rail & 1))
		sim_fail("rank %d opens a channel to part %d at rail %d, which carries nothing there", vrank, part,
			rail);
	if (is_broken(&rails[rail], vrank))
		return -ECONNREFUSED;
	find(track, vrank, part)->attached = true;
	return 0;
}

static void close_link(int vrank, int track, int part)
{
	find(track, vrank, part)->attached = false;
}

/* The zipper ends for all others, too. */
static void quit(int vrank, int rail)
{
	struct rail *r = &rails[rail];
	sim_trace("rank %d drops rail %d", vrank, rail);
	r->quit[vrank] = r->told[vrank] = true;
	r->quit_ns[vrank] = sim.now_ns;
	for (struct link *l = r->link[vrank][0]; l < r->link[vrank][sim.world.tracks]; l++)
		keep_first(&l->out, 0);
	kill_zipper(rail);
}

/* A rank that has dropped the rail joins as soon as the zipperd is there, and waits for those that compute. If the
 * zipperd goes meanwhile, it is away anew. */
static int64_t away_ms(int vrank, int rail)
{
	const struct rail *r = &rails[rail];
	const int64_t since_ns = r->quit_ns[vrank] > r->dead_ns ? r->quit_ns[vrank] : r->dead_ns;
	return sim.now_ns >= r->up_ns ? 0 : (sim.now_ns - since_ns) / 1000000;
}

void links_fill(struct sim_outside *o)
{
	o->post = post;
	o->poll = poll;
	o->attach = attach;
	o->close = close_link;
	o->quit = quit;
	o->away_ms = away_ms;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of the simulation (failover_sim.c): the beginning, traffic and losses, the end. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/unit/libzip/failover_sim_parts.h"

#define OPERATIONS 60
#define SHORT_OPERATIONS 240
#define STEPS_MAX 400000 /* of each part of the end; some thousands are the rule */
#define LINES_MAX 24
#define COMPUTES_STEPS 300
#define BURST 8 /* operations */
#define RETURNS_MAX 12

struct sim sim;
bool sim_verbose;
static uint64_t drawn;

/* --- what all use --- */

uint32_t sim_draw(uint32_t n)
{
	drawn ^= drawn << 13; /* xorshift64: Marsaglia, "Xorshift RNGs", 2003 */
	drawn ^= drawn >> 7;
	drawn ^= drawn << 17;
	return (uint32_t)(drawn >> 11) % n;
}

void sim_trace(const char *format, ...)
{
	va_list args;

	if (!sim_verbose)
		return;
	va_start(args, format);
	printf("# %ld: ", sim.step);
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

static void print_line(const char *format, ...)
{
	static int lines;
	va_list args;

	if (++lines > LINES_MAX && !sim_verbose)
		return;
	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

void sim_fail(const char *format, ...)
{
	const struct sim_world *w = &sim.world;
	va_list args;

	for (int i = 0; i < w->rails; i++)
		printf("# rail %d: %s\n", i, w->entries[i]);
	printf("# %d ranks in %d parts, %d rails of %d tracks%s, step %ld: ", w->nranks, w->nparts, w->rails, w->tracks,
		w->one_sided ? ", one-sided" : "", sim.step);
	va_start(args, format);
	vprintf(format, args);
	printf("\n");
	va_end(args);
	traffic_show(print_line);
	for (int v = 0; v < sim.world.nranks; v++)
		if (!sim.left[v])
			sim.rank[v]->show(print_line);
	fflush(stdout);
	_exit(1);
}

static int64_t now_ns(void)
{
	return sim.now_ns;
}

static long busy_until[SIM_RANKS];

void sim_compute(int v)
{
	busy_until[v] = sim.step + sim_draw(COMPUTES_STEPS);
}

void sim_turn(void)
{
	sim.step++;
	sim.now_ns += 2000 + sim_draw(20000);
	for (int i = 0; i < sim.world.rails; i++)
		for (int t = 0; t < sim.world.tracks; t++)
			zippers_turn(sim_track(i, t));
	uint32_t v = sim_draw((uint32_t)sim.world.nranks);
	if (!sim.left[v] && sim.step >= busy_until[v])
		sim.rank[v]->poll();
	links_return_some();
	sim.heard |= links_tell_losses();
}

/* --- one run --- */

static int draw_between(int least, int most)
{
	return least + (int)sim_draw((uint32_t)(most - least + 1));
}

static void draw_parts(struct sim_world *w)
{
	int n[SIM_PARTS];

	do {
		memset(n, 0, sizeof(n));
		for (int v = 0; v < w->nranks; v++)
			n[w->part[v] = (int)sim_draw((uint32_t)w->nparts)]++;
	} while (n[0] == 0 || n[1] == 0 || (w->nparts == 3 && n[2] == 0));
}

/* Messages between two parts, by the rails with the fewest hops. */
static uint32_t find_carry(const struct sim_world *w, int (*fabric)[SIM_PARTS], int p, int q)
{
	uint32_t rails = 0, least = UINT32_MAX;

	for (int i = 0; i < w->rails; i++) {
		uint32_t hops = w->hops[i][p] + w->hops[i][q];
		if (fabric[i][p] == fabric[i][q] || hops > least)
			continue;
		rails = (hops < least ? 0 : rails) | 1u << i;
		least = hops;
	}
	return rails;
}

/* Each rail can be lost as the first one. */
static bool draw_entries(struct sim_world *w)
{
	int fabric[SIM_RAILS][SIM_PARTS];
	bool good = true;

	for (int i = 0; i < w->rails; i++) {
		w->entries[i][0] = '\0';
		for (int p = 0; p < w->nparts; p++) {
			fabric[i][p] = (int)sim_draw(SIM_PARTS + 1);
			w->hops[i][p] = sim_draw(3) == 0;
			snprintf(w->entries[i] + strlen(w->entries[i]), 8, "%sf%d%s", p ? "," : "", fabric[i][p],
				w->hops[i][p] ? "+1" : "");
		}
	}
	for (int p = 0; p < w->nparts; p++)
		for (int q = 0; q < p; q++) {
			uint32_t rails = w->carry[p][q] = w->carry[q][p] = find_carry(w, fabric, p, q);
			good &= (rails & (rails - 1)) != 0;
		}
	return good;
}

/* All rails carry everything. */
static void leave_no_entries(struct sim_world *w)
{
	for (int p = 0; p < w->nparts; p++)
		for (int q = 0; q < w->nparts; q++)
			w->carry[p][q] = (1u << w->rails) - 1;
}

static void begin(const struct sim_case *c, uint64_t seed)
{
	struct sim_world *w = &sim.world;
	struct sim_outside outside = {.expose = zippers_expose,
		.conceal = zippers_conceal,
		.now_ns = now_ns,
		.draw = sim_draw,
		.fail = sim_fail};

	drawn = (seed + 1) * 0x9e3779b97f4a7c15u;
	for (int i = 0; i < 10; i++)
		sim_draw(2);
	w->returns = c->mix.returns;
	w->tracks = sim_draw(2) ? 1 : draw_between(1, SIM_TRACKS);
	w->rails = c->rails ? c->rails : draw_between(w->returns ? 1 : 2, SIM_RAILS);
	w->nranks = c->nranks ? c->nranks : draw_between(3, SIM_RANKS);
	w->nparts = c->nparts ? c->nparts : w->nranks > 3 ? draw_between(2, 3) : 2;
	draw_parts(w);
	leave_no_entries(w);
	while (c->mix.hops && !draw_entries(w))
		;
	w->one_sided = c->one_sided < 0 ? sim_draw(2) : (uint32_t)c->one_sided;
	w->eager_bytes = 1024;
	w->frag_bytes = sim_draw(2) ? 4096 : 0;
	w->rdv_window = sim_draw(2) ? 16384 : 65536;
	sim.now_ns = 1000000000;
	links_fill(&outside);
	for (int v = 0; v < w->nranks; v++)
		sim.rank[v]->begin(w, &outside, v);
}

static void exchange(const struct sim_mix *mix, uint32_t one_of)
{
	uint32_t pace = mix->is_short ? 1 + sim_draw(4) : 5 + sim_draw(60);

	for (int n = 0; n < (mix->is_short ? SHORT_OPERATIONS : OPERATIONS);) {
		sim_turn();
		if (sim_draw(pace) == 0) {
			traffic_start(mix);
			n++;
		}
		if (sim.heard) { /* others do not know of that loss yet, and begin much */
			for (uint32_t i = sim_draw(BURST); i > 0; i--)
				traffic_start(mix);
			for (int v = 0; v < sim.world.nranks; v++)
				if (sim_draw(2))
					sim_compute(v);
			sim.heard = false;
		}
		links_lose_some(one_of);
		if (sim.step % 8 == 0)
			traffic_collect();
	}
	traffic_match();
}

/* Later on time passes quickly: what waits for time alone is no hang. */
static void end_turn(long i, long slow, uint32_t one_of)
{
	sim_turn();
	if (i > slow)
		sim.now_ns += 1000000;
	links_lose_some(one_of);
	traffic_collect();
}

static void drain(uint32_t one_of)
{
	for (long i = 0; i < STEPS_MAX; i++) {
		bool all = true;
		end_turn(i, 20000, one_of);
		for (int v = 0; all && v < sim.world.nranks; v++)
			all = traffic_is_done(v) && sim.rank[v]->is_drained();
		if (all)
			return;
	}
	sim_fail("something waits for ever");
}

enum leaving { STAYS, LEAVES, HAS_ACKNOWLEDGED };

/* The next step of MPI_Finalize, if this rank can take it. */
static enum leaving leave(int v, enum leaving state)
{
	const struct sim_rank *r = sim.rank[v];

	if (!traffic_is_done(v))
		return state;
	if (state == STAYS)
		r->leave();
	if (!r->is_drained())
		return state == STAYS ? LEAVES : state;
	if (state != HAS_ACKNOWLEDGED) {
		r->acknowledge();
	} else if (sim_draw(3) == 0 && links_carry_all()) { /* a rank that has left joins no rail again */
		sim_trace("rank %d leaves", v);
		r->say_bye();
		sim.left[v] = true;
		links_leave(v);
	}
	return HAS_ACKNOWLEDGED;
}

static void finalize(void)
{
	const uint32_t one_of = 30 + sim_draw(300); /* the end is short */
	enum leaving state[SIM_RANKS] = {STAYS};

	traffic_barrier();
	for (long i = 0; i < STEPS_MAX; i++) {
		bool all = true;
		end_turn(i, 3000, one_of);
		for (int v = 0; v < sim.world.nranks; v++) {
			if (!sim.left[v])
				state[v] = leave(v, state[v]);
			all &= sim.left[v];
		}
		if (all)
			return;
	}
	sim_fail("somebody waits for ever in MPI_Finalize");
}

void sim_run(const struct sim_case *c, uint64_t seed)
{
	begin(c, seed);
	const uint32_t one_of = 200 + sim_draw(2000);
	const int most = c->mix.returns ? RETURNS_MAX : sim.world.rails - 1;
	const int losses = draw_between(1, most), late = (int)sim_draw(2); /* one is for the end */
	links_allow_losses(losses - late);
	exchange(&c->mix, one_of);
	drain(one_of);
	sim.ends = true;
	links_allow_losses(late);
	finalize();
	sim_trace("all have left");
}

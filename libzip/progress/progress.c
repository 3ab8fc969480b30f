/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress engine: turns over links, collectives and native MPI, and the wait loop of the whole library. See
 * progress.h.
 */
#include "libzip/progress/progress.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/wait.h"
#include "common/session/session.h"
#include "libzip/bridge/anysource.h"
#include "libzip/bridge/direct.h"
#include "libzip/bridge/failover.h"
#include "libzip/bridge/multicast.h"
#include "libzip/bridge/strands.h"
#include "libzip/bridge/traffic.h"
#include "libzip/bridge/turn.h"
#include "libzip/progress/ended.h"
#include "libzip/progress/hear.h"
#include "libzip/progress/waiters.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/station.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/choice.h"
#include "libzip/stream/loss.h"
#include "libzip/stream/outgoing.h"
#include "libzip/stream/stations.h"
#include "libzip/world/error.h"
#include "libzip/world/rails.h"
#include "libzip/world/req.h"
#include "libzip/world/world.h"

#define CONTROL_TURNS 64  /* idle turns between looks at the control links: a system call each */
#define LISTEN_TURNS 256  /* turns between looks for ranks that want to connect, and at the control links */
#define NATIVE_TURNS 8	  /* idle turns between pokes of native progress (0.1 us each) */
#define WHOLE_TURNS 256	  /* turns at a station between turns of everything */
#define CALLS_PER_TURN 32 /* native tests between turns */
#define VAIN_TESTS 4	  /* vain turns for tests between yields: a program that tests has something else to do */
/* Idle turns between looks at the clock while acknowledgements are owed; and how long they wait for a message to carry
 * them, while nothing comes. An acknowledgement alone is a message through zipperd like any other. Of 2000 broadcasts
 * of 8 bytes, 0.1 ms apart, 1394 were acknowledged alone when the wait was eight idle turns; now 65 are. Only two kinds
 * of sender wait for them: one that ends, and one with much under way, which is told sooner (peer.h). */
#define ACK_TURNS 8
#define ACK_NS 1000000
/* Yields before sleeping where native messages may come, which wake no sleeper (0.3 us each on an idle machine). The
 * steps of a collective follow each other in tens of microseconds, and a rank that naps holds up all others. With
 * 100 yields a barrier of 2+2 ranks on two cores takes 17 us or, in some runs throughout, 2.6 ms; with 3000 always
 * 17 us. */
#define NATIVE_YIELDS 3000
/* Naps while a native message may come, which wakes no sleeper: they grow from FIRST to LAST. */
#define NAP_FIRST_NS 50000
#define NAP_LAST_NS 1000000
/* A nap is at most this fraction of the time napped before. Where ranks wait for each other in turns, naps as long as
 * the time that they wait would make the other ranks nap, and so on for ever (barriers of 3 ms, three naps, until the
 * program ends). */
#define NAP_SHARE 8
/* The same where native MPI needs this rank for access to its memory by other ranks, of which it tells nothing. */
#define NAP_SHARE_SERVING 256
#define NAP_ALONE_NS 20000000 /* nothing native can come: only descriptors matter */
#define NAP_FDS 32	      /* descriptors for which no memory is allocated */
#define OTHERS_MAX 2
static bool (*others[OTHERS_MAX])(void); /* of partitioned receives, windows */
static int nothers;
static bool (*collectives)(void);
int zprogress_natives;
void (*zprogress_waited)(int64_t began_ns);

static struct engine { /* of a station */
	struct zstation *station;
	bool oversubscribed;
	int wait;
	struct zwait waits; /* the last wait, with what it has learned */
	bool polling;	    /* guards against turns within a turn, where no callback of the application runs */
	uint32_t turns, idle, calls, vain;
	int64_t owing_ns; /* since when acknowledgements have been owed and nothing came; 0: not known yet */
} engines[ZSTATIONS_MAX];

static inline struct engine *here(void)
{
	return &engines[zstation_here];
}

static void prepare_wait(const struct engine *e, struct zwait *w)
{
	zwait_init(w, e->oversubscribed);
	if (zworld.part_size[zworld.part] > 1) {
		w->yields = NATIVE_YIELDS;
		w->slice_ns = UINT32_MAX; /* nothing native wakes a sleeper */
	}
	if (e->wait == ZPROGRESS_SPIN)
		w->spins = UINT32_MAX;
	else if (e->wait == ZPROGRESS_YIELD)
		w->spins = 0, w->yields = w->slice_ns = UINT32_MAX;
	else if (e->wait == ZPROGRESS_SLEEP)
		w->spins = w->yields = 0;
}

void zprogress_add(bool (*turn)(void))
{
	for (int i = 0; i < nothers; i++)
		if (others[i] == turn)
			return;
	assert(nothers < OTHERS_MAX);
	others[nothers++] = turn;
}

void zprogress_set_collectives(bool (*turn)(void))
{
	collectives = turn;
}

static int serving;

void zprogress_serve(bool more)
{
	serving += more ? 1 : -1;
}

static bool turn_of_others(void)
{
	bool did = false;

	for (int i = 0; i < nothers; i++)
		did |= others[i]();
	return did;
}

void zprogress_init(struct zstation *s, bool oversubscribed, enum zprogress_how wait)
{
	struct engine *e = &engines[s->number];

	e->station = s;
	e->oversubscribed = oversubscribed;
	e->wait = wait;
	e->idle = e->calls = e->vain = 0;
	prepare_wait(e, &e->waits);
}

static void poke_native(void)
{
	int flag;

	zn.Iprobe(MPI_ANY_SOURCE, 0, zworld.base, &flag, MPI_STATUS_IGNORE);
}

/* How much longer acknowledgements that are owed may wait, in ns; 0: none is owed; -1: they have been sent now. */
static int64_t hold_acks(struct engine *e)
{
	if (!zoutgoing_owes(e->station)) {
		e->owing_ns = 0;
		return 0;
	}
	const int64_t now = zclock_ns();
	if (e->owing_ns == 0)
		e->owing_ns = now;
	if (now - e->owing_ns < ACK_NS)
		return e->owing_ns + ACK_NS - now;
	e->owing_ns = 0;
	return zoutgoing_ack(e->station, true) ? -1 : 0;
}

/* A station's occasional work while nothing comes. */
static bool idle_here(struct engine *e)
{
	bool did = false;

	e->idle++;
	if (e->idle % ACK_TURNS == 0 && hold_acks(e) < 0)
		zturn_send(e->station);
	if (e->idle % NATIVE_TURNS == 0) {
		did |= zanysource_poll_orphans(e->station);
		did |= zreq_poll_orphans();
	}
	return did;
}

static bool idle_turn(struct engine *e)
{
	bool did = idle_here(e);

	if (__builtin_expect(nothers > 0, 0))
		did |= turn_of_others();
	if (e->idle % NATIVE_TURNS == 0)
		poke_native();
	if (e->idle % CONTROL_TURNS == 0) {
		did |= zhear_all();
		did |= zdirect_poll();
	}
	return did;
}

static void note_activity(struct engine *e)
{
	e->idle = 0;
	e->owing_ns = 0;
}

/* A turn of a station that serves communicators alone. */
static bool turn_here(struct engine *e)
{
	bool did = zturn_recv(e->station);

	zoutgoing_ack(e->station, false);
	did |= zturn_send(e->station);
	did |= zstrands_turn(e->station);
	if (did)
		note_activity(e);
	else
		did = idle_here(e);
	return did;
}

static bool turn_others(void)
{
	bool did = false;

	zstation_for_each(1)
		did |= turn_here(here());
	return did;
}

/* A turn of everything, by a thread that has the whole library. */
static bool turn_whole(struct engine *e)
{
	bool did;

	if (e->polling)
		return false;
	e->polling = true;
	did = zfailover_turn();
	if (__builtin_expect(zchoice_is_due(), 0))
		zchoice_say_all();
	did |= zturn_recv(e->station);
	if (collectives) {
		/* Steps call callbacks of the application, in which this thread and others wait and make turns. */
		e->polling = false;
		did |= collectives();
		e->polling = true;
	}
	zoutgoing_ack(e->station, false);
	did |= zturn_send(e->station);
	did |= zstrands_turn(e->station);
	did |= zmulticast_turn(); /* behind the sends: a post that a full link refuses is then seen when this thread
				     goes to sleep */
	if (__builtin_expect(zstation_n > 1, 0))
		did |= turn_others();
	/* A rank that is never idle still looks for direct links. */
	if (__builtin_expect(++e->turns % LISTEN_TURNS == 0, 0) && did) {
		zdirect_poll();
		zhear_all();
		turn_of_others();
	}
	if (did)
		note_activity(e);
	else
		did = idle_turn(e);
	e->polling = false;
	return did;
}

/* A turn of one station, by a thread that is there. Other threads may wait there for what this turn finds. */
static bool turn_at(struct engine *e)
{
	if (e->polling)
		return false;
	e->polling = true;
	bool did = turn_here(e);
	if (!did && e->idle % NATIVE_TURNS == 0)
		poke_native();
	e->polling = false;
	if (did)
		zwaiters_disturbed();
	return did;
}

bool zprogress_poll(void)
{
	if (__builtin_expect(zshim_at != 0, 0))
		return turn_at(here());
	const int was = zstation_visit(0);
	bool did = turn_whole(&engines[0]);
	zstation_return(was);
	return did;
}

/* A turn, and now and then one of everything, also by a thread at one station: some thread must. */
static bool poll_now_and_then(void)
{
	struct engine *e = here();
	const int at = zshim_at;
	bool did = zprogress_poll();

	if (__builtin_expect(at != 0, 0) && (++e->turns % WHOLE_TURNS == 0 || zfailover_is_due() || zchoice_is_due())) {
		zshim_whole();
		did |= zprogress_poll();
		zshim_narrow(at);
	}
	return did;
}

bool zprogress_poll_beside(void)
{
	bool did = poll_now_and_then();
	if (__builtin_expect(zshim_threaded, 0) && did)
		zwaiters_disturbed();
	return did;
}

void zprogress_now_and_then(void)
{
	if (__builtin_expect(zended_any, 0))
		zended_go_on();
	if (++here()->calls % CALLS_PER_TURN == 0)
		zprogress_poll_beside();
}

int zprogress_native_tests(int alone)
{
	return here()->waits.shared > 0 || (zshim_at == 0 && !zwaiters_are_none()) ? 1 : alone;
}

bool zprogress_test_failed(bool native)
{
	struct engine *e = here();

	if (native && ++e->calls % CALLS_PER_TURN != 0)
		return false;
	const bool did = zprogress_poll_beside();
	if (__builtin_expect(zended_any, 0))
		zended_wait(did);
	if (!did && e->oversubscribed && ++e->vain % VAIN_TESTS == 0)
		sched_yield();
	return true;
}

/* Sleeps until one of n descriptors is ready, another thread calls, or the time is over. The last of the n are those of
 * the control links. */
static void sleep_on(struct pollfd *fds, int n, int64_t ns)
{
	struct timespec ts = {.tv_sec = 0, .tv_nsec = ns};

	fds[n] = (struct pollfd){.fd = zwaiters_fd(), .events = POLLIN};
	zshim_block_begin();
	int rc = ppoll(fds, (nfds_t)n + zshim_threaded, &ts, NULL);
	zshim_block_end();
	if (rc <= 0)
		return;
	for (int i = 0; i < zrails.n; i++)
		if (fds[n - zrails.n + i].revents)
			zhear(i);
	zdirect_woken(fds, n); /* only if needed: each listener costs a system call, which a message that has come would
				  wait for */
}

/* Arms everything and lists the descriptors. Their number, or -1: something is there already; it has been looked at, or
 * the next turn does that first. */
static int arm_all(struct pollfd *fds)
{
	int n = zdirect_arm(fds);

	if (n < 0) {
		zdirect_poll();
		return -1;
	}
	zstation_for_each(0)
		n = n < 0 ? n : zchannel_arm(zstations_here(), fds, n);
	if (n >= 0 && (n = zhear_arm(fds, n)) < 0)
		zhear_all();
	return n;
}

/* How long no acknowledgement is due, at most ns; -1: some have been sent now. */
static int64_t hold_all_acks(int64_t ns)
{
	bool sent = false;

	zstation_for_each(0) {
		const int64_t left = hold_acks(here());
		sent |= left < 0;
		ns = left > 0 && left < ns ? left : ns;
	}
	return sent ? -1 : ns;
}

static int count_fds(void)
{
	int n = zdirect_fds() + zrails.n + 1;

	zstation_for_each(0)
		n += zchannel_fds(zstations_here());
	return n;
}

/* Sleeps for a turn, unless there is something to do. */
static void nap(int64_t ns)
{
	struct pollfd few[NAP_FDS], *fds = few;
	int room, n;

	if (here()->polling || zrails.failing || zrails.returning)
		return;
	ns = hold_all_acks(ns);
	if (ns < 0)
		return;
	ztraffic_tell_direct();
	room = count_fds();
	/* other threads may open more links while this one sleeps, so the array is its own */
	if (room > NAP_FDS && !(fds = malloc((size_t)room * sizeof(*fds))))
		return;
	n = arm_all(fds);
	if (n >= 0)
		sleep_on(fds, n, ns);
	if (fds != few)
		free(fds);
}

/* Sleeps, and does not lead meanwhile. True: done, found while another thread led. */
static bool rest(int64_t ns, bool (*done)(void *ctx), void *ctx)
{
	if (!zshim_threaded) {
		nap(ns);
		return false;
	}
	if (!zwaiters_rest()) {
		sched_yield();
		return false;
	}
	nap(ns);
	return zwaiters_resume(done, ctx);
}

/* Waits at this station, but not until it would be time to sleep. False: it is not done yet. */
static bool wait_at(bool (*done)(void *ctx), void *ctx)
{
	struct engine *e = here();
	struct zwait w = e->waits;

	zwait_reset(&w);
	zwait_share(&w);
	for (;;) {
		bool did = poll_now_and_then();
		if (done(ctx))
			break;
		zshim_relax();
		if (did)
			zwait_reset(&w);
		else if (zwait_step(&w))
			return false;
	}
	zwait_end(&w);
	e->waits = w;
	zwaiters_disturbed(); /* a sleeping thread may have armed links that this thread has polled since */
	return true;
}

static void wait_whole(bool (*done)(void *ctx), void *ctx)
{
	bool alone = zworld.part_size[zworld.part] == 1;
	int64_t ns = NAP_FIRST_NS, napped = 0;

	if (__builtin_expect(zshim_threaded, 0) && zwaiters_join(done, ctx))
		return;
	struct engine *e = here();
	struct zwait w = e->waits;
	zwait_reset(&w);
	zwait_share(&w);
	for (;;) {
		zturn_shares = w.shared > 0;
		zturn_posted = false;
		bool did = zprogress_poll();
		zturn_shares = false;
		bool posted = zturn_posted;
		if (done(ctx))
			break;
		if (__builtin_expect(zended_any, 0))
			zended_wait(did);
		if (__builtin_expect(zshim_threaded, 0))
			zwaiters_serve(did);
		zshim_relax();
		if (did) {
			zwait_reset(&w);
			if (posted)
				zwait_share(&w);
			ns = NAP_FIRST_NS;
			napped = 0;
		} else if (zwait_step(&w)) {
			if (rest(alone && zprogress_natives == 0 ? NAP_ALONE_NS : ns, done, ctx))
				return;
			napped += ns;
			ns = napped / (serving ? NAP_SHARE_SERVING : NAP_SHARE);
			ns = ns < NAP_FIRST_NS ? NAP_FIRST_NS : ns > NAP_LAST_NS ? NAP_LAST_NS : ns;
		}
	}
	zwait_end(&w);
	e->waits = w;
	if (__builtin_expect(zshim_threaded, 0))
		zwaiters_leave();
}

/* It was not done a moment ago. */
static void wait_for(bool (*done)(void *ctx), void *ctx)
{
	if (__builtin_expect(zshim_at != 0, 0) && wait_at(done, ctx))
		return;
	zshim_whole();
	const int was = zstation_visit(0);
	wait_whole(done, ctx);
	if (__builtin_expect(zended_any, 0))
		zended_go_on();
	zstation_return(was);
}

static __attribute__((noinline)) void wait_telling(bool (*done)(void *ctx), void *ctx)
{
	const int64_t began = zclock_ns();

	wait_for(done, ctx);
	if (zprogress_waited)
		zprogress_waited(began);
}

void zprogress_wait(bool (*done)(void *ctx), void *ctx)
{
	if (done(ctx))
		return;
	if (__builtin_expect(zprogress_waited == NULL, 1))
		wait_for(done, ctx);
	else
		wait_telling(done, ctx);
}

void zprogress_wait_native(bool (*done)(void *ctx), void *ctx)
{
	if (!done(ctx))
		wait_for(done, ctx);
}

static bool request_done(void *ctx)
{
	return zreq_is_done(ctx);
}

void zprogress_wait_request(struct zreq *r)
{
	if (request_done(r))
		return;
	if (__builtin_expect(zprogress_waited == NULL, 1) || zreq_is_native(r))
		wait_for(request_done, r);
	else
		wait_telling(request_done, r);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank of the simulation, with a copy of libzip: see failover_sim_rank.h. */
#include "test/unit/libzip/failover_sim_rank.h"

#include <string.h>

#include "libzip/bridge/bridge.h"
#include "libzip/bridge/failover.h"
#include "libzip/bridge/multicast.h"
#include "libzip/bridge/op_start.h"
#include "libzip/bridge/strands.h"
#include "libzip/progress/service.h"
#include "libzip/progress/progress.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/loss.h"
#include "libzip/stream/op.h"
#include "libzip/stream/outgoing.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/transfer.h"
#include "test/unit/libzip/failover_sim_around.h"
#include "libzip/world/rails.h"
#include "test/unit/libzip/rank_around.h"
#include "libzip/shim/shim.h"
#include "libzip/world/world.h"

/* --- the world --- */

static int part_size[SIM_PARTS];
static char *part_name[SIM_PARTS] = {"a", "b", "c"};
static struct zplace place[SIM_RANKS];
static int vranks[SIM_RANKS], shadow_ranks[SIM_RANKS];
static struct zcomm world_comm;

static void fill_world(const struct sim_world *w)
{
	for (int v = 0; v < w->nranks; v++)
		place[v] = (struct zplace){.part = (uint32_t)w->part[v], .lrank = (uint32_t)part_size[w->part[v]]++};
	for (int v = 0; v < w->nranks; v++) {
		vranks[v] = v;
		shadow_ranks[v] = w->part[v] == w->part[me] ? (int)place[v].lrank : -1;
	}
	zworld = (struct zworld){.merged = true,
		.nparts = w->nparts,
		.nranks = w->nranks,
		.vrank = me,
		.part = w->part[me],
		.part_name = part_name,
		.part_size = part_size,
		.place = place,
		.eager_bytes = w->eager_bytes,
		.frag_bytes = w->frag_bytes,
		.rdv_window = w->rdv_window};
	world_comm =
		(struct zcomm){.size = w->nranks, .rank = me, .vrank = vranks, .shadow_rank = shadow_ranks, .refs = 1};
	zcomm_world = &world_comm;
}

static void fill_rails(const struct sim_world *w)
{
	static char entries[ZCTL_RAILS_MAX][ZCTL_ENTRIES_MAX];
	struct zerr err;

	for (int i = 0; i < w->rails; i++) {
		strcpy(entries[i], w->entries[i]);
		zrails.rail[i].way.n = (int)w->hops[i][w->part[me]];
	}
	if (zrails_share(entries, w->nparts == 2 ? "a,b" : "a,b,c", &err) != 0)
		outside.fail("rank %d: %s", me, err.text);
}

static void begin(const struct sim_world *w, const struct sim_outside *around, int vrank)
{
	const struct zservice_params params = {.job = "job",
		.launched = true,
		.one_sided = w->one_sided ? ZTRANSFER_ONE_SIDED_YES : ZTRANSFER_ONE_SIDED_NO};

	around_begin(w, around, vrank);
	rank_around_fill();
	fill_world(w);
	fill_rails(w);
	if (zservice_init(&params) != MPI_SUCCESS)
		outside.fail("rank %d does not begin", me);
}

/* --- operations --- */

static void check(int rc, const char *what)
{
	if (rc != MPI_SUCCESS)
		outside.fail("rank %d: %s fails: %d", me, what, rc);
}

static enum zsend_mode mode_of(enum sim_mode mode)
{
	static const enum zsend_mode modes[] = {[SIM_STANDARD] = ZSEND_STANDARD,
		[SIM_SYNC] = ZSEND_SYNC,
		[SIM_BUFFERED] = ZSEND_DETACHED,
		[SIM_COPIED] = ZSEND_COPIED};
	return modes[mode];
}

static struct zreq *send(const void *buf, int len, int to, enum sim_mode mode)
{
	struct zreq *r;
	check(zbridge_isend(&world_comm, ZCOMM_PT2PT, buf, len, MPI_BYTE, to, 0, mode_of(mode), &r), "a send");
	return r;
}

static struct zreq *send_to_several(const void *buf, int len, const int *to, int n)
{
	const int64_t patience_ms = 5;
	struct zreq *r;
	check(zmulticast_start(&world_comm, ZCOMM_PT2PT, buf, len, MPI_BYTE, to, n, 0, patience_ms, &r),
		"a send to several");
	return r;
}

static struct zreq *recv(void *buf, int len, int from)
{
	struct zreq *r;
	check(zbridge_irecv(&world_comm, ZCOMM_PT2PT, buf, len, MPI_BYTE, from, 0, &r), "a receive");
	return r;
}

static struct zreq *make_persistent(void *buf, int len, int to, enum sim_mode mode)
{
	const struct zop_args args = {&world_comm, ZCOMM_PT2PT, buf, len, MPI_BYTE, to, 0};
	struct zop *op;
	check(zop_start_make(&op, ZOP_SEND, &args, true), "a persistent send");
	op->mode = mode_of(mode);
	op->req.persistent = true;
	return &op->req;
}

static void start(struct zreq *r)
{
	check(zop_start((struct zop *)r), "a persistent send");
}

static bool is_done(const struct zreq *r, int64_t *len, int *error)
{
	if (!r->done)
		return false;
	*len = (int64_t)((uint64_t)(uint32_t)r->status.count_lo |
			 (uint64_t)((uint32_t)r->status.count_hi_and_cancelled >> 1) << 32);
	*error = r->status.MPI_ERROR;
	return true;
}

static void free_request(struct zreq *r)
{
	if (r->done)
		zreq_release(r);
	else
		r->orphan = true;
}

static bool cancel(struct zreq *r)
{
	if (r->done)
		return false;
	r->ops->cancel(r);
	return r->done && (r->status.count_hi_and_cancelled & 1);
}

static void open_channel(int track, int part)
{
	zchannel_open(&zstations[0], (struct zrails_track){.rail = sim_rail_of(track), .track = track % SIM_TRACKS},
		part);
}

static uint32_t least(int rail)
{
	return zrails.rail[rail].least;
}

/* As rejoin.c does. */
static void come_back(int rail, uint32_t incarnation)
{
	struct zrail *r = &zrails.rail[rail];

	if (!(zrails.lost >> rail & 1) || incarnation < r->least) {
		outside.quit(me, rail);
		return;
	}
	around_come_back(rail);
	r->incarnation = r->least = incarnation;
	zrails.returning |= 1u << rail;
}

static void acknowledge(void)
{
	zoutgoing_ack(&zstations[0], true);
}

static void say_bye(void)
{
	zchannel_say_bye(&zstations[0]);
}

static bool is_drained(void)
{
	const struct zstation *s = &zstations[0];
	return zoutgoing_drained(s) && zchannel_idle(s) && !ztransfer_must_finish(s) && !zstrands_must_finish(s);
}

/* --- what waits --- */

static void show_operation(struct zop *op, void *ctx)
{
	void (*line)(const char *format, ...) = *(void (**)(const char *, ...))ctx;

	line("  rank %d: %s %u%s, xfer %llx, seq %llu: %llu of %llu bytes, %llu granted;%s%s%s%s%s%s%s%s%s", me,
		op->kind == ZOP_SEND ? "send to" : "receive from", op->remote ? op->remote->vrank : ZWIRE_NOBODY,
		op->mode == ZSEND_SYNC ? ", synchronous" : "", (unsigned long long)op->t.xfer,
		(unsigned long long)op->t.seq, (unsigned long long)op->t.moved, (unsigned long long)op->t.total,
		(unsigned long long)op->t.granted, op->t.adrift ? " adrift" : "", op->t.fanned ? " fanned" : "",
		op->t.carried ? " carried" : "", op->t.group == ZTRANSFER_LISTED ? " by_list" : "",
		op->t.tied ? " multicast" : "", op->t.group == ZTRANSFER_HELD ? " held" : "",
		op->t.exposed ? " exposed" : "", op->t.answer == ZTRANSFER_ANSWERS_LOSS ? " restart" : "",
		op->queued ? " queued" : "");
}

static void show(void (*line)(const char *format, ...))
{
	line(" rank %d of part %d: rails lost %x, failing %x, returning %x, %u losses", me, zworld.part, zrails.lost,
		zrails.failing, zrails.returning, zrails.losses);
	for (int i = 0; i < zrails.n; i++)
		line("  rail %d: incarnation %u, least %u", i, zrails.rail[i].incarnation, zrails.rail[i].least);
	for (int v = 0; v < zworld.nranks; v++) {
		const struct zremote *r = zremote_find(&zstations[0], (uint32_t)v);
		if (!r || (!r->stream.halted && !r->stream.head && !r->stream.early && !r->pending.head))
			continue;
		line("  rank %d, stream to %d by rail %d, track %d:%s%s seq %llu, acknowledged %llu, unsent from %llu, "
		     "refused "
		     "%llu, "
		     "taken %llu; least told %u %u %u %u, heard %u %u %u %u%s",
			me, v, r->channel->by.rail, r->channel->by.track, r->stream.halted ? " halted" : "",
			r->stream.early ? " has early ones" : "", (unsigned long long)r->stream.last,
			(unsigned long long)r->stream.acked,
			(unsigned long long)(r->stream.unsent ? r->stream.unsent->env.seq : 0),
			(unsigned long long)r->stream.refused, (unsigned long long)r->stream.taken, r->rails_told[0],
			r->rails_told[1], r->rails_told[2], r->rails_told[3], r->rails_heard[0], r->rails_heard[1],
			r->rails_heard[2], r->rails_heard[3], r->pending.head ? "; sends pending" : "");
	}
	ztransfer_each(&zstations[0], show_operation, &line);
}

extern const struct sim_rank sim_rank;
__attribute__((visibility("default"))) const struct sim_rank sim_rank = {
	.begin = begin,
	.send = send,
	.send_to_several = send_to_several,
	.recv = recv,
	.make_persistent = make_persistent,
	.start = start,
	.is_done = is_done,
	.release = zreq_release,
	.free = free_request,
	.cancel = cancel,
	.poll = zprogress_poll,
	.lose = zloss_note,
	.open = open_channel,
	.least = least,
	.come_back = come_back,
	.leave = zfailover_leave,
	.acknowledge = acknowledge,
	.say_bye = say_bye,
	.is_drained = is_drained,
	.show = show,
};

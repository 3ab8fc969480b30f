/* SPDX-License-Identifier: BSD-3-Clause */
/* Going on without a zipper, see failover.h. */
#include "libzip/bridge/failover.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/clock.h"
#include "libzip/bridge/direct.h"
#include "libzip/bridge/multicast.h"
#include "libzip/bridge/queue.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/station.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/loss.h"
#include "libzip/stream/op.h"
#include "libzip/stream/post.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/transfer.h"
#include "libzip/stream/transfer_recv.h"
#include "libzip/stream/way.h"
#include "libzip/world/error.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

/* If a rank dies, all zippers say so, one after the other: meanwhile none of them is called lost. */
#define SAY_MS 2000
/* A silent rank is told of a loss again. It may have had its last look before it left, while zipperd passed on to it
 * what it did not hear. The next time zipperd answers that it has left. */
#define REPEAT_MS 2000

#define ASK_GENTLY 1 /* tag of ASK: DONE is wanted again, but no restart */
/* Between looks for streams that can go by their own rail again, which has come back. */
#define HOME_MS 50

static struct {
	bool silent;	 /* another process tells the user */
	uint32_t unsaid; /* a bit each: rails whose loss the user is to be told of */
	uint32_t back;	 /* the same of their return */
	int64_t say_ms;	 /* time at which the user is told */
	bool homeless;	 /* some streams do not go by their own rail, which is good */
	int64_t home_ms;
	bool awaiting; /* other ranks have not yet said what they have */
	bool leaving;  /* other ranks may have left */
	int64_t repeat_ms;
	bool later; /* something of these is to be done when its time has come */
} self;

void zfailover_init(bool tells)
{
	zloss_init();
	memset(&self, 0, sizeof(self));
	self.silent = !tells || zworld.vrank != 0;
}

/* --- the user is told --- */

void zfailover_say(void)
{
	char address[512], rest[64];

	if (zrails_is_stranded())
		snprintf(rest, sizeof(rest), "the job waits for it");
	else
		snprintf(rest, sizeof(rest), "the job goes on with %d of %d", zrails_count_good(), zrails.n);
	for (int i = 0; !self.silent && i < zrails.n; i++) {
		const bool lost = self.unsaid >> i & 1, back = self.back >> i & 1;
		zaddr_format(zhops_last(&zrails.rail[i].way), address, sizeof(address));
		if (lost || back)
			zerr_print("libzipper: rank 0 of %s (%s): the zipper at %s is %s%s; %s\n", zworld_job(),
				zworld.part_name[zworld.part], address, lost ? "lost: " : "back",
				lost ? zloss_why(i) : "", rest);
	}
	self.unsaid = self.back = 0;
}

/* A loss, or a return, is not told where it is soon followed by the other. */
static void say_later(uint32_t rails, uint32_t *told, uint32_t *opposite)
{
	*told |= rails & ~*opposite;
	*opposite &= ~rails;
	self.say_ms = zclock_ms() + SAY_MS;
}

/* --- what was under way --- */

/* The rails that are lost now. */
struct loss {
	uint32_t rails;
	bool carrier; /* the carrier's rail (carrier.h) is among them */
};

static bool is_lost(const struct loss *loss, const struct zchannel *ch)
{
	return ch->peer == ZWIRE_NOBODY && (loss->rails >> ch->by.rail & 1);
}

static void lose_way(struct zop *op)
{
	if (op->kind == ZOP_RECV)
		ztransfer_recv_take_back(op);
	ztransfer_lose_way(op);
}

/* The bytes of an operation cannot be reached from outside any more, and its fragments wait for the other end's
 * word. */
static void stop_transfer(struct zop *op, void *ctx)
{
	const struct loss *loss = ctx;
	const struct zremote *r = op->remote;
	bool listed = op->kind == ZOP_SEND && (op->t.group != ZTRANSFER_ALONE || op->t.carried);

	if (!r || !zremote_is_bridged(r) || (op->kind == ZOP_SEND && op->t.seq == 0))
		return;
	if (op->t.fanned) /* whatever the send's own way is */
		op->t.adrift |= loss->carrier;
	else if (is_lost(loss, op->t.way ? op->t.way : r->channel))
		lose_way(op);
	else if (listed && loss->carrier)
		op->t.adrift = true;
	op->t.carried &= !loss->carrier;
}

struct stream_loss { /* of one stream */
	const struct loss *loss;
	bool usual; /* is its usual way lost? */
};

static bool way_is_lost(const void *way, const void *ctx)
{
	const struct stream_loss *s = ctx;

	return way ? is_lost(s->loss, way) : s->usual;
}

static void stop_arrival(struct zqueued *a, void *ctx)
{
	const struct stream_loss s = {.loss = ctx, .usual = is_lost(ctx, a->from->channel)};

	if (a->eager || !way_is_lost(a->way, &s))
		return;
	a->way = NULL;
	a->flags &= (uint16_t)~ZWIRE_F_ONE_SIDED; /* the offer was made to a zipper that is gone */
}

/* --- each remote rank --- */

static void tell(struct zremote *r)
{
	struct zwire_env env = {.kind = ZWIRE_RAILS};

	for (int i = 0; i < zrails.n; i++)
		r->rails_told[i] = (uint16_t)zrails.rail[i].least;
	zwire_put_rails(&env, r->rails_told, zrails.n);
	zpost_control(r, NULL, &env, NULL);
}

/* Does this list, what it was told or has told, say what we know ourselves? */
static bool is_ours(const uint16_t *least)
{
	bool same = true;

	for (int i = 0; i < zrails.n; i++)
		same &= least[i] == zrails.rail[i].least;
	return same;
}

static void reroute(struct zremote *r, const void *ctx)
{
	const struct loss *loss = ctx;
	struct stream_loss s = {.loss = loss, .usual = is_lost(loss, r->channel)};
	const struct zchannel *usual = NULL;

	if (s.usual)
		usual = r->channel = zchannel_home(r->station, r->vrank);
	zpeer_drop_early(&r->stream, way_is_lost, &s, usual);
	if (r->by_list) { /* then our messages to it go by the carrier, whatever the usual way is */
		s.usual = loss->carrier;
		r->by_list = !loss->carrier;
	}
	zpeer_reroute(&r->stream, way_is_lost, &s, usual);
	r->stream.halted = !r->stream.gone;
}

/* Both ends know of the loss: a receive asks for the rest, a send asks about a message that was taken. The two ends may
 * call different rails the usual one while a stream goes home. So a send whose own way is good asks, too, but only for
 * DONE, which may have been lost. */
static void take_up(struct zop *op, void *ctx)
{
	struct zremote *r = ctx;
	struct zwire_env env = {.kind = ZWIRE_ASK, .tag = op->t.adrift ? 0 : ASK_GENTLY, .xfer = op->t.xfer};

	if (op->remote != r || (op->kind == ZOP_SEND && op->t.seq == 0))
		return;
	if (op->kind == ZOP_RECV && op->t.adrift)
		ztransfer_recv_restart(op);
	else if (op->kind == ZOP_SEND &&
		 (op->t.seq <= r->stream.acked || op->t.granted > 0)) /* a grant may come before the acknowledgement */
		zpost_control(r, NULL, &env, NULL);
}

static void restart_asked(struct zop *op, void *ctx)
{
	if (op->remote == ctx && op->kind == ZOP_RECV && op->t.adrift)
		ztransfer_recv_restart(op);
}

static void settle(struct zremote *r, const void *ctx)
{
	(void)ctx;
	if (!is_ours(r->rails_told))
		tell(r);
	if (r->stream.halted && is_ours(r->rails_heard)) {
		r->stream.halted = false;
		ztransfer_each(r->station, take_up, r);
		zway_make_ready(r);
	} else if (!r->stream.halted && r->rails_asked) {
		ztransfer_each(r->station, restart_asked, r);
	}
	r->rails_asked = false;
	self.awaiting |= r->stream.halted;
}

/* A rank that has left may also have acknowledged our last message over a connection that broke too early. */
static void repeat(struct zremote *r, const void *ctx)
{
	bool silent = r->stream.halted || (self.leaving && r->stream.head);

	(void)ctx;
	if (silent)
		tell(r);
	self.awaiting |= silent;
}

/* zipperd itself knows the reason best, if it has said so meanwhile, or is gone. */
static void hear_last_word(int rail)
{
	struct zctl_msg msg;
	struct zerr err = {{0}};
	int rc;

	while ((rc = zsession_poll(zrails.rail[rail].session, &msg, &err)) > 0) {
		if (msg.type == ZCTL_DEAD && msg.u.dead.part != ZCTL_PART_ZIPPER && zrails_is_stranded())
			zerror_lost((int)msg.u.dead.code, (int)msg.u.dead.part, "%s", msg.u.dead.text);
		if (msg.type == ZCTL_DEAD && msg.u.dead.part != ZCTL_PART_ZIPPER)
			zloss_remember(&msg.u.dead);
		if (msg.type == ZCTL_DEAD)
			snprintf(zloss_why(rail), ZLOSS_WHY_BYTES, "%s", msg.u.dead.text);
		zctl_free(&msg);
	}
	if (rc < 0 && err.text[0])
		snprintf(zloss_why(rail), ZLOSS_WHY_BYTES, "%.255s", err.text);
}

static void close_rails(struct zstation *s, const struct loss *loss)
{
	for (int i = 0; i < zrails.n; i++)
		if (loss->rails >> i & 1)
			zchannel_close_rail(s, i);
}

static void hear_last_words(const struct loss *loss)
{
	for (int i = 0; i < zrails.n; i++)
		if (loss->rails >> i & 1)
			hear_last_word(i);
}

static void lose_rails(const struct loss *loss)
{
	for (int i = 0; i < zrails.n; i++)
		if (loss->rails >> i & 1)
			zrails_lose(i, zloss_why(i));
	zrails_change_carrier();
}

static void visit_bridged_here(const struct zstation *s, void (*visit)(struct zremote *, const void *ctx),
	const void *ctx)
{
	for (int v = 0; v < zworld.nranks; v++) {
		struct zremote *r = zremote_find(s, (uint32_t)v);
		if (r && zremote_is_bridged(r))
			visit(r, ctx);
	}
}

static void visit_bridged(void (*visit)(struct zremote *, const void *ctx), const void *ctx)
{
	zstation_for_each(0)
		visit_bridged_here(zstations_here(), visit, ctx);
}

static void stop_all(const struct loss *loss)
{
	zstation_for_each(0) {
		struct zstation *s = zstations_here();
		ztransfer_each(s, stop_transfer, (void *)(uintptr_t)loss);
		if (loss->carrier && s->number == 0)
			zmulticast_conceal();
		zqueue_each(s, stop_arrival, (void *)(uintptr_t)loss);
		close_rails(s, loss);
	}
}

static void go_on_without(const struct loss *loss)
{
	hear_last_words(loss);
	stop_all(loss);
	lose_rails(loss);
	if (loss->carrier)
		zmulticast_lose_carrier();
	visit_bridged(reroute, loss);
	if (loss->rails & 1)
		zdirect_lose_zipper();
	say_later(loss->rails, &self.unsaid, &self.back);
}

/* Another rank has lost an incarnation of a rail that this rank has never joined, or has only just joined. */
static void heed(struct zremote *r, const void *ctx)
{
	(void)ctx;
	for (int i = 0; i < zrails.n; i++) {
		struct zrail *rail = &zrails.rail[i];
		if (r->rails_heard[i] <= rail->least)
			continue;
		if (zrails.lost >> i & 1)
			rail->least = r->rails_heard[i];
		else
			zloss_note(i, "another rank has lost it");
	}
}

/* --- rails that come back --- */

/* A stream without a good rail begins again, by a rail that has come back. What was to be posted meanwhile is as if it
 * had been posted and lost. */
static void revive(struct zremote *r, const void *ctx)
{
	const struct loss *loss = ctx;

	if (!is_lost(loss, r->channel) && !(loss->carrier && r->by_list))
		return;
	reroute(r, loss);
	memset(r->rails_told, 0, sizeof(r->rails_told));
}

static void find_stranded(struct zremote *r, const void *ctx)
{
	const struct loss *loss = ctx;

	self.homeless |= is_lost(loss, r->channel);
}

static void go_on_with(uint32_t rails)
{
	const struct loss loss = {.rails = zrails.lost, .carrier = zrails.lost >> zrails_of_carrier().rail & 1};

	self.homeless = loss.carrier;
	visit_bridged(find_stranded, &loss);
	if (self.homeless)
		stop_all(&loss);
	zrails.returning &= ~rails;
	zrails.lost &= ~rails;
	if (zrails_change_carrier())
		zmulticast_lose_carrier();
	if (self.homeless)
		visit_bridged(revive, &loss);
	say_later(rails, &self.back, &self.unsaid);
	self.homeless = true;
	self.home_ms = 0;
}

static void clear_busy(struct zremote *r, const void *ctx)
{
	(void)ctx;
	r->busy = false;
}

static void note_busy_transfer(struct zop *op, void *ctx)
{
	(void)ctx;
	if (op->remote && !op->t.way)
		op->remote->busy = true;
}

static void note_busy_arrival(struct zqueued *a, void *ctx)
{
	(void)ctx;
	if (!a->way)
		a->from->busy = true;
}

/* A stream goes by its own rail again when nothing is under way by the rail that it has now: its usual way has no name
 * of its own (peer.h). */
static void go_home(struct zremote *r, const void *ctx)
{
	const struct zpeer *s = &r->stream;

	(void)ctx;
	if (zrails_same(r->channel->by, zrails_of(r->vrank)))
		return;
	if (r->busy || r->ready || r->by_list || r->pending.head || s->head || s->early || s->halted || s->refused)
		self.homeless = true;
	else
		r->channel = zchannel_home(r->station, r->vrank);
}

static void go_all_home(void)
{
	self.homeless = false;
	self.home_ms = zclock_ms() + HOME_MS;
	visit_bridged(clear_busy, NULL);
	zstation_for_each(0) {
		ztransfer_each(zstations_here(), note_busy_transfer, NULL);
		zqueue_each(zstations_here(), note_busy_arrival, NULL);
	}
	visit_bridged(go_home, NULL);
}

/* Visits each rank that is reached by zippers, to say something about a loss. */
static void speak(void (*visit)(struct zremote *, const void *ctx))
{
	self.awaiting = self.leaving;
	self.repeat_ms = zclock_ms() + REPEAT_MS;
	visit_bridged(visit, NULL);
}

static void update_later(void)
{
	self.later = (self.unsaid | self.back) != 0 || self.awaiting || self.homeless;
}

void zfailover_leave(void)
{
	self.leaving = self.awaiting = true;
	self.repeat_ms = zclock_ms() + REPEAT_MS;
	update_later();
}

/* A loss was noted or heard of, or something is to be said. Not inline: zfailover_turn is on the way of every
 * message. */
static __attribute__((noinline)) bool turn_after_loss(void)
{
	if (!zrails.failing && !zrails.returning && !zloss_heard) {
		if ((self.unsaid | self.back) != 0 && zclock_ms() >= self.say_ms)
			zfailover_say();
		if (self.homeless && zclock_ms() >= self.home_ms)
			go_all_home();
		if (self.awaiting && zclock_ms() >= self.repeat_ms)
			speak(repeat);
		return false;
	}
	zloss_collect();
	if (zrails.failing) {
		const struct loss loss = {.rails = zrails.failing,
			.carrier = zrails.failing >> zrails_of_carrier().rail & 1};
		go_on_without(&loss);
	}
	if (zrails.returning)
		go_on_with(zrails.returning);
	visit_bridged(heed, NULL);
	zloss_heard = false;
	speak(settle);
	return true;
}

bool zfailover_is_due(void)
{
	return zrails.failing || zrails.returning || zloss_heard;
}

bool zfailover_turn(void)
{
	if (__builtin_expect(!(zrails.failing || zrails.returning || zloss_heard || self.later), 1))
		return false;
	const bool did = turn_after_loss();
	update_later();
	return did;
}

/* --- what others say --- */

void zfailover_take_rails(struct zremote *from, const struct zwire_env *env)
{
	uint16_t least[ZWIRE_RAILS_MAX];
	char why[64];

	zwire_get_rails(least, zrails.n, env);
	snprintf(why, sizeof(why), "rank %u of part %s has lost it", from->vrank,
		zworld.part_name[zworld.place[from->vrank].part]);
	for (int i = 0; i < zrails.n; i++) {
		if (least[i] > from->rails_heard[i]) /* an earlier RAILS of this rank may come later, by another rail */
			from->rails_heard[i] = least[i];
		if (least[i] > zrails.rail[i].incarnation)
			zloss_note(i, why);
	}
	zloss_heard = true;
}

struct question {
	struct zremote *from;
	uint64_t xfer;
	bool gently; /* a transfer that is not complete goes on */
	bool known;  /* the receive or the message is there, and not complete */
};

static void look_at_transfer(struct zop *op, void *ctx)
{
	struct question *q = ctx;

	if (op->kind != ZOP_RECV || op->remote != q->from || op->t.peer_xfer != q->xfer)
		return;
	q->known = true;
	if (!q->gently && op->t.epoch != (int32_t)zrails.losses) { /* else the transfer has been restarted already */
		op->t.adrift = q->from->rails_asked = true;
		zloss_heard = true;
	}
}

static void look_at_arrival(struct zqueued *a, void *ctx)
{
	struct question *q = ctx;

	q->known |= a->from == q->from && a->xfer == q->xfer && (!a->eager || (a->flags & ZWIRE_F_SYNC));
}

void zfailover_take_ask(struct zremote *from, const struct zwire_env *env)
{
	struct question q = {.from = from, .xfer = env->xfer, .gently = env->tag == ASK_GENTLY};

	ztransfer_each(from->station, look_at_transfer, &q);
	zqueue_each(from->station, look_at_arrival, &q);
	if (!q.known)
		ztransfer_post_done(from, NULL, env->xfer, 0);
}

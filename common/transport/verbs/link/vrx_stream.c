/* SPDX-License-Identifier: BSD-3-Clause */
/* The TCP side of the receive half: messages until the direction changes over, and frames (vframe.h). By frames the
 * ends tell each other their queue pairs, and that they change over or close. */
#include "common/transport/verbs/link/vrx_stream.h"

#include <errno.h>

#include "common/transport/verbs/link/vcredit.h"
#include "common/transport/verbs/link/vpath.h"

#define STREAM_BUDGET 4 /* frames that one look at the TCP connection takes */

struct filter { /* our sink, in front of the caller's */
	struct vlink *link;
	const struct zsink *sink;
	unsigned frames;
};

static int take_frame(struct vlink *l, const struct zwire_env *env, const uint8_t *payload)
{
	struct vrx *rx = &l->rx;
	struct vframe f;
	int state = atomic_load_explicit(&l->state, memory_order_acquire), rc = vframe_decode(&f, env, payload);
	if (rc < 0)
		return rc;
	if (f.type == VFRAME_OFFER && !l->connecting && state == VSTATE_PLAIN && l->port[0]) {
		l->peer = f;
		atomic_store_explicit(&l->state, VSTATE_OFFERED, memory_order_release);
		return 0;
	}
	if (f.type == VFRAME_ANSWER && l->connecting && state == VSTATE_OFFERED) {
		l->peer = f;
		rc = vpath_answer(l);
		if (rc == VPATH_NONE)
			return 0;
		return rc < 0 ? rc : vcredit_grant(l);
	}
	if (f.type == VFRAME_READY && !l->connecting && state == VSTATE_READY && rx->way == VRX_WAY_UNTRIED) {
		vpool_collect(rx->pool);
		return vcredit_grant(l);
	}
	if (f.type == VFRAME_SWITCH && rx->way != VRX_WAY_UNTRIED && rx->mode == VMODE_STREAM) {
		rx->mode = VMODE_QUEUE;
		return 0;
	}
	if (f.type == VFRAME_CLOSE && rx->mode == VMODE_QUEUE && !rx->closing) {
		rx->closing = true;
		rx->close_at = f.count;
		return 0;
	}
	return -EPROTO;
}

static void *filter_place(void *ctx, const struct zwire_env *env)
{
	struct filter *f = ctx;
	if (vframe_is(env) || f->link->rx.mode == VMODE_QUEUE || !f->sink->place)
		return NULL;
	return f->sink->place(f->sink->ctx, env);
}

static int filter_take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct filter *f = ctx;
	if (vframe_is(env)) {
		f->frames++;
		return take_frame(f->link, env, payload);
	}
	if (f->link->rx.mode == VMODE_QUEUE)
		return -EPROTO;
	return f->sink->take(f->sink->ctx, env, raw, payload);
}

int vrx_stream_poll(struct vlink *l, const struct zsink *sink, unsigned budget)
{
	struct filter f = {.link = l, .sink = sink};
	const struct zsink ours = {.place = filter_place, .take = filter_take, .ctx = &f, .max_len = sink->max_len};
	int rc = 0;
	do {
		f.frames = 0;
		rc = l->stream->ops->poll(l->stream, &ours, budget);
	} while (rc > 0 && (unsigned)rc == f.frames && l->rx.mode == VMODE_STREAM);
	return rc > 0 ? rc - (int)f.frames : rc;
}

void vrx_stream_look(struct vlink *l)
{
	struct vrx *rx = &l->rx;
	const struct zsink none = {.ctx = NULL};
	if (rx->fin)
		return;
	struct filter f = {.link = l, .sink = &none};
	const struct zsink ours = {.place = filter_place, .take = filter_take, .ctx = &f};
	int rc;
	do
		rc = l->stream->ops->poll(l->stream, &ours, STREAM_BUDGET);
	while (rc > 0);
	rx->fin = rc < 0;
	if (rc == -EPROTO && !rx->broken)
		rx->broken = rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See tune_want.h. A candidate that makes no difference would be compared with itself, and would seem faster now and
 * then.
 */
#include "zipbench/tune/tune_want.h"

#include <string.h>

#include "common/config/tuning_parse.h"
#include "zipbench/tune/tune_layout.h"

double tune_want_bytes(const struct tune *b, int layout, const struct tune_target *t, int point)
{
	const char *here = b->layout[layout];
	const int ranks = tune_layout_clusters(here) > 1 ? tune_layout_ranks(here) : b->ranks;
	return b->size[point % b->nsizes] * (t->times_ranks ? ranks : 1);
}

/* Bytes that one of these members can give the others in their shared memory, by the formula of libzip's zboard_room.
 * Other data take ROOM_BESIDES of them. */
static int64_t room(int64_t members)
{
	const int64_t bytes = members > 1 && members <= 256 ? (5 << 20) / 4 / members : 0;
	return bytes < 132 << 10 ? bytes : 132 << 10;
}
#define ROOM_BESIDES 128

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The shortest and the longest piece that is reduced at a time inside a cluster, in bytes. size: of the operation. */
static void find_pieces(const struct ztuning_settings *s, const struct tune_target *t, const struct ztuning_case *call,
	int64_t size, int64_t *shortest, int64_t *longest)
{
	const int64_t leaders = least(s->leaders, call->members), bytes = call->bytes;
	int64_t each = s->segment * leaders > bytes ? (bytes + leaders - 1) / leaders : s->segment, n;
	if (each * s->segments < bytes)
		each = (bytes + s->segments - 1) / s->segments;
	*shortest = *longest = least(each, bytes);
	if (t->collective != ZTUNING_REDUCE_SCATTER)
		return;
	*shortest = size * (call->members / leaders);
	*longest = size * ((call->members_max + leaders - 1) / leaders);
	n = least((*longest + s->segment - 1) / s->segment, s->segments);
	if (leaders == 1 && n == 1)
		*shortest = *longest = bytes;
	*shortest /= n;
	*longest = (*longest + n - 1) / n;
}

/* How the ranks of a cluster reduce. `auto` is one of the two other ways, and stays `auto` if that is not known. */
static int64_t reduced_inside(const struct ztuning_settings *s, const struct tune_target *t,
	const struct ztuning_case *call, int64_t size, bool shares)
{
	int64_t shortest, longest;
	if (call->members_max < 2)
		return 0;
	if (s->inside != ZTUNING_INSIDE_AUTO)
		return s->inside;
	find_pieces(s, t, call, size, &shortest, &longest);
	if (shortest > room(call->members > 2 ? call->members : 2))
		return ZTUNING_INSIDE_NATIVE;
	return shares && longest + ROOM_BESIDES <= room(call->members_max) ? ZTUNING_INSIDE_GATHER
									   : ZTUNING_INSIDE_AUTO;
}

static bool is_reduction(const struct tune_target *t)
{
	return t->collective == ZTUNING_REDUCE || t->collective == ZTUNING_ALLREDUCE ||
	       t->collective == ZTUNING_REDUCE_SCATTER;
}

/* Drops settings that count only if clusters pass messages on to each other, or only if they do not. */
static void reduce_between(struct ztuning_settings *s, const struct tune_target *t, const struct ztuning_case *call)
{
	if (call->clusters == 2)
		s->between = s->multicast = 0;
	if (t->collective == ZTUNING_ALLREDUCE && s->exchange != ZTUNING_EXCHANGE_SLICES)
		s->between = ZTUNING_BETWEEN_ALL;
	if (s->between != ZTUNING_BETWEEN_ALL)
		s->multicast = 0;
	else if (t->collective == ZTUNING_BCAST || t->collective == ZTUNING_ALLGATHER)
		s->depth = 0;
}

/* The settings without those that change nothing for the call, see zipper.tuning(5). other: the settings of the other
 * table; cut: the bytes that cross in segments. */
static struct ztuning_settings reduced(struct ztuning_settings s, const struct ztuning_settings *other,
	const struct tune_target *t, const struct ztuning_case *call, int64_t cut)
{
	const bool one_segment = s.segment >= cut && other->segment >= cut;
	s.patience = 0; /* no rank is slow here */
	if (s.leaders > call->members)
		s.leaders = call->members;
	reduce_between(&s, t, call);
	if (call->clusters == 2 && s.exchange == ZTUNING_EXCHANGE_DOUBLING)
		s.exchange = ZTUNING_EXCHANGE_ALL; /* there is only one other cluster */
	if (one_segment)
		s.segment = s.segments = s.depth = 0;
	else if (cut <= s.segment * s.segments && cut <= other->segment * other->segments)
		s.segments = 0;
	if (t->collective == ZTUNING_BCAST && one_segment)
		s.leaders = 0;
	if (t->collective == ZTUNING_ALLTOALL) {
		s.aggregate = call->bytes <= s.aggregate;
		s.leaders = s.aggregate ? s.leaders : 0;
		s.window = s.aggregate ? 0 : s.window;
	}
	return s;
}

/* The same for gather and scatter, whose settings are sizes themselves. second: gatherv or scatterv, where only the
 * root knows all sizes. */
static struct ztuning_settings reduced_whole(struct ztuning_settings s, const struct ztuning_case *call, int64_t bytes,
	bool second)
{
	s.alone = s.alone > 0 && bytes >= s.alone;
	/* the number of clusters that are concerned: none, the small ones or all */
	s.together = !second || s.alone
			     ? 0
			     : (bytes * call->members <= s.together) + (bytes * call->members_max <= s.together);
	return s;
}

static bool differs(const struct tune *b, int layout, const struct ztuning *with, const struct ztuning *without,
	const struct tune_target *t, int point)
{
	const char *here = b->layout[layout];
	const int64_t bytes = (int64_t)tune_want_bytes(b, layout, t, point);
	const struct ztuning_case call = {.bytes = t->whole ? 0 : bytes,
		.ranks = tune_layout_ranks(here),
		.clusters = tune_layout_clusters(here),
		.members = tune_layout_members_min(here),
		.members_max = tune_layout_members_max(here)};
	struct ztuning_settings x = ztuning_choose(with, t->collective, &call),
				y = ztuning_choose(without, t->collective, &call);
	const int64_t size = (int64_t)b->size[point % b->nsizes];
	if (is_reduction(t)) {
		x.inside = reduced_inside(&x, t, &call, size, b->shares);
		y.inside = reduced_inside(&y, t, &call, size, b->shares);
	}
	const int64_t cut = t->times_ranks ? size * call.members_max : size; /* a cluster's */
	const bool second = point >= b->nsizes;
	const struct ztuning_settings rx = t->whole ? reduced_whole(x, &call, size, second)
						    : reduced(x, &y, t, &call, cut),
				      ry = t->whole ? reduced_whole(y, &call, size, second)
						    : reduced(y, &x, t, &call, cut);
	return memcmp(&rx, &ry, sizeof(rx)) != 0;
}

static void want(struct tune *b, int layout, int c, const struct ztuning *with, const struct ztuning *without)
{
	for (size_t k = 0; k < TUNE_TARGETS; k++) {
		const struct tune_target *t = &tune_targets[k];
		const bool first_too = strcmp(b->candidate[c].setting, "together") != 0;
		for (int p = first_too ? 0 : b->nsizes; p < b->nsizes * (t->op[1] ? 2 : 1); p++) {
			bool is = b->candidate[c].concerns[k] && (tune_layout_clusters(b->layout[layout]) < 2 ||
									 differs(b, layout, with, without, t, p));
			b->samples[c][k][p].wanted = is;
			b->samples[0][k][p].wanted |= is;
		}
	}
}

int tune_want(struct tune *b, int layout, struct zerr *err)
{
	struct ztuning without;
	int rc = ztuning_init(&without, err);
	if (rc == 0)
		rc = ztuning_parse_text(&without, b->bridge, "bridge", err);
	for (int c = 1; c < b->ncandidates && rc == 0; c++) {
		struct ztuning with;
		rc = ztuning_init(&with, err);
		if (rc == 0)
			rc = ztuning_parse_text(&with, b->bridge, "bridge", err);
		if (rc == 0)
			rc = ztuning_parse_text(&with, b->candidate[c].rules, "--try", err);
		if (rc == 0)
			want(b, layout, c, &with, &without);
		ztuning_free(&with);
	}
	ztuning_free(&without);
	return rc;
}

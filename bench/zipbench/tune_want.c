/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "zipbench tune": where a candidate makes a difference. Elsewhere it would be compared with itself, and be faster now
 * and then.
 */
#include <string.h>

#include "tune.h"

double tune_bytes(const struct tune *b, int layout, const struct tune_target *t, int point)
{
	const char *here = b->layout[layout];
	const int ranks = tune_clusters(here) > 1 ? tune_ranks(here) : b->ranks;
	return b->size[point % b->nsizes] * (t->times_ranks ? ranks : 1);
}

/* The settings without what changes nothing for the call, see zipper.tuning(5). other: those of the other table; cut:
 * the bytes that cross in segments. */
static struct ztuning_settings reduced(struct ztuning_settings s, const struct ztuning_settings *other,
	const struct tune_target *t, const struct ztuning_case *call, int64_t cut)
{
	const bool one_segment = s.segment >= cut && other->segment >= cut;
	s.patience = 0; /* nobody is slow here */
	if (s.leaders > call->members)
		s.leaders = call->members;
	if (call->clusters == 2)
		s.between = s.multicast = 0;
	if (one_segment)
		s.segment = s.segments = s.depth = 0;
	else if (cut <= s.segment * s.segments && cut <= other->segment * other->segments)
		s.segments = 0;
	if (t->collective == ZTUNING_BCAST && one_segment && call->clusters == 2)
		s.leaders = 0;
	if (t->collective == ZTUNING_ALLTOALL) {
		s.aggregate = call->bytes <= s.aggregate;
		s.leaders = s.aggregate ? s.leaders : 0;
		s.window = s.aggregate ? 0 : s.window;
	}
	return s;
}

/* The same for gather and scatter, whose settings are sizes themselves; second: the form in which only the root knows
 * all sizes. */
static struct ztuning_settings reduced_whole(struct ztuning_settings s, const struct ztuning_case *call, int64_t bytes,
	bool second)
{
	s.alone = s.alone > 0 && bytes >= s.alone;
	/* in so many clusters: none, the small ones or all */
	s.together = !second || s.alone
			     ? 0
			     : (bytes * call->members <= s.together) + (bytes * call->members_max <= s.together);
	return s;
}

static bool differs(const struct tune *b, int layout, const struct ztuning *with, const struct ztuning *without,
	const struct tune_target *t, int point)
{
	const char *here = b->layout[layout];
	const int64_t bytes = (int64_t)tune_bytes(b, layout, t, point);
	const struct ztuning_case call = {.bytes = t->whole ? 0 : bytes,
		.ranks = tune_ranks(here),
		.clusters = tune_clusters(here),
		.members = tune_members_min(here),
		.members_max = tune_members_max(here)};
	const struct ztuning_settings x = ztuning_choose(with, t->collective, &call),
				      y = ztuning_choose(without, t->collective, &call);
	const int64_t size = (int64_t)b->size[point % b->nsizes];
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
			bool is = b->candidate[c].concerns[k] &&
				  (tune_clusters(b->layout[layout]) < 2 || differs(b, layout, with, without, t, p));
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
		rc = ztuning_set(&without, b->bridge, "bridge", err);
	for (int c = 1; c < b->ncandidates && rc == 0; c++) {
		struct ztuning with;
		rc = ztuning_init(&with, err);
		if (rc == 0)
			rc = ztuning_set(&with, b->bridge, "bridge", err);
		if (rc == 0)
			rc = ztuning_set(&with, b->candidate[c].rules, "--try", err);
		if (rc == 0)
			want(b, layout, c, &with, &without);
		ztuning_free(&with);
	}
	ztuning_free(&without);
	return rc;
}

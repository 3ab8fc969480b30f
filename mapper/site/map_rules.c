/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads demands, and tells whether they can be met, by a flow from groups of ranks to classes of nodes. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/site/map_rules.h"

#define GROUPS (1u << MAP_FEATURES_MAX) /* groups of ranks, by their needs */

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory");
}

/* Parses "0-3,8" and calls set for each rank. */
static int ranks_parse(const char *text, uint32_t ranks, const char *what, void (*set)(void *, uint32_t), void *arg,
	struct zerr *err)
{
	const char *p = text;

	do {
		unsigned long first, last;
		char *end;

		if (!isdigit((unsigned char)*p))
			return zerr_set(err, -EINVAL, "%s: '%.64s' are no ranks, as 0-3,8", what, text);
		first = last = strtoul(p, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtoul(end + 1, &end, 10);
		if ((*end && *end != ',') || last < first || (*end == ',' && !end[1]))
			return zerr_set(err, -EINVAL, "%s: '%.64s' are no ranks, as 0-3,8", what, text);
		if (last >= ranks)
			return zerr_set(err, -EINVAL, "%s: rank %lu: the graph has ranks 0 to %u", what, last,
				ranks - 1);
		for (unsigned long r = first; r <= last; r++)
			set(arg, (uint32_t)r);
		p = end + (*end == ',');
	} while (*p);
	return 0;
}

/* --- needs --- */

struct setting {
	struct map_rules *rules;
	uint32_t value, clash; /* clash: a rank that was pinned elsewhere, or MAP_NONE */
};

static void need_set(void *arg, uint32_t rank)
{
	struct setting *s = arg;

	s->rules->need[rank] |= (uint8_t)(1u << s->value);
}

static int feature_find(struct map_rules *r, const char *name, size_t len, uint32_t *f, struct zerr *err)
{
	for (*f = 0; *f < r->nfeatures; (*f)++)
		if (strlen(r->features[*f]) == len && !strncasecmp(r->features[*f], name, len))
			return 0;
	if (r->nfeatures == MAP_FEATURES_MAX)
		return zerr_set(err, -EINVAL, "--need: more than %d features", MAP_FEATURES_MAX);
	r->features[r->nfeatures] = strndup(name, len);
	return r->features[r->nfeatures++] ? 0 : no_memory(err);
}

static int need_parse(struct map_rules *r, const char *text, struct zerr *err)
{
	const char *colon = strchr(text, ':');
	struct setting s = {.rules = r};
	int rc;

	if (!colon || colon == text)
		return zerr_set(err, -EINVAL, "--need: '%.64s' is not FEATURE:RANKS, as gpu:0-15", text);
	rc = feature_find(r, text, (size_t)(colon - text), &s.value, err);
	return rc ? rc : ranks_parse(colon + 1, r->n, "--need", need_set, &s, err);
}

int map_rules_create(struct map_rules *r, uint32_t ranks, const struct map_wishes *w, struct zerr *err)
{
	int rc = 0;

	*r = (struct map_rules){.n = ranks};
	r->need = calloc(ranks, sizeof(*r->need));
	r->pin = malloc(ranks * sizeof(*r->pin));
	if (!r->need || !r->pin)
		rc = no_memory(err);
	else
		memset(r->pin, 0xff, ranks * sizeof(*r->pin));
	for (unsigned i = 0; i < w->nneed && !rc; i++)
		rc = need_parse(r, w->need[i], err);
	if (rc)
		map_rules_free(r);
	return rc;
}

void map_rules_free(struct map_rules *r)
{
	for (uint32_t f = 0; f < r->nfeatures; f++)
		free(r->features[f]);
	free(r->need);
	free(r->pin);
	*r = (struct map_rules){0};
}

/* --- pins and forbidden nodes --- */

static void pin_set(void *arg, uint32_t rank)
{
	struct setting *s = arg;

	if (s->rules->pin[rank] != MAP_NONE && s->rules->pin[rank] != s->value)
		s->clash = rank;
	s->rules->pin[rank] = s->value;
}

static int pin_parse(struct map_rules *r, const struct map_site *site, const char *text, struct zerr *err)
{
	const char *colon = strchr(text, ':');
	struct setting s = {.rules = r, .clash = MAP_NONE};
	char *ranks;
	int rc;

	if (!colon || colon == text || !colon[1])
		return zerr_set(err, -EINVAL, "--pin: '%.64s' is not RANKS:NODE, as 0-3:node001", text);
	s.value = map_site_find(site, colon + 1);
	if (s.value == MAP_NONE)
		return zerr_set(err, -EINVAL, "--pin: node %.64s is not in %s", colon + 1, site->hosts->path);
	ranks = strndup(text, (size_t)(colon - text));
	if (!ranks)
		return no_memory(err);
	rc = ranks_parse(ranks, r->n, "--pin", pin_set, &s, err);
	free(ranks);
	if (!rc && s.clash != MAP_NONE)
		rc = zerr_set(err, -EINVAL, "--pin: rank %u on two nodes", s.clash);
	return rc;
}

static int forbid_parse(struct map_site *site, const char *text, struct zerr *err)
{
	char *copy = strdup(text), *save, *word;
	int rc = copy ? 0 : no_memory(err);

	for (word = rc ? NULL : strtok_r(copy, ",", &save); word && !rc; word = strtok_r(NULL, ",", &save)) {
		uint32_t node = map_site_find(site, word);

		if (node == MAP_NONE)
			rc = zerr_set(err, -EINVAL, "--forbid: node %.64s is not in %s", word, site->hosts->path);
		else
			site->nodes[node].slots = 0;
	}
	if (!rc && !text[strspn(text, ",")])
		rc = zerr_set(err, -EINVAL, "--forbid: '%.64s' names no node", text);
	free(copy);
	return rc;
}

/* Checks a pinned rank on its node. load, given: the ranks on the node so far, and those that need each feature. */
static int pin_check(const struct map_rules *r, const struct map_site *s, uint32_t rank, uint32_t *load,
	uint32_t *given, struct zerr *err)
{
	const struct map_node *node = &s->nodes[r->pin[rank]];

	for (uint32_t f = 0; f < s->nfeatures; f++) {
		if (!(r->need[rank] >> f & 1))
			continue;
		if (!node->limit[f])
			return zerr_set(err, -ENOSPC, "rank %u is pinned to %s and needs %s, which %s does not have",
				rank, node->name, s->features[f], node->name);
		if (++given[f] > node->limit[f])
			return zerr_set(err, -ENOSPC,
				"rank %u is pinned to %s and needs %s, but %s has that for %u of its ranks", rank,
				node->name, s->features[f], node->name, node->limit[f]);
	}
	if (!node->slots)
		return zerr_set(err, -ENOSPC, "rank %u is pinned to %s, which takes no ranks%s", rank, node->name,
			node->zipper ? " (cores of zipper nodes are kept for zipperd: --reserve)" : "");
	if (++*load > node->slots)
		return zerr_set(err, -ENOSPC, "more ranks are pinned to %s than its %u slots", node->name, node->slots);
	return 0;
}

/* Checks pinned ranks: is there room, and has the node what they need? */
static int pins_check(const struct map_rules *r, const struct map_site *s, struct zerr *err)
{
	uint32_t *load = calloc(s->nnodes, sizeof(*load));
	uint32_t(*given)[MAP_FEATURES_MAX] = calloc(s->nnodes, sizeof(*given));
	int rc = load && given ? 0 : no_memory(err);

	for (uint32_t rank = 0; rank < r->n && !rc; rank++)
		if (r->pin[rank] != MAP_NONE)
			rc = pin_check(r, s, rank, &load[r->pin[rank]], given[r->pin[rank]], err);
	free(load);
	free(given);
	return rc;
}

/* --- is there a place for all? --- */

struct flow {
	uint32_t want[GROUPS]; /* ranks of each group that have no place yet */
	uint32_t room[MAP_CLASSES_MAX];
	uint32_t limit[MAP_CLASSES_MAX][MAP_FEATURES_MAX];
	uint32_t placed[GROUPS][MAP_CLASSES_MAX];
};

static uint32_t room_for(const struct flow *f, uint32_t features, uint32_t group, uint32_t class)
{
	uint32_t room = f->room[class];

	for (uint32_t i = 0; i < features; i++)
		if (group >> i & 1 && f->limit[class][i] < room)
			room = f->limit[class][i];
	return room;
}

static void flow_move(struct flow *f, uint32_t features, uint32_t group, uint32_t class, int32_t n)
{
	f->placed[group][class] += (uint32_t)n;
	f->room[class] -= (uint32_t)n;
	f->want[group] -= (uint32_t)n;
	for (uint32_t i = 0; i < features; i++)
		if (group >> i & 1)
			f->limit[class][i] -= (uint32_t)n;
}

/* Places as many ranks of a group as it can: first directly, then by moving ranks of other groups away, one at a time.
 */
static void group_place(struct flow *f, const struct map_site *s, uint32_t group)
{
	bool moved = true;

	for (uint32_t c = 0; c < s->nclasses; c++) {
		uint32_t room = group & ~s->classes[c].features ? 0 : room_for(f, s->nfeatures, group, c);

		flow_move(f, s->nfeatures, group, c, (int32_t)(room < f->want[group] ? room : f->want[group]));
	}
	while (f->want[group] && moved) {
		moved = false;
		for (uint32_t c = 0; c < s->nclasses && !moved; c++) {
			if (group & ~s->classes[c].features)
				continue;
			for (uint32_t g = 0; g < GROUPS && !moved; g++)
				for (uint32_t d = 0; d < s->nclasses && !moved && f->placed[g][c]; d++) {
					if (d == c || g & ~s->classes[d].features || !room_for(f, s->nfeatures, g, d))
						continue;
					flow_move(f, s->nfeatures, g, c, -1);
					if (room_for(f, s->nfeatures, group, c)) {
						flow_move(f, s->nfeatures, g, d, 1);
						flow_move(f, s->nfeatures, group, c, 1);
						moved = true;
					} else {
						flow_move(f, s->nfeatures, g, c, 1);
					}
				}
		}
	}
}

static int need_refuse(const struct map_rules *r, const struct map_site *s, uint32_t group, uint32_t missing,
	struct zerr *err)
{
	char names[160] = "";
	uint32_t ranks = 0, places = 0;

	for (uint32_t f = 0; f < s->nfeatures; f++)
		if (group >> f & 1)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%.32s", *names ? " and " : "",
				s->features[f]);
	for (uint32_t rank = 0; rank < r->n; rank++)
		ranks += (r->need[rank] & group) == group;
	for (uint32_t c = 0; c < s->nclasses; c++) {
		uint32_t room = s->classes[c].slots;

		for (uint32_t f = 0; f < s->nfeatures; f++)
			if (group >> f & 1 && s->classes[c].limit[f] < room)
				room = s->classes[c].limit[f];
		places += group & ~s->classes[c].features ? 0 : room;
	}
	if (places < ranks)
		return zerr_set(err, -ENOSPC, "%u ranks need %s, but the nodes that have it take %u of them", ranks,
			names, places);
	return zerr_set(err, -ENOSPC, "%u of the ranks that need %s find no place beside the others", missing, names);
}

static int places_check(const struct map_rules *r, const struct map_site *s, struct zerr *err)
{
	struct flow *f;
	int rc = 0;

	if (s->slots < r->n)
		return zerr_set(err, -ENOSPC, "%u ranks, but only %u slots", r->n, s->slots);
	f = calloc(1, sizeof(*f));
	if (!f)
		return no_memory(err);
	for (uint32_t c = 0; c < s->nclasses; c++) {
		f->room[c] = s->classes[c].slots;
		memcpy(f->limit[c], s->classes[c].limit, sizeof(f->limit[c]));
	}
	for (uint32_t rank = 0; rank < r->n; rank++) {
		f->want[r->need[rank]]++;
		if (r->pin[rank] == MAP_NONE)
			continue;
		/* a pinned rank is not counted as placed, so that no move takes it away */
		flow_move(f, s->nfeatures, r->need[rank], s->nodes[r->pin[rank]].class, 1);
		f->placed[r->need[rank]][s->nodes[r->pin[rank]].class]--;
	}
	/* groups with most needs first: a superset has more bits */
	for (int bits = MAP_FEATURES_MAX; bits >= 0 && !rc; bits--)
		for (uint32_t g = 0; g < GROUPS && !rc; g++)
			if (__builtin_popcount(g) == bits && f->want[g]) {
				group_place(f, s, g);
				if (f->want[g])
					rc = need_refuse(r, s, g, f->want[g], err);
			}
	free(f);
	return rc;
}

int map_rules_check(const struct map_rules *r, struct map_site *s, struct zerr *err)
{
	int rc = map_site_classify(s, err);

	if (!rc)
		rc = pins_check(r, s, err);
	return rc ? rc : places_check(r, s, err);
}

/* Leaves out the slowest nodes as long as the other nodes have room for all ranks. A program that waits for its slowest
 * rank gains nothing from slow nodes. */
int map_rules_hasten(const struct map_rules *r, struct map_site *s, struct zerr *err)
{
	for (;;) {
		double slowest = 0, fastest = 0;
		uint32_t *old;
		int rc;

		for (uint32_t i = 0; i < s->nnodes; i++) {
			if (!s->nodes[i].slots)
				continue;
			slowest = !(slowest > 0) || s->nodes[i].speed < slowest ? s->nodes[i].speed : slowest;
			fastest = s->nodes[i].speed > fastest ? s->nodes[i].speed : fastest;
		}
		if (!(slowest < fastest))
			return 0;
		old = malloc(s->nnodes * sizeof(*old));
		if (!old)
			return no_memory(err);
		for (uint32_t i = 0; i < s->nnodes; i++) {
			old[i] = s->nodes[i].slots;
			s->nodes[i].slots = s->nodes[i].speed > slowest ? old[i] : 0;
		}
		rc = map_rules_check(r, s, NULL);
		for (uint32_t i = 0; i < s->nnodes && rc; i++)
			s->nodes[i].slots = old[i];
		free(old);
		if (rc)
			return map_site_classify(s, err);
	}
}

int map_rules_apply(struct map_rules *r, struct map_site *s, const struct map_wishes *w, struct zerr *err)
{
	int rc = 0;

	for (unsigned i = 0; i < w->nforbid && !rc; i++)
		rc = forbid_parse(s, w->forbid[i], err);
	if (!rc)
		rc = map_site_classify(s, err);
	for (unsigned i = 0; i < w->npin && !rc; i++)
		rc = pin_parse(r, s, w->pin[i], err);
	return rc ? rc : map_rules_check(r, s, err);
}

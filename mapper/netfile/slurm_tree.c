/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a network of Slurm's switches or blocks, see slurm_tree.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hosts/hostlist.h"
#include "mapper/netfile/slurm_tree.h"

#define SWITCHES_MAX (1u << 20)
#define CHILDREN_MAX (1u << 24) /* of all switches together */

/* The state of making a network. */
struct laying {
	struct slurm_tree *t;
	const char *path;
	const struct slurm_wishes *wishes;
	struct names names;	 /* of the switches, with their numbers in t->list */
	uint32_t *child, *first; /* those below switch s: child[first[s]] to child[first[s + 1] - 1]; first: [n + 1] */
	size_t children, room;
	uint32_t *parents; /* [n]: the number of switches above that are in */
	uint32_t *order;   /* [n]: each switch behind those above it; at first the last one found above each switch */
	bool *in;	   /* [n]: belongs to the network */
	double *up;	   /* [n]: bandwidth of all links to the switches above */
	uint32_t *router;  /* [n] */
};

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory");
}

static int place(const struct laying *y, uint32_t s, int rc, struct zerr *err)
{
	return zerr_prefix(err, rc, "%s:%u", y->path, y->t->list[s].line);
}

/* --- the list --- */

void slurm_tree_free(struct slurm_tree *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		free(t->list[i].name);
		free(t->list[i].switches);
		free(t->list[i].nodes);
	}
	free(t->list);
	*t = (struct slurm_tree){0};
}

static int switch_copy(struct slurm_switch *to, const struct slurm_switch *from)
{
	*to = *from;
	to->name = strdup(from->name);
	to->switches = from->switches ? strdup(from->switches) : NULL;
	to->nodes = from->nodes ? strdup(from->nodes) : NULL;
	if (to->name && !to->switches == !from->switches && !to->nodes == !from->nodes)
		return 0;
	free(to->name);
	free(to->switches);
	free(to->nodes);
	return -ENOMEM;
}

/* Adds a copy of a switch, unchecked. */
static int entry_add(struct slurm_tree *t, const struct slurm_switch *s, struct zerr *err)
{
	if (t->n == SWITCHES_MAX)
		return zerr_set(err, -E2BIG, "more than %u switches", SWITCHES_MAX);
	if (!(t->n & (t->n - 1))) { /* the list grows whenever its length is a power of two */
		struct slurm_switch *more = realloc(t->list, 2 * ((size_t)t->n + 1) * sizeof(*more));

		if (!more)
			return no_memory(err);
		t->list = more;
	}
	if (switch_copy(&t->list[t->n], s))
		return no_memory(err);
	t->n++;
	return 0;
}

int slurm_tree_add(struct slurm_tree *t, bool block, const struct slurm_switch *s, struct zerr *err)
{
	const char *kind = block ? "block" : "switch";

	if (!*s->name || strlen(s->name) > CABLING_NAME_MAX || strpbrk(s->name, ":=>\"; \t,[]"))
		return zerr_set(err, -EINVAL,
			"\"%.80s\" is no name of a %s: at most %d characters, none of them :=>\";,[] or a blank",
			s->name, kind, CABLING_NAME_MAX);
	if (t->n && t->blocks != block)
		return zerr_set(err, -EINVAL, "blocks and switches in one topology");
	if (!s->nodes && (block || !s->switches))
		return zerr_set(err, -EINVAL, "%s %s has %s", kind, s->name,
			block ? "no nodes" : "neither nodes nor switches below");
	t->blocks = block;
	return entry_add(t, s, err);
}

int slurm_tree_size(struct slurm_tree *t, uint64_t size, unsigned line, struct zerr *err)
{
	uint64_t before = t->sizes ? t->size[t->sizes - 1] : 0, factor = before ? size / before : 2;

	if (!size || t->sizes == SLURM_SIZES_MAX)
		return zerr_set(err, -EINVAL, "block sizes are at most %d numbers above 0", SLURM_SIZES_MAX);
	if (factor < 2 || (factor & (factor - 1)) || (before && size % before))
		return zerr_set(err, -EINVAL, "block size %llu is not %llu times 2, 4, 8 and so on",
			(unsigned long long)size, (unsigned long long)before);
	t->size[t->sizes++] = size;
	t->sizes_line = line;
	return 0;
}

/* --- blocks --- */

/* Puts a switch above others, which have the blocks from `first` to `end` - 1 below. */
static int above_add(struct slurm_tree *t, const uint32_t *below, uint32_t n, uint64_t first, uint64_t end,
	struct zerr *err)
{
	struct slurm_switch s = {.line = t->list[below[0]].line};
	char name[CABLING_NAME_MAX], *at;
	size_t len = 0;
	int rc;

	snprintf(name, sizeof(name), "blocks%llu-%llu", (unsigned long long)first, (unsigned long long)end - 1);
	for (uint32_t i = 0; i < n; i++)
		len += strlen(t->list[below[i]].name) + 1;
	s.switches = at = malloc(len);
	if (!at)
		return no_memory(err);
	for (uint32_t i = 0; i < n; i++) {
		at = stpcpy(at, t->list[below[i]].name);
		*at++ = i + 1 < n ? ',' : '\0';
	}
	s.name = name;
	rc = entry_add(t, &s, err);
	free(s.switches);
	return rc;
}

/* Puts a switch above each group of those in level[n] that have `span` blocks below; each has `below`, and the last one
 * what is left. One that is alone in its group stays as it is. level becomes the list of the groups. */
static int level_join(struct slurm_tree *t, uint32_t *level, uint32_t *n, uint64_t below, uint64_t span,
	uint32_t blocks, struct zerr *err)
{
	uint64_t group = span / below;
	uint32_t groups = 0;
	int rc = 0;

	for (uint64_t i = 0; i < *n && !rc; i += group) {
		uint32_t members = *n - i < group ? (uint32_t)(*n - i) : (uint32_t)group;
		uint64_t end = i * below + span < blocks ? i * below + span : blocks;

		if (members > 1)
			rc = above_add(t, level + i, members, i * below, end, err);
		level[groups++] = members > 1 ? t->n - 1 : level[i];
	}
	*n = groups;
	return rc;
}

/* Makes switches above the blocks: one for each group of blocks of each larger size, and one above all. */
static int blocks_join(struct slurm_tree *t, struct zerr *err)
{
	uint32_t blocks = t->n, n = blocks, *level = malloc(n * sizeof(*level));
	uint64_t below = 1;
	int rc = level ? 0 : no_memory(err);

	for (uint32_t i = 0; i < n && !rc; i++)
		level[i] = i;
	for (unsigned k = 1; k < t->sizes && n > 1 && !rc; k++) {
		uint64_t span = t->size[k] / t->size[0];

		rc = level_join(t, level, &n, below, span, blocks, err);
		below = span;
	}
	if (!rc && n > 1)
		rc = above_add(t, level, n, 0, blocks, err);
	free(level);
	return rc;
}

/* --- what is below what --- */

static int child_add(struct laying *y, uint32_t s, const char *name, struct zerr *err)
{
	uint32_t child = names_find(&y->names, name);

	if (child == NAMES_NONE)
		return zerr_set(err, -EINVAL, "there is no switch %.64s, which is to be below %s", name,
			y->t->list[s].name);
	if (y->order[child] == s)
		return zerr_set(err, -EINVAL, "switch %s is below %s twice", name, y->t->list[s].name);
	y->order[child] = s;
	if (y->children == CHILDREN_MAX)
		return zerr_set(err, -E2BIG, "a network of that size is out of range");
	if (y->children == y->room) {
		size_t room = y->room ? 2 * y->room : 256;
		uint32_t *more = realloc(y->child, room * sizeof(*more));

		if (!more)
			return no_memory(err);
		y->child = more;
		y->room = room;
	}
	y->child[y->children++] = child;
	return 0;
}

static int children_find(struct laying *y, struct zerr *err)
{
	int rc = 0;

	for (uint32_t s = 0; s < y->t->n && !rc; s++) {
		rc = names_add(&y->names, y->t->list[s].name, NULL);
		if (rc == -EEXIST)
			rc = zerr_set(err, -EINVAL, "a second %s %s", y->t->blocks ? "block" : "switch",
				y->t->list[s].name);
		else if (rc)
			rc = no_memory(err);
		if (rc)
			return place(y, s, rc, err);
	}
	for (uint32_t s = 0; s < y->t->n; s++) {
		struct zhostlist below = {0};

		y->first[s] = (uint32_t)y->children;
		if (y->t->list[s].switches)
			rc = zhostlist_add_all(&below, y->t->list[s].switches, err);
		if (!rc && !below.n && y->t->list[s].switches)
			rc = zerr_set(err, -EINVAL, "the list of switches below %s is empty", y->t->list[s].name);
		for (int i = 0; i < below.n && !rc; i++)
			rc = child_add(y, s, below.names[i], err);
		zhostlist_free(&below);
		if (rc)
			return place(y, s, rc, err);
	}
	y->first[y->t->n] = (uint32_t)y->children;
	return 0;
}

/* Names a switch that is below itself. Each switch that has no place in the order has one above it without a place. */
static int cycle_complain(struct laying *y, const uint32_t *pending, struct zerr *err)
{
	uint32_t *above = y->order, s = 0; /* the order is of no use any more */

	for (uint32_t i = 0; i < y->t->n; i++)
		for (uint32_t k = y->first[i]; k < y->first[i + 1] && pending[i]; k++)
			above[y->child[k]] = i;
	while (!pending[s])
		s++;
	for (uint32_t i = 0; i < y->t->n; i++)
		s = above[s];
	return place(y, s, zerr_set(err, -EINVAL, "switch %s is below itself", y->t->list[s].name), err);
}

/* Orders the switches from above to below. */
static int order_find(struct laying *y, struct zerr *err)
{
	uint32_t n = y->t->n, count = 0, *pending = calloc(n, sizeof(*pending));
	int rc = 0;

	if (!pending)
		return no_memory(err);
	for (size_t i = 0; i < y->children; i++)
		pending[y->child[i]]++;
	for (uint32_t s = 0; s < n; s++)
		if (!pending[s])
			y->order[count++] = s;
	for (uint32_t at = 0; at < count; at++)
		for (uint32_t k = y->first[y->order[at]]; k < y->first[y->order[at] + 1]; k++)
			if (!--pending[y->child[k]])
				y->order[count++] = y->child[k];
	if (count < n)
		rc = cycle_complain(y, pending, err);
	free(pending);
	return rc;
}

/* Finds the switches that belong to the network: all, or the root and those below it. */
static int members_find(struct laying *y, struct zerr *err)
{
	const char *root = y->wishes->root;
	uint32_t at = root ? names_find(&y->names, root) : 0;

	if (at == NAMES_NONE)
		return zerr_set(err, -EINVAL, "%s: there is no switch %.64s", y->path, root);
	for (uint32_t s = 0; s < y->t->n; s++)
		y->in[s] = !root || s == at;
	for (uint32_t i = 0; i < y->t->n; i++) {
		uint32_t s = y->order[i];

		for (uint32_t k = y->first[s]; k < y->first[s + 1] && y->in[s]; k++) {
			y->in[y->child[k]] = true;
			y->parents[y->child[k]]++;
		}
	}
	return 0;
}

/* --- the network --- */

static int nodes_add(struct laying *y, struct cabling *c, uint32_t s, struct zerr *err)
{
	const struct slurm_switch *from = &y->t->list[s];
	struct zhostlist list = {0};
	int rc = zhostlist_add_all(&list, from->nodes, err);

	if (!rc && !list.n)
		rc = zerr_set(err, -EINVAL, "the list of nodes of %s is empty", from->name);
	for (int i = 0; i < list.n && !rc; i++)
		rc = cabling_add_node(c, list.names[i], y->router[s], err);
	if (!rc && y->t->sizes && (uint64_t)list.n < y->t->size[0])
		rc = zerr_set(err, -EINVAL, "block %s has %d nodes, less than the block size %llu", from->name, list.n,
			(unsigned long long)y->t->size[0]);
	zhostlist_free(&list);
	return rc ? place(y, s, rc, err) : 0;
}

static int routers_add(struct laying *y, struct cabling *c, struct zerr *err)
{
	int rc = 0;

	for (uint32_t s = 0; s < y->t->n && !rc; s++) {
		if (!y->in[s])
			continue;
		rc = cabling_add_router(c, y->t->list[s].name, 0, &y->router[s], err);
		if (rc)
			rc = place(y, s, rc, err);
		else if (y->t->list[s].nodes)
			rc = nodes_add(y, c, s, err);
	}
	return rc;
}

static int links_add(struct laying *y, struct cabling *c, struct zerr *err)
{
	int rc = 0;

	for (uint32_t i = y->t->n; i-- > 0;) {
		uint32_t s = y->order[i];

		if (!y->in[s])
			continue;
		y->up[s] = c->count[y->router[s]] * y->wishes->bandwidth / y->wishes->taper;
		for (uint32_t k = y->first[s]; k < y->first[s + 1]; k++)
			y->up[s] += y->up[y->child[k]] / y->parents[y->child[k]];
	}
	for (uint32_t s = 0; s < y->t->n; s++)
		for (uint32_t k = y->first[s]; k < y->first[s + 1] && y->in[s] && !rc; k++) {
			uint32_t below = y->child[k];
			double told = y->t->list[s].speed * y->wishes->speed;
			struct cabling_link link = {.from = y->router[below], .to = y->router[s], .cables = 1};

			link.bandwidth = told > 0 ? told : y->up[below] / y->parents[below];
			rc = cabling_add_link(c, &link, err);
			if (rc)
				rc = place(y, s, rc, err);
		}
	return rc;
}

static int laying_create(struct laying *y, struct zerr *err)
{
	size_t n = y->t->n;

	y->first = malloc((n + 1) * sizeof(*y->first));
	y->parents = calloc(n, sizeof(*y->parents));
	y->order = malloc(n * sizeof(*y->order));
	y->in = calloc(n, sizeof(*y->in));
	y->up = calloc(n, sizeof(*y->up));
	y->router = calloc(n, sizeof(*y->router));
	if (!y->first || !y->parents || !y->order || !y->in || !y->up || !y->router)
		return no_memory(err);
	memset(y->order, 0xff, n * sizeof(*y->order));
	return 0;
}

int slurm_tree_lay(struct slurm_tree *t, const char *path, const struct slurm_wishes *wishes, struct cabling *c,
	struct zerr *err)
{
	struct laying y = {.t = t, .path = path, .wishes = wishes};
	int rc = 0;

	if (!t->n)
		return zerr_set(err, -EINVAL, "%s: no switch and no block in it", path);
	if (t->sizes && !t->blocks)
		return zerr_set(err, -EINVAL, "%s:%u: block sizes without a block", path, t->sizes_line);
	if (t->blocks)
		rc = blocks_join(t, err);
	if (!rc)
		rc = laying_create(&y, err);
	if (!rc)
		rc = children_find(&y, err);
	if (!rc)
		rc = order_find(&y, err);
	if (!rc)
		rc = members_find(&y, err);
	if (!rc)
		rc = routers_add(&y, c, err);
	if (!rc)
		rc = links_add(&y, c, err);
	names_free(&y.names);
	free(y.child);
	free(y.first);
	free(y.parents);
	free(y.order);
	free(y.in);
	free(y.up);
	free(y.router);
	return rc;
}

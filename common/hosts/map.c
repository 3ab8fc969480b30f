/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads placement maps and finds their nodes in the hostfile, see map.h. */
#include "common/hosts/map.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/hash.h"
#include "common/base/lines.h"
#include "common/base/ranges.h"
#include "common/config/nearest.h"
#include "common/control/ctl.h"
#include "common/hosts/hostfile_find.h"
#include "common/hosts/hostlist.h"

#define NAME_CHARS_MAX 253   /* of a node, as in the hostfile */
#define HINT_NODES_MAX 10000 /* among more names no similar one is looked for */

static const char blanks[] = " \t\r\n\v\f";

/* State of a reading: the map may still grow, and names are found by hash. */
struct reading {
	struct zmap *map;
	uint32_t cap_ranks, cap_names;
	uint32_t *slots; /* open addressing: index into names + 1; 0: free */
	uint32_t nslots; /* power of two */
	uint32_t placed;
};

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "out of memory");
}

static uint32_t *find_slot(const struct reading *r, const char *text)
{
	uint32_t at = zhash32(ZHASH32, text, strlen(text)) & (r->nslots - 1);
	while (r->slots[at] && strcmp(r->map->names[r->slots[at] - 1], text) != 0)
		at = (at + 1) & (r->nslots - 1);
	return &r->slots[at];
}

/* Makes room for twice the names, and slots for all of them: at most half of the slots are used. */
static int grow_names(struct reading *r)
{
	uint32_t cap = r->cap_names ? 2 * r->cap_names : 16;
	char **names = realloc(r->map->names, cap * sizeof(*names));
	uint32_t *slots = names ? calloc(2 * (size_t)cap, sizeof(*slots)) : NULL;
	if (names)
		r->map->names = names;
	if (!slots)
		return -ENOMEM;
	free(r->slots);
	r->slots = slots;
	r->nslots = 2 * cap;
	r->cap_names = cap;
	for (uint32_t i = 0; i < r->map->nnames; i++)
		*find_slot(r, names[i]) = i + 1;
	return 0;
}

/* The index of this text among the names. */
static int intern(struct reading *r, const char *text, uint32_t *out)
{
	if (r->map->nnames == r->cap_names && grow_names(r) != 0)
		return -ENOMEM;
	uint32_t *slot = find_slot(r, text);
	if (*slot == 0) {
		char *copy = strdup(text);
		if (!copy)
			return -ENOMEM;
		r->map->names[r->map->nnames] = copy;
		*slot = ++r->map->nnames;
	}
	*out = *slot - 1;
	return 0;
}

static int grow_ranks(struct reading *r, uint32_t last)
{
	uint32_t cap = r->cap_ranks ? r->cap_ranks : 64;
	while (cap <= last)
		cap *= 2;
	if (cap != r->cap_ranks) {
		struct zmap_place *more = realloc(r->map->places, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + r->cap_ranks, 0, (cap - r->cap_ranks) * sizeof(*more)); /* line 0: not placed */
		r->map->places = more;
		r->cap_ranks = cap;
	}
	if (last >= r->map->nranks)
		r->map->nranks = last + 1;
	return 0;
}

int zmap_format_cpus(const char *text, char *buf, size_t cap)
{
	uint32_t first = 0, last = 0;
	size_t len = 0;
	bool more = true;
	for (const char *p = text; more && zranges_scan(&p, ZRANGES_CPU_MAX, &first, &last, &more);)
		for (uint32_t cpu = first; cpu <= last; cpu++)
			len += (size_t)snprintf(len < cap ? buf + len : NULL, len < cap ? cap - len : 0, "%s%u",
				len ? "+" : "", cpu);
	return (int)len;
}

/* --- lines --- */

static int check_name(const char *what, const char *name, size_t max, const char *extra, struct zerr *err)
{
	bool good = *name && strlen(name) <= max;
	for (const char *p = name; *p && good; p++)
		good = isalnum((unsigned char)*p) || strchr(extra, *p);
	return good ? 0 : zerr_set(err, -EINVAL, "'%.64s' is no name of a %s", name, what);
}

static int place_rank(struct reading *r, uint32_t v, const struct zmap_place *place, struct zerr *err)
{
	if (r->map->places[v].line)
		return zerr_set(err, -EEXIST, "rank %u was already placed in line %u", v, r->map->places[v].line);
	r->map->places[v] = *place;
	r->placed++;
	return 0;
}

/* The number of ranks in the text, or a negative errno. */
static int64_t count_ranks(const char *ranks, struct zerr *err)
{
	uint32_t first, last;
	int64_t n = 0;
	bool more = true;
	for (const char *p = ranks; more; n += last - first + 1)
		if (!zranges_scan(&p, ZCTL_RANKS_MAX - 1, &first, &last, &more))
			return zerr_set(err, -EINVAL, "'%.64s' are no ranks: numbers to %u and ranges, as 0-3,8", ranks,
				ZCTL_RANKS_MAX - 1);
	return n;
}

/* Places as many ranks on each of the nodes, in order. place: all but the node. */
static int place_ranks(struct reading *r, const char *ranks, const uint32_t *nodes, int nnodes, struct zmap_place place,
	struct zerr *err)
{
	uint32_t first, last;
	bool more = true;
	int64_t n = count_ranks(ranks, err), done = 0;
	int rc = n < 0 ? (int)n : 0;
	if (rc == 0 && n % nnodes != 0)
		return zerr_set(err, -EINVAL, "%lld ranks cannot be divided by %d nodes", (long long)n, nnodes);
	for (const char *p = ranks; rc == 0 && more;) {
		if (!zranges_scan(&p, ZCTL_RANKS_MAX - 1, &first, &last, &more) || grow_ranks(r, last) != 0)
			return no_memory(err);
		for (uint32_t v = first; rc == 0 && v <= last; v++) {
			place.node = nodes[done++ / (n / nnodes)];
			rc = place_rank(r, v, &place, err);
		}
	}
	return rc;
}

/* The indices of the nodes' names; *out is the caller's to free. Their number, or a negative errno. */
static int take_nodes(struct reading *r, const char *text, uint32_t **out, struct zerr *err)
{
	struct zhostlist list = {0};
	char *copy = strdup(text), *rest = copy;
	int rc = copy ? 0 : no_memory(err), n = 0;
	for (char *element; rc == 0 && (element = zhostlist_next(&rest));)
		rc = zhostlist_add(&list, element, err);
	if (rc == 0 && list.n == 0)
		rc = check_name("node", "", 0, "", err);
	uint32_t *nodes = rc == 0 ? malloc((size_t)list.n * sizeof(*nodes)) : NULL;
	if (rc == 0 && !nodes)
		rc = no_memory(err);
	for (; rc == 0 && n < list.n; n++) {
		rc = check_name("node", list.names[n], NAME_CHARS_MAX, "_.-@", err);
		if (rc == 0 && intern(r, list.names[n], &nodes[n]) != 0)
			rc = no_memory(err);
	}
	zhostlist_free(&list);
	free(copy);
	*out = nodes;
	return rc == 0 ? n : rc;
}

static int keep_cores(struct reading *r, const char *node, const char *cpus, struct zerr *err)
{
	struct zmap *map = r->map;
	if (zmap_find_kept(map, node))
		return zerr_set(err, -EEXIST, "cores of %.64s have been kept for zipperd already", node);
	struct zmap_kept *more = realloc(map->kept, (map->nkept + 1) * sizeof(*more));
	if (!more)
		return no_memory(err);
	map->kept = more;
	if (intern(r, node, &more[map->nkept].node) != 0 || intern(r, cpus, &more[map->nkept].cpus) != 0)
		return no_memory(err);
	map->nkept++;
	return 0;
}

/* Reads the text behind "#ZIP ": "NODE: cores CPUS are kept for zipperd[, near ...]". All other texts are not for this
 * reader. */
static int parse_note(struct reading *r, char *text, struct zerr *err)
{
	char *node = strsep(&text, ":"), *cpus;
	if (!text || strncmp(text, " cores ", 7) != 0)
		return 0;
	text += 7;
	cpus = strsep(&text, " ");
	if (!text || strncmp(text, "are kept for zipperd", 20) != 0)
		return 0;
	int rc = check_name("node", node, NAME_CHARS_MAX, "_.-@", err);
	if (rc == 0)
		rc = zranges_check_cpus(cpus, err);
	return rc == 0 ? keep_cores(r, node, cpus, err) : rc;
}

static int parse_line(void *arg, char *line, int number, struct zerr *err)
{
	struct reading *r = arg;
	if (strncmp(line, "#ZIP ", 5) == 0)
		return parse_note(r, line + 5, err);
	char *comment = strchr(line, '#'), *rest = NULL;
	struct zmap_place place = {.cluster = ZMAP_NONE, .cpus = ZMAP_NONE, .line = (uint32_t)number};
	if (comment)
		*comment = '\0';
	char *ranks = strtok_r(line, blanks, &rest);
	if (!ranks)
		return 0;
	char *node = strtok_r(NULL, blanks, &rest);
	char *cluster = node ? strtok_r(NULL, blanks, &rest) : NULL;
	char *cpus = cluster ? strtok_r(NULL, blanks, &rest) : NULL;
	char *extra = cpus ? strtok_r(NULL, blanks, &rest) : NULL;
	if (!node)
		return zerr_set(err, -EINVAL, "ranks '%.64s' without a node", ranks);
	if (extra)
		return zerr_set(err, -EINVAL, "'%.64s' is too much: RANKS NODE [CLUSTER [CPUS]]", extra);
	int rc = 0;
	if (cluster && strcmp(cluster, "-") == 0)
		cluster = NULL;
	if (cluster)
		rc = check_name("cluster", cluster, ZCTL_NAME_MAX, "_.-", err);
	if (rc == 0 && cpus && strcmp(cpus, "-") == 0)
		cpus = NULL;
	if (rc == 0 && cpus)
		rc = zranges_check_cpus(cpus, err);
	if (rc != 0)
		return rc;
	if ((cluster && intern(r, cluster, &place.cluster) != 0) || (cpus && intern(r, cpus, &place.cpus) != 0))
		return no_memory(err);
	uint32_t *nodes = NULL;
	int nnodes = take_nodes(r, node, &nodes, err);
	rc = nnodes < 0 ? nnodes : place_ranks(r, ranks, nodes, nnodes, place, err);
	free(nodes);
	return rc;
}

static int check_whole(const struct reading *r, struct zerr *err)
{
	const struct zmap *map = r->map;
	if (map->nranks == 0)
		return zerr_set(err, -EINVAL, "%s: no rank in it", map->path);
	if (r->placed == map->nranks)
		return 0;
	uint32_t v = 0;
	while (map->places[v].line)
		v++;
	return zerr_set(err, -EINVAL, "%s: rank %u is missing; there are ranks up to %u, which stands in line %u",
		map->path, v, map->nranks - 1, map->places[map->nranks - 1].line);
}

int zmap_parse(struct zmap *map, FILE *stream, const char *path, struct zerr *err)
{
	struct reading r = {.map = map};
	memset(map, 0, sizeof(*map));
	map->path = strdup(path);
	if (!map->path)
		return no_memory(err);
	int rc = zlines_read(stream, path, parse_line, &r, err);
	free(r.slots);
	if (rc == 0)
		rc = check_whole(&r, err);
	if (rc < 0)
		zmap_free(map);
	return rc;
}

int zmap_read(struct zmap *map, const char *path, struct zerr *err)
{
	FILE *stream = fopen(path, "re");
	if (!stream) {
		memset(map, 0, sizeof(*map));
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	}
	int rc = zmap_parse(map, stream, path, err);
	fclose(stream);
	return rc;
}

const char *zmap_find_kept(const struct zmap *map, const char *node)
{
	for (uint32_t i = 0; i < map->nkept; i++)
		if (strcasecmp(map->names[map->kept[i].node], node) == 0)
			return map->names[map->kept[i].cpus];
	return NULL;
}

void zmap_free(struct zmap *map)
{
	for (uint32_t i = 0; i < map->nnames; i++)
		free(map->names[i]);
	free(map->names);
	free(map->kept);
	free(map->places);
	free(map->path);
	memset(map, 0, sizeof(*map));
}

/* --- the hostfile's words --- */

struct node { /* what a name of the map means */
	bool known;
	uint32_t of, host;
	int zipper;	 /* index into zippers, or -1 */
	uint32_t nranks; /* placed on it so far */
};

static int refuse_node(const struct zmap *map, const struct zmap_place *place, const struct zhostfile *file,
	struct zerr *err)
{
	struct znearest near;
	char hint[96] = "";
	int n = 0;
	znearest_init(&near, map->names[place->node]);
	for (int c = 0; c < file->nclusters; c++)
		for (int h = 0; h < file->clusters[c].nhosts && n < HINT_NODES_MAX; h++, n++)
			znearest_add(&near, file->clusters[c].hosts[h].name);
	return zerr_set(err, -ENOENT, "%s:%u: node %.64s is no host of %.64s%s", map->path, place->line,
		map->names[place->node], file->path, znearest_format(&near, hint, sizeof(hint)));
}

/* Finds the nodes of all hosts' names. There are many hosts, so the names of the map are looked up by number. */
static void find_nodes(const struct zmap *map, const struct zhostfile *file, const struct reading *index,
	struct node *nodes)
{
	for (int c = 0; c < file->nclusters; c++)
		for (int h = 0; h < file->clusters[c].nhosts; h++) {
			uint32_t at = *find_slot(index, file->clusters[c].hosts[h].name);
			if (at == 0)
				continue;
			nodes[at - 1] = (struct node){.known = true,
				.of = (uint32_t)c,
				.host = (uint32_t)h,
				.zipper = zhostfile_find_zipper(file, map->names[at - 1])};
		}
}

static bool has_port(const struct zzipper *zipper, const char *fabric)
{
	for (int p = 0; p < zipper->nports; p++)
		if (strcmp(zipper->ports[p].fabric, fabric) == 0)
			return true;
	return false;
}

/* The cluster in whose job the rank takes part. */
static int choose_cluster(const struct zmap *map, const struct zmap_place *place, const struct zhostfile *file,
	const struct node *node, uint32_t *cluster, struct zerr *err)
{
	*cluster = node->of;
	if (place->cluster == ZMAP_NONE)
		return 0;
	const char *name = map->names[place->cluster], *host = map->names[place->node];
	int found = zhostfile_find_cluster(file, name);
	if (found < 0)
		return zerr_set(err, -ENOENT, "%s:%u: there is no cluster %.64s in %.64s", map->path, place->line, name,
			file->path);
	*cluster = (uint32_t)found;
	if (*cluster == node->of || (node->zipper >= 0 && has_port(&file->zippers[node->zipper], name)))
		return 0;
	if (node->zipper >= 0)
		return zerr_set(err, -EINVAL, "%s:%u: zipper node %.64s has no port on cluster %.64s", map->path,
			place->line, host, name);
	return zerr_set(err, -EINVAL, "%s:%u: node %.64s belongs to cluster %.64s, not to %.64s", map->path,
		place->line, host, file->clusters[node->of].name, name);
}

static int resolve(const struct zmap *map, const struct zhostfile *file, bool oversubscribe, struct node *nodes,
	struct zmap_target *targets, struct zerr *err)
{
	for (uint32_t v = 0; v < map->nranks; v++) {
		const struct zmap_place *place = &map->places[v];
		struct node *node = &nodes[place->node];
		if (!node->known)
			return refuse_node(map, place, file, err);
		int slots = file->clusters[node->of].hosts[node->host].slots;
		if (++node->nranks > (uint32_t)slots && !oversubscribe)
			return zerr_set(err, -ENOSPC,
				"%s:%u: rank %u is one too many for node %.64s, which has %d slot%s", map->path,
				place->line, v, map->names[place->node], slots, slots == 1 ? "" : "s");
		targets[v].of = node->of;
		targets[v].host = node->host;
		int rc = choose_cluster(map, place, file, node, &targets[v].cluster, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int zmap_resolve(const struct zmap *map, const struct zhostfile *file, bool oversubscribe, struct zmap_target *targets,
	struct zerr *err)
{
	/* find_slot only reads the names of the map. */
	struct reading index = {.map = (struct zmap *)(uintptr_t)map, .nslots = 16};
	while (index.nslots < 2 * map->nnames)
		index.nslots *= 2;
	index.slots = calloc(index.nslots, sizeof(*index.slots));
	struct node *nodes = calloc(map->nnames + 1, sizeof(*nodes));
	int rc = -ENOMEM;
	if (!index.slots || !nodes) {
		no_memory(err);
		goto out;
	}
	for (uint32_t i = 0; i < map->nnames; i++)
		*find_slot(&index, map->names[i]) = i + 1;
	find_nodes(map, file, &index, nodes);
	rc = resolve(map, file, oversubscribe, nodes, targets, err);
out:
	free(index.slots);
	free(nodes);
	return rc;
}

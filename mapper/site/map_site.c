/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes nodes, classes and distances from a hostfile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* malloc failing inside uthash must not end the program */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "mapper/site/map_site.h"
#include "mapper/site/map_ways.h"
#include "common/hosts/hostfile_find.h"

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory");
}

/* --- hardware --- */

/* The next zipper line, beginning at `from`, of the same host as this zipper; nzippers: there is none. Each line has a
 * zipperd of its own. */
static int line_next(const struct map_site *s, int zipper, int from)
{
	while (from < s->hosts->nzippers && strcasecmp(s->hosts->zippers[from].host, s->hosts->zippers[zipper].host))
		from++;
	return from;
}

static const char *device_find(const struct map_site *s, int zipper)
{
	for (int at = zipper; at < s->hosts->nzippers; at = line_next(s, zipper, at + 1)) {
		const struct zzipper *z = &s->hosts->zippers[at];

		for (int p = 0; p < z->nports; p++)
			if (zaddr_traits(&z->ports[p].addr)->by_device)
				return z->ports[p].addr.host;
	}
	return NULL;
}

/* zipperd needs two workers for each pair of fabrics, one for each direction. */
static uint32_t keep_preset(const struct map_site *s, int zipper)
{
	uint32_t keep = 0;

	for (int at = zipper; at < s->hosts->nzippers; at = line_next(s, zipper, at + 1)) {
		uint32_t ports = (uint32_t)s->hosts->zippers[at].nports;

		keep += ports * (ports - 1);
	}
	return keep;
}

static int machine_read(struct map_site *s, struct map_machine *m, const struct map_site_opts *o, struct zerr *err)
{
	const struct znode *node = &s->hosts->nodes[m->node];
	const char *slash = strrchr(s->hosts->path, '/'), *hca = NULL;
	char *folder = slash ? strndup(s->hosts->path, (size_t)(slash - s->hosts->path) + !(slash > s->hosts->path))
			     : strdup(".");
	bool preset = node->reserve < 0 && o->reserve < 0;
	uint32_t keep = 0;
	int rc;

	if (!folder)
		return no_memory(err);
	if (m->zipper >= 0) {
		keep = node->reserve >= 0 ? (uint32_t)node->reserve
		       : o->reserve >= 0  ? (uint32_t)o->reserve
					  : keep_preset(s, m->zipper);
		hca = node->hca ? node->hca : device_find(s, m->zipper);
	}
	rc = map_hardware_read(&m->hardware, node->topology, folder, (uint32_t)node->cores, keep, preset, hca, err);
	/* a device that only an address names need not be in a synthetic topology */
	if (rc == -ENOENT && !node->hca)
		rc = map_hardware_read(&m->hardware, node->topology, folder, (uint32_t)node->cores, keep, preset, NULL,
			err);
	free(folder);
	return rc ? zerr_prefix(err, rc, "%s:%d", s->hosts->path, node->line) : 0;
}

/* Finds the machine of a node. Nodes of the same line are alike, except for zippers. */
static int machine_find(struct map_site *s, struct map_node *n, int line, int zipper, const struct map_site_opts *o,
	struct zerr *err)
{
	struct map_machine *more;

	const struct znode *node = line < 0 ? NULL : &s->hosts->nodes[line];

	n->hardware = MAP_NONE;
	if (node && !node->topology && node->cores < 0 && (node->reserve >= 0 || node->hca))
		return zerr_set(err, -EINVAL, "%s:%d: %s= says nothing without cores= or topology=", s->hosts->path,
			node->line, node->hca ? "hca" : "reserve");
	if (!node || (!node->topology && node->cores < 0))
		return 0;
	for (uint32_t i = s->nmachines; i-- > 0;)
		if (s->machines[i].node == line && s->machines[i].zipper == zipper) {
			n->hardware = i;
			return 0;
		}
	more = realloc(s->machines, (s->nmachines + 1) * sizeof(*more));
	if (!more)
		return no_memory(err);
	s->machines = more;
	more[s->nmachines] = (struct map_machine){.node = line, .zipper = zipper};
	n->hardware = s->nmachines++;
	return machine_read(s, &more[n->hardware], o, err);
}

/* Refuses --reserve where it has no effect. */
static int reserve_check(const struct map_site *s, const struct map_site_opts *o, struct zerr *err)
{
	bool known = o->reserve <= 0;

	for (uint32_t i = 0; i < s->nmachines; i++)
		known |= s->machines[i].zipper >= 0;
	return known ? 0 : zerr_set(err, -EINVAL, "--reserve: %s names the cores of no zipper node", s->hosts->path);
}

/* --- nodes --- */

static void features_fill(const struct map_site *s, struct map_node *n, int line)
{
	const struct znode *node = line >= 0 ? &s->hosts->nodes[line] : NULL;

	for (uint32_t f = 0; f < s->nfeatures; f++) {
		for (int i = 0; node && i < node->nfeatures; i++)
			if (!strcasecmp(node->features[i].name, s->features[f])) {
				int count = node->features[i].count;

				n->limit[f] = count < 0 ? UINT32_MAX : (uint32_t)count;
			}
		if (!n->limit[f] && !strcasecmp(s->features[f], "gpu") && n->hardware != MAP_NONE &&
			s->machines[n->hardware].hardware.gpus)
			n->limit[f] = UINT32_MAX;
	}
}

static int node_fill(struct map_site *s, struct map_node *n, uint32_t cluster, const struct zhost *host,
	const struct map_site_opts *o, struct zerr *err)
{
	/* of a host with several zipper lines, ranks use the ports of the first line */
	int zipper = zhostfile_find_zipper(s->hosts, host->name), rc;

	*n = (struct map_node){.name = host->name, .cluster = cluster, .line = host->line, .class = MAP_NONE};
	n->fabrics = UINT64_C(1) << cluster;
	n->listed = n->slots = (uint32_t)host->slots;
	n->speed = host->node >= 0 ? s->hosts->nodes[host->node].speed : 1;
	n->zipper = zipper >= 0;
	n->ports = n->zipper ? zhostfile_find_clusters(s->hosts, zipper) : 0;
	n->fabrics |= n->ports;
	rc = machine_find(s, n, host->node, zipper, o, err);
	if (rc)
		return rc;
	if (zipper >= 0 && n->hardware != MAP_NONE && n->slots > s->machines[n->hardware].hardware.ncores)
		n->slots = s->machines[n->hardware].hardware.ncores;
	features_fill(s, n, host->node);
	return 0;
}

struct name {
	const char *text;
	int line;
	UT_hash_handle hh;
};

/* Refuses a host on two lines: Hydra would add the slots, but a map cannot. */
static int names_check(const struct map_site *s, struct zerr *err)
{
	struct name *names = calloc(s->nnodes + 1, sizeof(*names)), *table = NULL, *old;
	int rc = names ? 0 : no_memory(err);

	for (uint32_t i = 0; i < s->nnodes && !rc; i++) {
		names[i].text = s->nodes[i].name;
		names[i].line = s->nodes[i].line;
		HASH_FIND_STR(table, names[i].text, old);
		if (old)
			rc = zerr_set(err, -EINVAL,
				"%s:%d: host %.64s stands in line %d already: a map needs one line for it",
				s->hosts->path, names[i].line, names[i].text, old->line);
		else
			HASH_ADD_KEYPTR(hh, table, names[i].text, strlen(names[i].text), &names[i]);
	}
	HASH_CLEAR(hh, table);
	free(names);
	return rc;
}

int map_site_create(struct map_site *s, const struct zhostfile *hosts, const struct map_site_opts *o, struct zerr *err)
{
	uint32_t n = 0;
	int rc = 0;

	*s = (struct map_site){.hosts = hosts,
		.nclusters = (uint32_t)hosts->nclusters,
		.all_zippers = o->all_zippers,
		.rails = o->rails};
	for (uint32_t f = 0; f < o->nfeatures; f++)
		s->features[s->nfeatures++] = o->features[f];
	for (int c = 0; c < hosts->nclusters; c++)
		n += (uint32_t)hosts->clusters[c].nhosts;
	s->nodes = calloc(n, sizeof(*s->nodes));
	if (!s->nodes)
		return no_memory(err);
	rc = map_ways_find(s, err);
	for (uint32_t c = 0; c < s->nclusters && !rc; c++)
		for (int h = 0; h < hosts->clusters[c].nhosts && !rc; h++)
			rc = node_fill(s, &s->nodes[s->nnodes++], c, &hosts->clusters[c].hosts[h], o, err);
	if (!rc)
		rc = reserve_check(s, o, err);
	if (!rc)
		rc = names_check(s, err);
	if (!rc)
		rc = map_site_classify(s, err);
	if (rc)
		map_site_free(s);
	return rc;
}

/* --- classes --- */

static uint32_t node_features(const struct map_site *s, const struct map_node *n)
{
	uint32_t bits = 0;

	for (uint32_t f = 0; f < s->nfeatures && f < MAP_FEATURES_MAX; f++) /* the second limit is for the compiler */
		bits |= (uint32_t)(n->limit[f] > 0) << f;
	return bits;
}

static int class_join(struct map_site *s, struct map_node *n, struct zerr *err)
{
	uint32_t features = node_features(s, n), c = 0;
	struct map_class *class;

	while (c < s->nclasses && (s->classes[c].fabrics != n->fabrics || s->classes[c].features != features))
		c++;
	if (c == MAP_CLASSES_MAX)
		return zerr_set(err, -E2BIG, "more than %d kinds of nodes", MAP_CLASSES_MAX);
	class = &s->classes[c];
	if (c == s->nclasses) {
		s->nclasses++;
		*class = (struct map_class){.fabrics = n->fabrics,
			.features = features,
			.zipper = (n->fabrics & (n->fabrics - 1)) != 0};
	}
	n->class = c;
	class->slots += n->slots;
	s->slots += n->slots;
	for (uint32_t f = 0; f < s->nfeatures; f++)
		class->limit[f] += n->limit[f] < n->slots ? n->limit[f] : n->slots;
	return 0;
}

int map_site_classify(struct map_site *s, struct zerr *err)
{
	if (!s->classes)
		s->classes = calloc(MAP_CLASSES_MAX, sizeof(*s->classes));
	if (!s->classes)
		return no_memory(err);
	s->nclasses = s->slots = 0;
	for (uint32_t i = 0; i < s->nnodes; i++) {
		int rc = s->nodes[i].slots ? class_join(s, &s->nodes[i], err) : 0;

		if (rc)
			return rc;
		if (!s->nodes[i].slots)
			s->nodes[i].class = MAP_NONE;
	}
	free(s->far);
	s->far = calloc((size_t)s->nclasses * s->nclasses + 1, sizeof(*s->far));
	if (!s->far)
		return no_memory(err);
	for (uint32_t a = 0; a < s->nclasses; a++)
		for (uint32_t b = 0; b < s->nclasses; b++)
			s->far[a * s->nclasses + b] =
				(uint8_t)map_ways_far(s, s->classes[a].fabrics, s->classes[b].fabrics);
	return 0;
}

uint32_t map_site_find(const struct map_site *s, const char *name)
{
	for (uint32_t i = 0; i < s->nnodes; i++)
		if (!strcasecmp(s->nodes[i].name, name))
			return i;
	return MAP_NONE;
}

void map_site_free(struct map_site *s)
{
	for (uint32_t i = 0; i < s->nmachines; i++)
		map_hardware_free(&s->machines[i].hardware);
	free(s->machines);
	free(s->nodes);
	free(s->classes);
	free(s->far);
	free(s->hops);
	free(s->fabric);
	*s = (struct map_site){0};
}

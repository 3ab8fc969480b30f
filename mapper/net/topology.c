/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of topologies, and the presets. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "mapper/net/crossbar.h"
#include "mapper/net/dragonfly.h"
#include "mapper/net/fattree.h"
#include "mapper/net/filenet.h"
#include "mapper/net/hyperx.h"
#include "mapper/net/joined.h"
#include "mapper/net/megafly.h"
#include "mapper/net/slimfly.h"
#include "mapper/net/topology.h"
#include "mapper/net/torus.h"

const struct net_ops *const topology_table[] = {&dragonfly_ops, &megafly_ops, &fattree_ops, &torus_ops, &hyperx_ops,
	&slimfly_ops, &filenet_graph_ops, &filenet_slurm_ops, &filenet_ibnet_ops, &crossbar_ops, &joined_ops, NULL};

const struct topology_preset topology_presets[] = {
	{"paper", "dragonfly group:960 chassis:6 router:16 node:4 core:24",
		"the paper's machine: 92,160 routers, 8,847,360 cores (section II)"},
	{"paper-third", "dragonfly group:384 chassis:6 router:16 node:4 core:24",
		"36,864 routers, as the paper's validation (section IV.D)"},
	{"cascade", "dragonfly group:240 chassis:6 router:16 node:4 core:24 column:3 global:4",
		"the largest Cascade: 240 groups, 3 cables a column, 4 links between groups (section II)"},
	{"frontier", "dragonfly group:74 chassis:1 router:32 node:4 core:64 global:4 bandwidth:25000000000",
		"Frontier's compute groups: 9,472 nodes, 4 links between groups"},
	{"aurora", "dragonfly group:166 chassis:1 router:32 node:2 core:104 global:2 bandwidth:25000000000",
		"Aurora's compute groups: 10,624 nodes, 2 links between groups"},
	{"perlmutter", "dragonfly group:14 chassis:1 router:32 node:4 core:64 global:4 bandwidth:25000000000",
		"Perlmutter's GPU groups: 1,792 nodes; 4 links between groups are assumed"},
	{"summit", "fattree down:18x16x16 up:1x18x18 core:44 bandwidth:25000000000",
		"like Summit: 4,608 nodes, 18 at a leaf switch, full bandwidth"},
	{"cluster", "fattree down:24x36 up:1x12 core:32 bandwidth:12500000000",
		"864 nodes on switches of 36 ports, 24 down and 12 up: oversubscribed 1:2"},
	{NULL, NULL, NULL},
};

static const struct net_ops *topology_find(const char *name, size_t len)
{
	for (const struct net_ops *const *o = topology_table; *o; o++)
		if (strlen((*o)->name) == len && !strncmp((*o)->name, name, len))
			return *o;
	return NULL;
}

static const struct topology_preset *preset_find(const char *name, size_t len)
{
	for (const struct topology_preset *p = topology_presets; p->name; p++)
		if (strlen(p->name) == len && !strncmp(p->name, name, len))
			return p;
	return NULL;
}

/* A description begins with the name of a topology or of a preset. Any other single word is a file. */
static bool text_is_description(const char *text)
{
	size_t len = strcspn(text, " \t\n,;:=");

	return topology_find(text, len) || preset_find(text, len) || strpbrk(text, " \t\n,;") != NULL;
}

/* --- names --- */

/* Says which names there are, in one line. file: the name might have been that of a file, too. */
static int name_unknown(const char *where, const char *name, bool file, struct zerr *err)
{
	char topologies[128] = "", presets[128] = "";
	size_t used = 0;

	for (const struct net_ops *const *o = topology_table; *o && used < sizeof(topologies); o++)
		used += (size_t)snprintf(topologies + used, sizeof(topologies) - used, "%s%s", used ? ", " : "",
			(*o)->name);
	used = 0;
	for (const struct topology_preset *p = topology_presets; p->name && used < sizeof(presets); p++)
		used += (size_t)snprintf(presets + used, sizeof(presets) - used, "%s%s", used ? ", " : "", p->name);
	return zerr_set(err, file ? -ENOENT : -EINVAL, "%s: \"%s\" is no topology (%s)%s no preset (%s)%s", where, name,
		topologies, file ? "," : " and", presets, file ? " and no file" : "");
}

/* Replaces the name of a preset, word `at`, by the preset's words. */
static int name_expand(struct spec *spec, size_t at, struct zerr *err)
{
	struct spec_word *name = &spec->words[at];
	const struct topology_preset *p = preset_find(name->key, strlen(name->key));

	if (!p)
		return topology_find(name->key, strlen(name->key)) ? 0
								   : name_unknown(spec->where, name->key, false, err);
	if (name->value)
		return zerr_set(err, -EINVAL, "%s: %s:%s: only a torus or a hyperx has numbers behind its name",
			spec->where, name->key, name->value);
	return spec_expand(spec, at, p->text, err);
}

/* Looks at each name of a description: the first word, or the second one of each part of a joined network. */
static int names_expand(struct spec_list *list, struct zerr *err)
{
	const struct net_ops *first =
		list->n ? topology_find(list->specs->words->key, strlen(list->specs->words->key)) : NULL;
	int rc = 0;

	if (list->n && !(first && first->joins))
		return name_expand(list->specs, 0, err);
	for (size_t i = 0; i < list->n && !rc; i++)
		if (!strcmp(list->specs[i].words->key, first->name) && list->specs[i].nwords > 1)
			rc = name_expand(&list->specs[i], 1, err);
	return rc;
}

/* Reads the file that a single word names. A word that looks like a name more than like a path gets a line that says
 * which names there are. */
static int file_read(struct spec_list *list, const char *path, struct zerr *err)
{
	int rc = spec_read(list, path, err);

	return rc == -ENOENT && !strchr(path, '/') ? name_unknown("network", path, true, err) : rc;
}

int topology_create(const char *text, struct net **net, struct zerr *err)
{
	struct spec_list list;
	int rc;

	*net = NULL;
	if (text_is_description(text))
		rc = spec_parse(&list, text, "network", false, err);
	else
		rc = file_read(&list, text, err);
	if (rc)
		return rc;
	rc = names_expand(&list, err);
	if (!rc)
		rc = net_create_list(&list, topology_table, net, err);
	if (!rc) {
		(*net)->where = list.where;
		list.where = NULL;
	}
	spec_free(&list);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of topologies, and the presets. */
#include <stdbool.h>
#include <string.h>

#include "mapper/net/crossbar.h"
#include "mapper/net/dragonfly.h"
#include "mapper/net/fattree.h"
#include "mapper/net/joined.h"
#include "mapper/net/topology.h"
#include "mapper/net/torus.h"

const struct net_ops *const topology_table[] = {&dragonfly_ops, &fattree_ops, &torus_ops, &crossbar_ops, &joined_ops,
	NULL};

const struct topology_preset topology_presets[] = {
	{"paper", "dragonfly group:960 chassis:6 router:16 node:4 core:24",
		"the paper's machine: 92,160 routers, 8,847,360 cores (section II)"},
	{"paper-third", "dragonfly group:384 chassis:6 router:16 node:4 core:24",
		"36,864 routers, as the paper's validation (section IV.D)"},
	{"cascade", "dragonfly group:240 chassis:6 router:16 node:4 core:24 column:3 global:4",
		"the largest Cascade: 240 groups, 3 cables a column, 4 links between groups (section II)"},
	{NULL, NULL, NULL},
};

/* A description begins with the name of a topology. Any other single word is a preset or a file. */
static bool text_is_description(const char *text)
{
	size_t len = strcspn(text, " \t\n,;:=");

	for (const struct net_ops *const *o = topology_table; *o; o++)
		if (strlen((*o)->name) == len && !strncmp((*o)->name, text, len))
			return true;
	return strpbrk(text, " \t\n,;") != NULL;
}

int topology_create(const char *text, struct net **net, struct zerr *err)
{
	struct spec_list list;
	int rc;

	*net = NULL;
	for (const struct topology_preset *p = topology_presets; p->name; p++)
		if (!strcmp(p->name, text))
			text = p->text;
	if (text_is_description(text))
		rc = spec_parse(&list, text, "network", false, err);
	else
		rc = spec_read(&list, text, err);
	if (rc)
		return rc;
	rc = net_create_list(&list, topology_table, net, err);
	if (!rc) {
		(*net)->where = list.where;
		list.where = NULL;
	}
	spec_free(&list);
	return rc;
}

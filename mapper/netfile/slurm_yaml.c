/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads topology.yaml, see slurm_yaml.h. */
#include "mapper/netfile/slurm_yaml.h"

#include <errno.h>

#ifdef HAVE_YAML

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "common/args/value.h"

/* The state of reading a file. */
struct reading {
	struct slurm_tree *tree;
	const char *path;
	yaml_document_t document;
};

__attribute__((format(printf, 4, 5))) static int refuse(const struct reading *r, const yaml_node_t *node,
	struct zerr *err, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return zerr_set(err, -EINVAL, "%s:%zu: %s", r->path, node->start_mark.line + 1, text);
}

/* --- nodes of the document --- */

static yaml_node_t *at(struct reading *r, int index)
{
	return yaml_document_get_node(&r->document, index);
}

/* The text of a scalar; NULL: the node is none. */
static const char *text_of(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* Takes one entry of a mapping. Returns 0 or a negative errno with the place. */
typedef int entry_fn(struct reading *, void *arg, const char *key, yaml_node_t *key_node, yaml_node_t *value,
	struct zerr *);

/* Calls take for all entries of a mapping, each with another key. */
static int mapping_read(struct reading *r, yaml_node_t *node, const char *what, entry_fn *take, void *arg,
	struct zerr *err)
{
	if (node->type != YAML_MAPPING_NODE)
		return refuse(r, node, err, "%s is a mapping, with lines KEY: VALUE", what);
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
		yaml_node_t *key = at(r, p->key);
		int rc;

		if (!text_of(key))
			return refuse(r, key, err, "%s: a key that is no word", what);
		for (yaml_node_pair_t *q = node->data.mapping.pairs.start; q < p; q++)
			if (!strcasecmp(text_of(at(r, q->key)), text_of(key)))
				return refuse(r, key, err, "%s: a second \"%.64s\"", what, text_of(key));
		rc = take(r, arg, text_of(key), key, at(r, p->value), err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Calls take for all items of a sequence. */
static int sequence_read(struct reading *r, yaml_node_t *node, const char *what,
	int (*take)(struct reading *, yaml_node_t *, void *arg, struct zerr *), void *arg, struct zerr *err)
{
	int rc = 0;

	if (node->type != YAML_SEQUENCE_NODE)
		return refuse(r, node, err, "%s is a list, with items that begin with \"-\"", what);
	for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top && !rc; i++)
		rc = take(r, at(r, *i), arg, err);
	return rc;
}

static int bool_read(struct reading *r, const char *key, const yaml_node_t *value, bool *out, struct zerr *err)
{
	const char *text = text_of(value);

	*out = text && (!strcasecmp(text, "true") || !strcasecmp(text, "yes") || !strcasecmp(text, "on"));
	if (!*out && (!text || (strcasecmp(text, "false") && strcasecmp(text, "no") && strcasecmp(text, "off"))))
		return refuse(r, value, err, "%s is true or false", key);
	return 0;
}

/* --- switches and blocks --- */

struct item {
	struct slurm_switch s;
	bool block;
};

static int item_entry(struct reading *r, void *arg, const char *key, yaml_node_t *key_node, yaml_node_t *value,
	struct zerr *err)
{
	struct item *item = arg;
	char *text = (char *)text_of(value), **field = NULL;

	if (!strcasecmp(key, item->block ? "block" : "switch"))
		field = &item->s.name;
	else if (!strcasecmp(key, "nodes"))
		field = &item->s.nodes;
	else if (!strcasecmp(key, "children") && !item->block)
		field = &item->s.switches;
	if (!field)
		return refuse(r, key_node, err, "\"%.64s\" is none of %s", key,
			item->block ? "block, nodes" : "switch, children, nodes");
	if (!text || !*text)
		return refuse(r, value, err, "nothing behind %s:", key);
	*field = text;
	return 0;
}

static int item_read(struct reading *r, yaml_node_t *node, void *arg, struct zerr *err)
{
	struct item item = {.block = *(bool *)arg};
	const char *kind = item.block ? "a block" : "a switch";
	int rc = mapping_read(r, node, kind, item_entry, &item, err);

	if (rc)
		return rc;
	if (!item.s.name)
		return refuse(r, node, err, "%s without a name", kind);
	item.s.line = (unsigned)node->start_mark.line + 1;
	rc = slurm_tree_add(r->tree, item.block, &item.s, err);
	return rc ? zerr_prefix(err, rc, "%s:%u", r->path, item.s.line) : 0;
}

static int size_read(struct reading *r, yaml_node_t *node, void *arg, struct zerr *err)
{
	const char *text = text_of(node);
	uint64_t size = 0;
	int rc;

	(void)arg;
	if (!text || !isdigit((unsigned char)*text) || zargs_parse_u64(text, &size))
		return refuse(r, node, err, "block_sizes: \"%.64s\" is no number", text ? text : "");
	rc = slurm_tree_size(r->tree, size, (unsigned)node->start_mark.line + 1, err);
	return rc ? zerr_prefix(err, rc, "%s:%zu", r->path, node->start_mark.line + 1) : 0;
}

/* --- topologies --- */

static int tree_entry(struct reading *r, void *arg, const char *key, yaml_node_t *key_node, yaml_node_t *value,
	struct zerr *err)
{
	bool block = *(bool *)arg;

	if (!strcasecmp(key, block ? "blocks" : "switches"))
		return sequence_read(r, value, key, item_read, &block, err);
	if (block && !strcasecmp(key, "block_sizes"))
		return sequence_read(r, value, key, size_read, NULL, err);
	return refuse(r, key_node, err, "\"%.64s\" is not %s", key, block ? "blocks or block_sizes" : "switches");
}

/* A topology, before its switches are read. */
struct topology {
	const char *name;
	bool preset; /* cluster_default */
	yaml_node_t *node, *kind_node, *value;
	const char *kind; /* key of what it is */
};

static int topology_entry(struct reading *r, void *arg, const char *key, yaml_node_t *key_node, yaml_node_t *value,
	struct zerr *err)
{
	struct topology *t = arg;

	if (!strcasecmp(key, "topology")) {
		t->name = text_of(value);
		return t->name && *t->name ? 0 : refuse(r, value, err, "a topology without a name");
	}
	if (!strcasecmp(key, "cluster_default"))
		return bool_read(r, key, value, &t->preset, err);
	if (t->kind)
		return refuse(r, key_node, err, "topology %.64s is %s already", t->name ? t->name : "", t->kind);
	t->kind = key;
	t->kind_node = key_node;
	t->value = value;
	return 0;
}

/* The topologies of a file, and the one that is wanted. */
struct choice {
	const char *name; /* NULL: the default */
	struct topology found;
	unsigned n;
	bool chosen;
};

static int topology_read(struct reading *r, yaml_node_t *node, void *arg, struct zerr *err)
{
	struct choice *c = arg;
	struct topology t = {.node = node};
	int rc = mapping_read(r, node, "a topology", topology_entry, &t, err);

	if (rc)
		return rc;
	if (!t.name)
		return refuse(r, node, err, "a topology without a name");
	if (!t.kind)
		return refuse(r, node, err, "topology %.64s is none of tree, block, flat", t.name);
	if (!c->n++ || (!c->chosen && (c->name ? !strcmp(c->name, t.name) : t.preset)))
		c->found = t;
	c->chosen |= c->name ? !strcmp(c->name, t.name) : t.preset;
	return 0;
}

static int found_read(struct reading *r, const struct topology *t, struct zerr *err)
{
	bool block = !strcasecmp(t->kind, "block");

	if (block || !strcasecmp(t->kind, "tree")) {
		int rc = mapping_read(r, t->value, t->kind, tree_entry, &block, err);

		return rc || r->tree->n ? rc
					: refuse(r, t->kind_node, err, "topology %.64s has no %s", t->name,
						  block ? "blocks" : "switches");
	}
	if (!strcasecmp(t->kind, "flat"))
		return refuse(r, t->kind_node, err,
			"topology %.64s is flat and names no nodes: \"crossbar node:N\" is such a network", t->name);
	return refuse(r, t->kind_node, err, "topology %.64s is \"%.64s\", none of tree, block, flat", t->name, t->kind);
}

static int document_read(struct reading *r, const char *topology, struct zerr *err)
{
	struct choice c = {.name = topology};
	yaml_node_t *root = yaml_document_get_root_node(&r->document);
	int rc;

	if (!root)
		return zerr_set(err, -EINVAL, "%s: no topology in it", r->path);
	rc = sequence_read(r, root, "topology.yaml", topology_read, &c, err);
	if (rc)
		return rc;
	if (!c.n)
		return zerr_set(err, -EINVAL, "%s: no topology in it", r->path);
	if (topology && !c.chosen)
		return zerr_set(err, -EINVAL, "%s: there is no topology %.64s", r->path, topology);
	if (!c.chosen && c.n > 1)
		return zerr_set(err, -EINVAL, "%s: which of %u topologies? None is the default (topology:NAME)",
			r->path, c.n);
	return found_read(r, &c.found, err);
}

int slurm_yaml_read(struct slurm_tree *t, FILE *f, const char *path, const char *topology, struct zerr *err)
{
	struct reading r = {.tree = t, .path = path};
	yaml_parser_t parser;
	int rc;

	if (!yaml_parser_initialize(&parser))
		return zerr_set(err, -ENOMEM, "not enough memory");
	yaml_parser_set_input_file(&parser, f);
	if (!yaml_parser_load(&parser, &r.document)) {
		rc = zerr_set(err, parser.error == YAML_MEMORY_ERROR ? -ENOMEM : -EINVAL, "%s:%zu: %s", path,
			parser.problem_mark.line + 1, parser.problem ? parser.problem : "not enough memory");
	} else {
		rc = document_read(&r, topology, err);
		yaml_document_delete(&r.document);
	}
	yaml_parser_delete(&parser);
	return rc;
}

#else

int slurm_yaml_read(struct slurm_tree *t, FILE *f, const char *path, const char *topology, struct zerr *err)
{
	(void)t;
	(void)f;
	(void)topology;
	return zerr_set(err, -ENOTSUP, "%s: this zipmap was built without libyaml, which reads topology.yaml", path);
}

#endif

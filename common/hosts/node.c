/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads "#ZIP node" lines, and finds their hosts. */
#include "common/hosts/node.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* so that malloc failing inside uthash does not end the program */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/hosts/hostlist.h"
#include "common/hosts/word.h"

#define SPEED_MAX 1e6

static int set_text(char **field, const char *name, const char *value, struct zerr *err)
{
	if (*field)
		return zerr_set(err, -EEXIST, "%s is given twice", name);
	*field = strdup(value);
	return *field ? 0 : zword_no_memory(err);
}

static int set_count(int *field, const char *name, const char *value, struct zerr *err)
{
	return *field >= 0 ? zerr_set(err, -EEXIST, "%s is given twice", name)
			   : zword_parse_count(field, name, value, err);
}

static int set_speed(struct znode *node, const char *value, struct zerr *err)
{
	char *end;
	double speed = strtod(value, &end);
	if (node->speed > 0)
		return zerr_set(err, -EEXIST, "speed is given twice");
	if (end == value || *end || !(speed > 0) || speed > SPEED_MAX)
		return zerr_set(err, -EINVAL, "speed: '%.32s' is not a positive number", value);
	node->speed = speed;
	return 0;
}

/* Any other word is a feature of the host: gpu, gpu=4, bigmem. */
static int add_feature(struct znode *node, const char *name, const char *value, struct zerr *err)
{
	if (value && !isdigit((unsigned char)*value))
		return zerr_set(err, -EINVAL,
			"%.32s=%.32s: a feature is a word of its own, as gpu, or gpu=4 if 4 ranks may use it", name,
			value);
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_-", *p))
			return zerr_set(err, -EINVAL, "'%.32s' is neither an option nor the name of a feature", name);
	for (int i = 0; i < node->nfeatures; i++)
		if (strcasecmp(node->features[i].name, name) == 0)
			return zerr_set(err, -EEXIST, "%s is given twice", name);
	struct zfeature *feature = zword_grow(&node->features, &node->nfeatures, sizeof(*feature));
	if (!feature || !(feature->name = strdup(name)))
		return zword_no_memory(err);
	feature->count = -1;
	return value ? set_count(&feature->count, name, value, err) : 0;
}

static int set_option(struct znode *node, char *word, struct zerr *err)
{
	char *value = strchr(word, '=');
	if (value)
		*value++ = '\0';
	if (value && !*value)
		return zerr_set(err, -EINVAL, "%.32s= without a value", word);
	if (strcmp(word, "speed") == 0 && value)
		return set_speed(node, value, err);
	if (strcmp(word, "cores") == 0 && value)
		return set_count(&node->cores, word, value, err);
	if (strcmp(word, "reserve") == 0 && value && strcmp(value, "0") == 0 && node->reserve < 0)
		return node->reserve = 0;
	if (strcmp(word, "reserve") == 0 && value)
		return set_count(&node->reserve, word, value, err);
	if (strcmp(word, "topology") == 0 && value)
		return set_text(&node->topology, word, value, err);
	if (strcmp(word, "hca") == 0 && value)
		return set_text(&node->hca, word, value, err);
	static const char *const known[] = {"speed", "cores", "reserve", "topology", "hca"};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(word, known[i]) == 0)
			return zerr_set(err, -EINVAL, "%s without a value", word);
	return add_feature(node, word, value, err);
}

/* Moves the names of the list to the node. */
static void take_names(struct znode *node, struct zhostlist *list)
{
	node->names = list->names;
	node->nnames = list->n;
	*list = (struct zhostlist){0};
}

static int parse_names(struct znode *node, char *word, struct zerr *err)
{
	struct zhostlist list = {0};
	int rc = 0;
	for (char *element; rc == 0 && (element = zhostlist_next(&word));)
		rc = zhostlist_add(&list, element, err);
	take_names(node, &list);
	return rc;
}

int znode_parse(struct zhostfile *file, char **rest, int line, struct zerr *err)
{
	struct znode *node = zword_grow(&file->nodes, &file->nnodes, sizeof(*node));
	if (!node)
		return zword_no_memory(err);
	*node = (struct znode){.cores = -1, .reserve = -1, .line = line};
	int rc = 0, options = 0;
	for (char *word; rc == 0 && (word = zword_next(rest));) {
		/* commas join hosts, as a word behind a blank could be a feature */
		if (node->nnames == 0) {
			rc = parse_names(node, word, err);
		} else {
			rc = set_option(node, word, err);
			options++;
		}
	}
	if (rc == 0 && node->nnames == 0)
		rc = zerr_set(err, -EINVAL, "#ZIP node: the host is missing");
	if (rc == 0 && options == 0)
		rc = zerr_set(err, -EINVAL, "#ZIP node: nothing is said about %.64s", node->names[0]);
	if (node->speed == 0)
		node->speed = 1;
	return rc;
}

struct entry {
	struct zhost *host;
	struct entry *same; /* the host is listed again: the next of its lines */
	UT_hash_handle hh;
};

/* All host lines, by name. */
static int index_hosts(const struct zhostfile *file, struct entry *entries, struct entry **table)
{
	size_t n = 0;
	for (int c = 0; c < file->nclusters; c++)
		for (int h = 0; h < file->clusters[c].nhosts; h++) {
			struct entry *entry = &entries[n++], *old;
			entry->host = &file->clusters[c].hosts[h];
			HASH_FIND_STR(*table, entry->host->name, old);
			if (old) {
				entry->same = old->same;
				old->same = entry;
				continue;
			}
			unsigned before = HASH_COUNT(*table);
			HASH_ADD_KEYPTR(hh, *table, entry->host->name, strlen(entry->host->name), entry);
			if (HASH_COUNT(*table) == before)
				return -ENOMEM;
		}
	return 0;
}

static int apply_one(struct zhostfile *file, int n, struct entry *table, struct zerr *err)
{
	const struct znode *node = &file->nodes[n];
	for (int i = 0; i < node->nnames; i++) {
		struct entry *entry;
		HASH_FIND_STR(table, node->names[i], entry);
		if (!entry)
			return zerr_set(err, -ENOENT, "%s:%d: node %.64s: there is no host of that name", file->path,
				node->line, node->names[i]);
		if (entry->host->node >= 0)
			return zerr_set(err, -EEXIST, "%s:%d: node %.64s has its line already (line %d)", file->path,
				node->line, node->names[i], file->nodes[entry->host->node].line);
		for (; entry; entry = entry->same)
			entry->host->node = n;
	}
	return 0;
}

int znode_apply(struct zhostfile *file, struct zerr *err)
{
	size_t nhosts = 1;
	struct entry *table = NULL;
	if (file->nnodes == 0)
		return 0;
	for (int c = 0; c < file->nclusters; c++)
		nhosts += (size_t)file->clusters[c].nhosts;
	struct entry *entries = calloc(nhosts, sizeof(*entries));
	int rc = entries ? index_hosts(file, entries, &table) : -ENOMEM;
	if (rc < 0)
		zword_no_memory(err);
	for (int n = 0; rc == 0 && n < file->nnodes; n++)
		rc = apply_one(file, n, table, err);
	HASH_CLEAR(hh, table);
	free(entries);
	return rc;
}

void znode_free(struct znode *node)
{
	for (int i = 0; i < node->nnames; i++)
		free(node->names[i]);
	for (int i = 0; i < node->nfeatures; i++)
		free(node->features[i].name);
	free(node->names);
	free(node->features);
	free(node->topology);
	free(node->hca);
}

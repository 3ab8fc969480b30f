/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the zipper hostfile: Hydra's host lines, and the "#ZIP" lines that group them into clusters and name the
 * zippers. */
#define _GNU_SOURCE /* tdestroy */
#include "common/hosts/hostfile.h"
#include "common/hosts/hostfile_find.h"

#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/lines.h"
#include "common/config/nearest.h"
#include "common/hosts/cluster.h"
#include "common/hosts/hostlist.h"
#include "common/hosts/node.h"
#include "common/hosts/word.h"
#include "common/hosts/zipper.h"

static const struct {
	const char *name;
	int (*parse)(struct zhostfile *, char **, int, struct zerr *);
} directives[] = {{"cluster", zcluster_parse}, {"zipper", zzipper_parse}, {"node", znode_parse}};
#define DIRECTIVES (sizeof(directives) / sizeof(directives[0]))

static int parse_directive(struct zhostfile *file, char *text, int line, struct zerr *err)
{
	char *comment = strchr(text, '#'), *rest, hint[96];
	if (comment)
		*comment = '\0';
	char *word = zword_first(text, &rest);
	if (!word)
		return zerr_set(err, -EINVAL, "#ZIP without a directive: cluster, zipper or node");
	struct znearest near;
	znearest_init(&near, word);
	for (size_t i = 0; i < DIRECTIVES; i++) {
		if (strcmp(directives[i].name, word) == 0)
			return directives[i].parse(file, &rest, line, err);
		znearest_add(&near, directives[i].name);
	}
	return zerr_set(err, -EINVAL, "unknown directive #ZIP %.32s%s", word,
		znearest_format(&near, hint, sizeof(hint)));
}

/* A comment that was surely meant as a directive: "# zip cluster a", "#ZIPcluster a". It must not be ignored silently.
 */
static bool is_misspelt_directive(const char *text)
{
	text += strspn(text, "# \t");
	if (strncasecmp(text, "zip", 3) != 0)
		return false;
	bool apart = isspace((unsigned char)text[3]);
	text += 3 + strspn(text + 3, ZWORD_BLANKS);
	for (size_t i = 0; i < DIRECTIVES; i++) {
		size_t len = strlen(directives[i].name);
		if (strncasecmp(text, directives[i].name, len) == 0 && (apart || isspace((unsigned char)text[len])))
			return true;
	}
	return false;
}

/* The place where a host was named first. */
struct named {
	int cluster, line;
	char host[]; /* as written there */
};

static int named_compare(const void *a, const void *b)
{
	return strcasecmp(((const struct named *)a)->host, ((const struct named *)b)->host);
}

/* Records a host of the last cluster. -EEXIST if the host belongs to another cluster. */
static int claim_host(struct zhostfile *file, const char *host, int line, struct zerr *err)
{
	int cluster = file->nclusters - 1;
	struct named *new = malloc(sizeof(*new) + strlen(host) + 1), **at;
	if (!new)
		return zword_no_memory(err);
	new->cluster = cluster;
	new->line = line;
	strcpy(new->host, host);
	at = tsearch(new, &file->names, named_compare);
	if (!at || *at != new)
		free(new);
	if (!at)
		return zword_no_memory(err);
	if ((*at)->cluster != cluster)
		return zerr_set(err, -EEXIST, "host %.64s belongs to cluster %s already (line %d)", host,
			file->clusters[(*at)->cluster].name, (*at)->line);
	return 0;
}

/* Words behind a host are Hydra's, with the exception of words that other MPIs use there: Hydra would complain about
 * them without file and line. */
static int check_rest(const char *rest, const char *host, struct zerr *err)
{
	while (*(rest += strspn(rest, ZWORD_BLANKS))) {
		size_t len = strcspn(rest, ZWORD_BLANKS), name = strcspn(rest, "=");
		int shown = len < 64 ? (int)len : 64;
		if (name == 0 || name + 1 >= len)
			return zerr_set(err, -EINVAL, "'%.*s' behind the host is not of the form NAME=VALUE", shown,
				rest);
		if (memmem(rest, name, "slots", 5))
			return zerr_set(err, -EINVAL, "'%.*s': slots are written %.64s:NUMBER", shown, rest, host);
		rest += len;
	}
	return 0;
}

/* Keeps a host and the words behind it. A line that follows another line of the same host adds to it, as Hydra does, so
 * that -ppn counts such a host once. */
static int add_host(struct zcluster *cluster, const char *name, int slots, const char *rest, int line, struct zerr *err)
{
	struct zhost *host = cluster->nhosts ? &cluster->hosts[cluster->nhosts - 1] : NULL;
	if (!host || strcmp(host->name, name) != 0) {
		host = zword_grow(&cluster->hosts, &cluster->nhosts, sizeof(*host));
		if (!host || !(host->name = strdup(name)))
			return zword_no_memory(err);
		host->line = line;
		host->node = -1;
	}
	host->slots += slots;
	cluster->slots += slots;
	if (*rest == '\0')
		return 0;
	char *old = host->rest, *both = NULL;
	if (asprintf(&both, "%s%s%s", old ? old : "", old ? " " : "", rest) < 0)
		return zword_no_memory(err);
	host->rest = both;
	free(old);
	return 0;
}

/* One host of the last cluster. */
static int take_host(struct zhostfile *file, const char *name, int slots, const char *rest, int line, struct zerr *err)
{
	struct zcluster *cluster = &file->clusters[file->nclusters - 1];
	int rc = zword_check_host(name, err);
	if (rc == 0)
		rc = claim_host(file, name, line, err);
	if (rc < 0)
		return rc;
	if (slots > (int)ZWORD_COUNT_MAX - cluster->slots)
		return zerr_set(err, -E2BIG, "cluster %s has more than %u slots", cluster->name, ZWORD_COUNT_MAX);
	return add_host(cluster, name, slots, rest, line, err);
}

/* HOST[:SLOTS] [hydra options]; HOST may be node[01-04,7] */
static int parse_host(struct zhostfile *file, char *text, int line, struct zerr *err)
{
	char *comment = strchr(text, '#'), *rest;
	struct zhostlist list = {0};
	if (comment)
		*comment = '\0';
	char *name = zword_first(text, &rest);
	int slots = 1, rc = 0;
	if (!name)
		return 0;
	char *colon = strchr(name, ':');
	if (colon) {
		*colon = '\0';
		rc = zword_parse_count(&slots, "slots", colon + 1, err);
	}
	if (rc == 0)
		rc = zhostlist_add(&list, name, err);
	if (rc == 0 && file->nclusters == 0)
		rc = zword_check_host(list.names[0], err);
	if (rc == 0 && file->nclusters == 0)
		rc = zcluster_add(file, "default", line, err);
	rest += strspn(rest, ZWORD_BLANKS);
	for (size_t len = strlen(rest); len > 0 && strchr(ZWORD_BLANKS, rest[len - 1]); len--)
		rest[len - 1] = '\0';
	for (int i = 0; rc == 0 && i < list.n; i++)
		rc = take_host(file, list.names[i], slots, rest, line, err);
	if (rc == 0)
		rc = check_rest(rest, name, err);
	zhostlist_free(&list);
	return rc;
}

static int parse_line(void *arg, char *line, int number, struct zerr *err)
{
	struct zhostfile *file = arg;
	char *text = line + strspn(line, ZWORD_BLANKS);
	if (strncmp(text, "#ZIP", 4) == 0 && (text[4] == '\0' || strchr(ZWORD_BLANKS, text[4])))
		return parse_directive(file, text + 4, number, err);
	if (*text == '#' && is_misspelt_directive(text))
		return zerr_set(err, -EINVAL, "a comment that looks like a directive: write #ZIP, in capitals");
	return parse_host(file, text, number, err);
}

static int count_zippers_on(const struct zhostfile *file, const char *fabric)
{
	int n = 0;
	for (int z = 0; z < file->nzippers; z++)
		n += zhostfile_find_port(file, z, fabric) != NULL;
	return n;
}

/* Each fabric is the network of a cluster, or leads from one zipper to another. */
static int check_fabrics(const struct zhostfile *file, struct zerr *err)
{
	for (int z = 0; z < file->nzippers; z++) {
		const struct zzipper *zipper = &file->zippers[z];
		for (int p = 0; p < zipper->nports; p++) {
			const char *fabric = zipper->ports[p].fabric;
			if (zhostfile_find_cluster(file, fabric) >= 0 || count_zippers_on(file, fabric) > 1)
				continue;
			struct znearest near;
			char hint[96];
			znearest_init(&near, fabric);
			for (int c = 0; c < file->nclusters; c++)
				znearest_add(&near, file->clusters[c].name);
			return zerr_set(err, -EINVAL,
				"%s:%d: fabric %s: there is no cluster of that name%s, and no other zipper on it",
				file->path, zipper->line, fabric, znearest_format(&near, hint, sizeof(hint)));
		}
	}
	return 0;
}

static bool has_hosts(const struct zhostfile *file)
{
	for (int c = 0; c < file->nclusters; c++)
		if (file->clusters[c].nhosts > 0)
			return true;
	return false;
}

/* Checks that need the whole file. */
int zhostfile_check_hosts(const struct zhostfile *file, struct zerr *err)
{
	for (int c = 0; c < file->nclusters; c++)
		if (file->clusters[c].nhosts == 0)
			return zerr_set(err, -EINVAL, "%s:%d: cluster %s has no host", file->path,
				file->clusters[c].line, file->clusters[c].name);
	return 0;
}

static int check_whole(const struct zhostfile *file, struct zerr *err)
{
	int rc = zhostfile_check_hosts(file, err);
	if (rc < 0)
		return rc;
	if (file->nclusters == 0)
		return zerr_set(err, -EINVAL, "%s: no host in it", file->path);
	return check_fabrics(file, err);
}

static int parse(struct zhostfile *file, FILE *stream, const char *path, bool bare, struct zerr *err)
{
	memset(file, 0, sizeof(*file));
	file->path = strdup(path);
	if (!file->path)
		return zword_no_memory(err);
	int rc = zlines_read(stream, path, parse_line, file, err);
	tdestroy(file->names, free);
	file->names = NULL;
	bare = bare && rc == 0 && file->nclusters > 0 && !has_hosts(file);
	if (rc == 0)
		rc = bare ? check_fabrics(file, err) : check_whole(file, err);
	if (rc == 0 && !bare)
		rc = znode_apply(file, err);
	if (rc < 0)
		zhostfile_free(file);
	return rc;
}

int zhostfile_parse(struct zhostfile *file, FILE *stream, const char *path, struct zerr *err)
{
	return parse(file, stream, path, false, err);
}

static int read_file(struct zhostfile *file, const char *path, bool bare, struct zerr *err)
{
	FILE *stream = fopen(path, "re");
	if (!stream) {
		memset(file, 0, sizeof(*file));
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	}
	int rc = parse(file, stream, path, bare, err);
	fclose(stream);
	return rc;
}

int zhostfile_read(struct zhostfile *file, const char *path, struct zerr *err)
{
	return read_file(file, path, false, err);
}

int zhostfile_read_bare(struct zhostfile *file, const char *path, struct zerr *err)
{
	return read_file(file, path, true, err);
}

int zhostfile_add_host(struct zhostfile *file, int cluster, const char *name, int slots, struct zerr *err)
{
	struct zcluster *c = &file->clusters[cluster];
	int rc = zword_check_host(name, err);
	return rc < 0 ? rc : add_host(c, name, slots, "", c->line, err);
}

void zhostfile_free(struct zhostfile *file)
{
	for (int c = 0; c < file->nclusters; c++)
		zcluster_free(&file->clusters[c]);
	for (int z = 0; z < file->nzippers; z++)
		zzipper_free(&file->zippers[z]);
	for (int n = 0; n < file->nnodes; n++)
		znode_free(&file->nodes[n]);
	free(file->nodes);
	free(file->clusters);
	free(file->zippers);
	free(file->path);
	memset(file, 0, sizeof(*file));
}

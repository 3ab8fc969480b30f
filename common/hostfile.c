/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the zipper hostfile: Hydra's host lines, and the "#ZIP" lines that make clusters and zippers of them. */
#define _GNU_SOURCE /* tdestroy */
#include "hostfile.h"

#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control.h"
#include "hostnode.h"
#include "nearest.h"

#define SLOTS_MAX ZCTL_RANKS_MAX /* a host with more is a typing error */
#define HOST_CHARS_MAX 253	 /* of a host name: RFC 1035, written without the last dot */

static const char blanks[] = " \t\r\n\v\f";

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "out of memory");
}

/* One more element, zeroed, at the end of the array that the pointer at field points to (its type does not matter).
 * NULL: no memory, nothing changed. */
static void *grow(void *field, int *count, size_t size)
{
	void *array;
	memcpy(&array, field, sizeof(array));
	char *more = realloc(array, ((size_t)*count + 1) * size);
	if (!more)
		return NULL;
	memcpy(field, &more, sizeof(more));
	return memset(more + (size_t)(*count)++ * size, 0, size);
}

static char *next_word(char **rest)
{
	return strtok_r(NULL, blanks, rest);
}

/* A positive number and nothing else. */
static int parse_count(int *count, const char *what, const char *text, struct zerr *err)
{
	char *end;
	errno = 0;
	long value = strtol(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value < 1 || value > (long)SLOTS_MAX)
		return zerr_set(err, -EINVAL, "%s: '%.32s' is not a number from 1 to %u", what, text, SLOTS_MAX);
	*count = (int)value;
	return 0;
}

/* Names go into comma-separated lists and control messages. */
static int check_name(const char *what, const char *name, struct zerr *err)
{
	size_t len = strlen(name);
	if (len == 0 || len > ZCTL_NAME_MAX)
		return zerr_set(err, -EINVAL, "%s must have 1 to %d characters", what, ZCTL_NAME_MAX);
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && (p == name || !strchr("_.-", *p)))
			return zerr_set(err, -EINVAL, "%s '%.64s': only letters, digits, and _.- behind the first",
				what, name);
	return 0;
}

static int check_host(const char *host, struct zerr *err)
{
	size_t len = strlen(host);
	if (len == 0 || len > HOST_CHARS_MAX)
		return zerr_set(err, -EINVAL, "a host name must have 1 to %d characters", HOST_CHARS_MAX);
	for (const char *p = host; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_.-@", *p))
			return zerr_set(err, -EINVAL, "'%.64s' is not a host name", host);
	return 0;
}

/* Splits NAME=VALUE in place. */
static int split_option(char *word, char **value, struct zerr *err)
{
	*value = strchr(word, '=');
	if (!*value || *value == word || (*value)[1] == '\0')
		return zerr_set(err, -EINVAL, "'%.64s' is not of the form NAME=VALUE", word);
	*(*value)++ = '\0';
	return 0;
}

/* --- #ZIP cluster NAME [OPTION=VALUE ...] --- */

static int check_device(const char *value, struct zerr *err)
{
	struct zaddr a;
	if (zaddr_parse(&a, value, NULL) == 0 && a.kind == ZADDR_VERBS && !a.via[0])
		return 0;
	return zerr_set(err, -EINVAL, "device: '%.64s' is not of the form DEVICE:PORT", value);
}

static int set_cluster_option(struct zcluster *cluster, char *word, struct zerr *err)
{
	const struct {
		const char *name;
		char **field;
	} options[] = {{"launcher", &cluster->launcher}, {"launcher-exec", &cluster->launcher_exec},
		{"iface", &cluster->iface}, {"localhost", &cluster->localhost}, {"device", &cluster->device},
		{"n", NULL}};
	const size_t noptions = sizeof(options) / sizeof(options[0]);
	char *value, hint[96];
	int rc = split_option(word, &value, err);
	if (rc < 0)
		return rc;
	struct znearest near;
	znearest_init(&near, word);
	for (size_t i = 0; i < noptions; i++) {
		if (strcmp(options[i].name, word) != 0) {
			znearest_add(&near, options[i].name);
			continue;
		}
		if (options[i].field ? *options[i].field != NULL : cluster->nranks != 0)
			return zerr_set(err, -EEXIST, "option %s is given twice", word);
		if (!options[i].field)
			return parse_count(&cluster->nranks, "n", value, err);
		rc = options[i].field == &cluster->device ? check_device(value, err) : 0;
		if (rc < 0)
			return rc;
		*options[i].field = strdup(value);
		return *options[i].field ? 0 : no_memory(err);
	}
	return zerr_set(err, -EINVAL, "unknown cluster option '%.32s'%s", word,
		znearest_format(&near, hint, sizeof(hint)));
}

static int add_cluster(struct zhostfile *file, const char *name, int line, struct zerr *err)
{
	int rc = check_name("cluster name", name, err);
	if (rc < 0)
		return rc;
	int old = zhostfile_find_cluster(file, name);
	if (old >= 0)
		return zerr_set(err, -EEXIST, "cluster %s was already begun in line %d", name,
			file->clusters[old].line);
	if (file->nclusters == ZCTL_PARTS_MAX)
		return zerr_set(err, -E2BIG, "more than %d clusters", ZCTL_PARTS_MAX);
	struct zcluster *cluster = grow(&file->clusters, &file->nclusters, sizeof(*cluster));
	if (!cluster || !(cluster->name = strdup(name)))
		return no_memory(err);
	cluster->line = line;
	return 0;
}

static int parse_cluster(struct zhostfile *file, char **rest, int line, struct zerr *err)
{
	char *name = next_word(rest);
	if (!name)
		return zerr_set(err, -EINVAL, "#ZIP cluster: the name is missing");
	int rc = add_cluster(file, name, line, err);
	for (char *word; rc == 0 && (word = next_word(rest));)
		rc = set_cluster_option(&file->clusters[file->nclusters - 1], word, err);
	return rc;
}

/* --- #ZIP zipper HOST FABRIC=ADDRESS ... --- */

/* A TCP address without port has the usual one after parsing: only the text tells. (tcp: is no port; neither is what
 * stands in front of @.) */
static bool is_fixed(const struct zaddr *addr, const char *text)
{
	const char *colon = strrchr(text, ':');
	if (addr->kind == ZADDR_SHM)
		return addr->host[0] != '\0';
	if (addr->kind == ZADDR_TCP)
		return colon > text + 3 && !strchr(colon, ']');
	text = strchr(text, '@');
	return text && colon > text && !strchr(colon, ']');
}

static int add_port(struct zzipper *zipper, char *word, struct zerr *err)
{
	char *address;
	int rc = split_option(word, &address, err);
	if (rc == 0)
		rc = check_name("fabric", word, err);
	if (rc < 0)
		return rc;
	for (int i = 0; i < zipper->nports; i++)
		if (strcmp(zipper->ports[i].fabric, word) == 0)
			return zerr_set(err, -EEXIST, "fabric %s is given twice", word);
	struct zport *port = grow(&zipper->ports, &zipper->nports, sizeof(*port));
	if (!port || !(port->fabric = strdup(word)))
		return no_memory(err);
	rc = zaddr_parse(&port->addr, address, err);
	if (rc < 0)
		return zerr_prefix(err, rc, "address of fabric %s", word);
	port->fixed = is_fixed(&port->addr, address);
	if (port->addr.kind == ZADDR_VERBS && strcmp(port->addr.via, ZADDR_VIA_OWN) == 0)
		return zerr_set(err, -EINVAL, "address of fabric %s: a host must stand behind the @", word);
	if (port->addr.kind == ZADDR_VERBS && !port->addr.via[0]) {
		if (strlen(zipper->host) >= sizeof(port->addr.via))
			return zerr_set(err, -EINVAL, "address of fabric %s: the zipper's name is too long", word);
		strcpy(port->addr.via, zipper->host);
		port->addr.via_port = ZADDR_DEFAULT_PORT;
	}
	return 0;
}

static int parse_zipper(struct zhostfile *file, char **rest, int line, struct zerr *err)
{
	char *host = next_word(rest);
	if (!host)
		return zerr_set(err, -EINVAL, "#ZIP zipper: the host is missing");
	if (strchr(host, '='))
		return zerr_set(err, -EINVAL, "#ZIP zipper: the host is missing before '%.64s'", host);
	int rc = check_host(host, err);
	if (rc < 0)
		return rc;
	struct zzipper *zipper = grow(&file->zippers, &file->nzippers, sizeof(*zipper));
	if (!zipper || !(zipper->host = strdup(host)))
		return no_memory(err);
	zipper->line = line;
	for (char *word; rc == 0 && (word = next_word(rest));)
		rc = add_port(zipper, word, err);
	if (rc == 0 && zipper->nports < 2)
		rc = zerr_set(err, -EINVAL, "zipper %s needs two fabrics or more", host);
	return rc;
}

/* --- lines --- */

static const struct {
	const char *name;
	int (*parse)(struct zhostfile *, char **, int, struct zerr *);
} directives[] = {{"cluster", parse_cluster}, {"zipper", parse_zipper}, {"node", znode_parse}};
#define DIRECTIVES (sizeof(directives) / sizeof(directives[0]))

static int parse_directive(struct zhostfile *file, char *text, int line, struct zerr *err)
{
	char *comment = strchr(text, '#'), *rest, hint[96];
	if (comment)
		*comment = '\0';
	char *word = strtok_r(text, blanks, &rest);
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

/* A comment that was surely meant as a directive: "# zip cluster a". It must not be ignored silently. */
static bool is_misspelt_directive(const char *text)
{
	text += strspn(text, "# \t");
	if (strncasecmp(text, "zip", 3) != 0 || !isspace((unsigned char)text[3]))
		return false;
	text += 3 + strspn(text + 3, blanks);
	for (size_t i = 0; i < DIRECTIVES; i++)
		if (strncasecmp(text, directives[i].name, strlen(directives[i].name)) == 0)
			return true;
	return false;
}

/* Where a host was first named. */
struct named {
	int cluster, line;
	char host[]; /* as written there */
};

static int named_compare(const void *a, const void *b)
{
	return strcasecmp(((const struct named *)a)->host, ((const struct named *)b)->host);
}

/* Notes a host of the last cluster; -EEXIST if it belongs to another one. */
static int claim_host(struct zhostfile *file, const char *host, int line, struct zerr *err)
{
	int cluster = file->nclusters - 1;
	struct named *new = malloc(sizeof(*new) + strlen(host) + 1), **at;
	if (!new)
		return no_memory(err);
	new->cluster = cluster;
	new->line = line;
	strcpy(new->host, host);
	at = tsearch(new, &file->names, named_compare);
	if (!at || *at != new)
		free(new);
	if (!at)
		return no_memory(err);
	if ((*at)->cluster != cluster)
		return zerr_set(err, -EEXIST, "host %.64s belongs to cluster %s already (line %d)", host,
			file->clusters[(*at)->cluster].name, (*at)->line);
	return 0;
}

/* HOST[:SLOTS] [hydra options] */
static int parse_host(struct zhostfile *file, char *text, int line, struct zerr *err)
{
	char *comment = strchr(text, '#'), *rest;
	if (comment)
		*comment = '\0';
	char *name = strtok_r(text, blanks, &rest);
	int slots = 1, rc = 0;
	if (!name)
		return 0;
	char *colon = strchr(name, ':');
	if (colon) {
		*colon = '\0';
		rc = parse_count(&slots, "slots", colon + 1, err);
	}
	if (rc == 0)
		rc = check_host(name, err);
	if (rc == 0 && file->nclusters == 0)
		rc = add_cluster(file, "default", line, err);
	if (rc == 0)
		rc = claim_host(file, name, line, err);
	if (rc < 0)
		return rc;
	struct zcluster *cluster = &file->clusters[file->nclusters - 1];
	if (slots > (int)SLOTS_MAX - cluster->slots)
		return zerr_set(err, -E2BIG, "cluster %s has more than %u slots", cluster->name, SLOTS_MAX);
	struct zhost *host = grow(&cluster->hosts, &cluster->nhosts, sizeof(*host));
	if (!host || !(host->name = strdup(name)))
		return no_memory(err);
	host->slots = slots;
	host->line = line;
	host->node = -1;
	cluster->slots += slots;
	rest += strspn(rest, blanks);
	for (size_t len = strlen(rest); len > 0 && strchr(blanks, rest[len - 1]); len--)
		rest[len - 1] = '\0';
	if (*rest && !(host->rest = strdup(rest)))
		return no_memory(err);
	return 0;
}

static int parse_line(struct zhostfile *file, char *line, int number, struct zerr *err)
{
	char *text = line + strspn(line, blanks);
	if (strncmp(text, "#ZIP", 4) == 0 && (text[4] == '\0' || strchr(blanks, text[4])))
		return parse_directive(file, text + 4, number, err);
	if (*text == '#' && is_misspelt_directive(text))
		return zerr_set(err, -EINVAL, "a comment that looks like a directive: write #ZIP, in capitals");
	return parse_host(file, text, number, err);
}

/* What only the whole file can tell. */
static int check_whole(const struct zhostfile *file, struct zerr *err)
{
	for (int c = 0; c < file->nclusters; c++)
		if (file->clusters[c].nhosts == 0)
			return zerr_set(err, -EINVAL, "%s:%d: cluster %s has no host", file->path,
				file->clusters[c].line, file->clusters[c].name);
	if (file->nclusters == 0)
		return zerr_set(err, -EINVAL, "%s: no host in it", file->path);
	for (int z = 0; z < file->nzippers; z++) {
		const struct zzipper *zipper = &file->zippers[z];
		for (int p = 0; p < zipper->nports; p++) {
			const char *fabric = zipper->ports[p].fabric;
			if (zhostfile_find_cluster(file, fabric) >= 0)
				continue;
			struct znearest near;
			char hint[96];
			znearest_init(&near, fabric);
			for (int c = 0; c < file->nclusters; c++)
				znearest_add(&near, file->clusters[c].name);
			return zerr_set(err, -EINVAL, "%s:%d: fabric %s: there is no cluster of that name%s",
				file->path, zipper->line, fabric, znearest_format(&near, hint, sizeof(hint)));
		}
	}
	return 0;
}

int zhostfile_parse(struct zhostfile *file, FILE *stream, const char *path, struct zerr *err)
{
	char *line = NULL;
	size_t cap = 0;
	int rc = 0, number = 0;
	memset(file, 0, sizeof(*file));
	file->path = strdup(path);
	if (!file->path)
		return no_memory(err);
	for (ssize_t len; rc == 0 && (errno = 0, len = getline(&line, &cap, stream)) >= 0;) {
		number++;
		rc = strlen(line) == (size_t)len ? parse_line(file, line, number, err)
						 : zerr_set(err, -EINVAL, "zero byte in the line");
		if (rc < 0)
			zerr_prefix(err, rc, "%s:%d", path, number);
	}
	if (rc == 0 && !feof(stream))
		rc = zerr_set(err, errno ? -errno : -EIO, "%s: %s", path, strerror(errno ? errno : EIO));
	free(line);
	tdestroy(file->names, free);
	file->names = NULL;
	if (rc == 0)
		rc = check_whole(file, err);
	if (rc == 0)
		rc = znode_apply(file, err);
	if (rc < 0)
		zhostfile_free(file);
	return rc;
}

int zhostfile_read(struct zhostfile *file, const char *path, struct zerr *err)
{
	FILE *stream = fopen(path, "re");
	if (!stream) {
		memset(file, 0, sizeof(*file));
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	}
	int rc = zhostfile_parse(file, stream, path, err);
	fclose(stream);
	return rc;
}

void zhostfile_free(struct zhostfile *file)
{
	for (int c = 0; c < file->nclusters; c++) {
		struct zcluster *cluster = &file->clusters[c];
		for (int h = 0; h < cluster->nhosts; h++) {
			free(cluster->hosts[h].name);
			free(cluster->hosts[h].rest);
		}
		free(cluster->hosts);
		free(cluster->name);
		free(cluster->launcher);
		free(cluster->launcher_exec);
		free(cluster->iface);
		free(cluster->localhost);
		free(cluster->device);
	}
	for (int z = 0; z < file->nzippers; z++) {
		for (int p = 0; p < file->zippers[z].nports; p++)
			free(file->zippers[z].ports[p].fabric);
		free(file->zippers[z].ports);
		free(file->zippers[z].host);
	}
	for (int n = 0; n < file->nnodes; n++)
		znode_free(&file->nodes[n]);
	free(file->nodes);
	free(file->clusters);
	free(file->zippers);
	free(file->path);
	memset(file, 0, sizeof(*file));
}

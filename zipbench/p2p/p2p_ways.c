/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the command of each way; see p2p_ways.h. */
#include "zipbench/p2p/p2p_ways.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hosts/hostfile.h"

#define HOST_MAX 256
#define BUILTIN_WAYS "native,bridged,direct"

struct places { /* where the two ranks of a pair run, from the hostfile */
	char a[HOST_MAX], b[HOST_MAX];
	char next[HOST_MAX]; /* another host of a's cluster; "": there is none */
	bool shared;	     /* a or b is a zipper node */
};

static int add_word(struct p2p_way *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int add_word(struct p2p_way *w, const char *fmt, ...)
{
	unsigned n = 0;
	va_list ap;
	while (w->word[n])
		n++;
	if (n == P2P_WORDS_MAX)
		return -E2BIG;
	va_start(ap, fmt);
	int len = vasprintf(&w->word[n], fmt, ap);
	va_end(ap);
	if (len < 0)
		w->word[n] = NULL;
	return len < 0 ? -ENOMEM : 0;
}

/* --- places in a hostfile --- */
static const struct zcluster *cluster_of(const struct zhostfile *h, const char *host)
{
	for (int c = 0; c < h->nclusters; c++)
		for (int i = 0; i < h->clusters[c].nhosts; i++)
			if (strcmp(h->clusters[c].hosts[i].name, host) == 0)
				return &h->clusters[c];
	return NULL;
}

static bool is_zipper(const struct zhostfile *h, const char *host)
{
	for (int z = 0; z < h->nzippers; z++)
		if (strcmp(h->zippers[z].host, host) == 0)
			return true;
	return false;
}

static int choose_hosts(struct places *p, const struct zhostfile *h, const char *hosts, struct zerr *err)
{
	const char *comma = hosts ? strchr(hosts, ',') : NULL;
	if (hosts && (!comma || comma == hosts || !comma[1] || strchr(comma + 1, ',')))
		return zerr_set(err, -EINVAL, "--hosts: \"%.64s\" is not two names with a comma between them", hosts);
	const char *a = h->clusters[0].hosts[0].name, *b = h->clusters[h->nclusters - 1].hosts[0].name;
	snprintf(p->a, sizeof(p->a), "%.*s", hosts ? (int)(comma - hosts) : HOST_MAX - 1, hosts ? hosts : a);
	snprintf(p->b, sizeof(p->b), "%s", hosts ? comma + 1 : b);
	const struct zcluster *of_a = cluster_of(h, p->a), *of_b = cluster_of(h, p->b);
	if (!of_a || !of_b)
		return zerr_set(err, -EINVAL, "%s: no cluster has a host %s", h->path, of_a ? p->b : p->a);
	if (of_a == of_b)
		return zerr_set(err, -EINVAL, "%s: %s and %s are in one cluster", h->path, p->a, p->b);
	for (int i = 0; i < of_a->nhosts && !p->next[0]; i++)
		if (strcmp(of_a->hosts[i].name, p->a) != 0)
			snprintf(p->next, sizeof(p->next), "%s", of_a->hosts[i].name);
	p->shared = is_zipper(h, p->a) || is_zipper(h, p->b);
	return 0;
}

static int find_places(struct places *p, const struct p2p_where *where, struct zerr *err)
{
	struct zhostfile h;
	int rc = zhostfile_read(&h, where->hostfile, err);
	if (rc < 0)
		return rc;
	rc = choose_hosts(p, &h, where->hosts, err);
	zhostfile_free(&h);
	return rc;
}

/* --- commands --- */
static int job_here(struct p2p_way *w, const struct p2p_where *where)
{
	if (strcmp(w->name, "native") == 0)
		return add_word(w, "--clusters") | add_word(w, "1") | add_word(w, "-n") |
		       add_word(w, "%u", 2 * where->pairs);
	int rc = add_word(w, "--clusters");
	return where->clusters ? rc | add_word(w, "%s", where->clusters)
			       : rc | add_word(w, "%u+%u", where->pairs, where->pairs);
}

static int job_on_hosts(struct p2p_way *w, const struct p2p_where *where, const struct places *p)
{
	const unsigned n = where->pairs;
	int rc = add_word(w, "-f") | add_word(w, "%s", where->hostfile) | add_word(w, "-n") | add_word(w, "%u", 2 * n) |
		 add_word(w, "-hosts");
	if (strcmp(w->name, "native") != 0)
		return rc | add_word(w, "%s:%u,%s:%u", p->a, n, p->b, n);
	return p->next[0] ? rc | add_word(w, "%s:%u,%s:%u", p->a, n, p->next, n)
			  : rc | add_word(w, "%s:%u", p->a, 2 * n);
}

/* zmpirun runs a job of one cluster without libzipper. */
static int make_builtin(struct p2p_way *w, const struct p2p_where *where, const struct places *p)
{
	int rc = add_word(w, "%s", where->zmpirun);
	w->bridged = strcmp(w->name, "bridged") == 0;
	w->direct = strcmp(w->name, "direct") == 0;
	if (w->direct)
		rc |= add_word(w, "--stats");
	return rc | (where->hostfile ? job_on_hosts(w, where, p) : job_here(w, where));
}

static int make_added(struct p2p_way *w, const char *command)
{
	char *text = strdup(command), *save = NULL;
	int rc = text ? 0 : -ENOMEM;
	for (char *word = text ? strtok_r(text, " \t", &save) : NULL; word; word = strtok_r(NULL, " \t", &save))
		rc = rc ? rc : add_word(w, "%s", word);
	free(text);
	return rc;
}

/* The command of the added way of that name, or NULL. */
static const char *added_command(const struct p2p_added *added, const char *name)
{
	size_t len = strlen(name);
	for (unsigned i = 0; i < added->n; i++)
		if (strncmp(added->text[i], name, len) == 0 && added->text[i][len] == '=')
			return added->text[i] + len + 1;
	return NULL;
}

static bool is_builtin(const char *name)
{
	return strcmp(name, "native") == 0 || strcmp(name, "bridged") == 0 || strcmp(name, "direct") == 0;
}

/* Why this way cannot be had, or NULL. */
static const char *lacking(const char *name, const struct p2p_where *where, const struct places *p)
{
	if (strcmp(name, "direct") != 0)
		return NULL;
	return !where->hostfile ? "clusters on this machine share no fabric"
	       : !p->shared	? "neither host is a zipper node (--hosts)"
				: NULL;
}

static int take_way(struct p2p_ways *ways, const char *name, const struct p2p_where *where, const struct places *p,
	const char *program, struct zerr *err)
{
	const char *command = added_command(&where->added, name);
	if (!command && !is_builtin(name))
		return zerr_set(err, -EINVAL, "--ways: there is no way %.64s; %s, or one of --add", name, BUILTIN_WAYS);
	for (unsigned i = 0; i < ways->n; i++)
		if (strcmp(ways->way[i].name, name) == 0)
			return zerr_set(err, -EINVAL, "--ways: %s stands there twice", name);
	const char *why = command ? NULL : lacking(name, where, p);
	if (why) {
		fprintf(stderr, "%s: %s is left out: %s\n", program, name, why);
		return 0;
	}
	if (ways->n == P2P_WAYS_MAX)
		return zerr_set(err, -EINVAL, "--ways: more than %d", P2P_WAYS_MAX);
	struct p2p_way *w = &ways->way[ways->n++];
	snprintf(w->name, sizeof(w->name), "%s", name);
	int rc = command ? make_added(w, command) : make_builtin(w, where, p);
	return rc < 0 ? zerr_set(err, -EINVAL, "%s: the command has too many words", name) : 0;
}

/* The names of all ways, as --ways has them. */
static int list_all(char *list, size_t cap, const struct p2p_added *added, struct zerr *err)
{
	snprintf(list, cap, "%s", BUILTIN_WAYS);
	for (unsigned i = 0; i < added->n; i++) {
		const int len = (int)strcspn(added->text[i], "=");
		snprintf(list + strlen(list), cap - strlen(list), ",%.*s", len, added->text[i]);
	}
	return strlen(list) + 1 < cap ? 0 : zerr_set(err, -EINVAL, "--add: the names are too long");
}

int p2p_ways_init(struct p2p_ways *ways, const struct p2p_where *where, const char *program, struct zerr *err)
{
	char list[1024], *save = NULL;
	struct places places = {.shared = false};
	int rc = where->hostfile ? find_places(&places, where, err) : 0;
	memset(ways, 0, sizeof(*ways));
	if (rc == 0 && where->ways && snprintf(list, sizeof(list), "%s", where->ways) >= (int)sizeof(list))
		rc = zerr_set(err, -EINVAL, "--ways: the list is too long");
	else if (rc == 0 && !where->ways)
		rc = list_all(list, sizeof(list), &where->added, err);
	if (rc < 0)
		return rc;
	for (char *name = strtok_r(list, ",", &save); name && rc == 0; name = strtok_r(NULL, ",", &save))
		rc = take_way(ways, name, where, &places, program, err);
	return rc < 0 || ways->n ? rc : zerr_set(err, -EINVAL, "--ways: no way is left");
}

void p2p_ways_free(struct p2p_ways *ways)
{
	for (unsigned i = 0; i < ways->n; i++)
		for (char **word = ways->way[i].word; *word; word++)
			free(*word);
}

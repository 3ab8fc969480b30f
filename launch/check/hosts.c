/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares a visit to each host of a job, see hosts.h. */
#include "launch/check/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launch/check/judge.h"
#include "launch/check/visit.h"
#include "launch/probe/say.h"
#include "launch/start/resolve.h"

#define LIMIT_MS 20000	   /* of a visit: for ssh and mpiexec */
#define LIMIT_RAIL_MS 6000 /* and for each zipper */

/* Becomes the probe ($0). A host without the probe has a shell at least, which sees whether libzipper.so ($1) is there.
 */
static const char script[] =
	"echo \"" ZSAY_MARK "host $(uname -n)\"\n"
	"[ -x \"$0\" ] && exec \"$0\" \"$@\"\n"
	"if [ -e \"$1\" ]; then echo '" ZSAY_MARK "bare library'; else echo '" ZSAY_MARK "bare -'; fi";
/* Becomes one more probe beside the first, if there is one. */
static const char script_more[] = "[ -x \"$0\" ] && exec \"$0\" \"$@\"; :";

struct hosts {
	const struct zhosts_params *p;
	struct zreport *report;
	struct zvisit *visits;
	int n;
};

/* Which sections of the command line have ranks on each host of a part? Ranks go round the hosts in their order.
 * uses [nhosts][nsections]; without a cluster there is one host. */
static void find_sections(const struct zhosts_params *p, const struct zplan_part *part, bool *uses)
{
	int host = 0, left = 0;
	for (int lrank = 0; lrank < part->nranks; lrank++) {
		if (part->cluster && left == 0) {
			host = lrank == 0 ? 0 : (host + 1) % part->nhosts;
			left = p->options->ppn ? p->options->ppn : part->hosts[host].nranks;
		}
		left--;
		uses[host * p->options->nsections + zoptions_find_section(p->options, zplan_vrank(part, lrank))] = true;
	}
}

static bool are_equal(const struct zargv *a, const struct zargv *b)
{
	bool equal = a->count == b->count;
	for (size_t i = 0; equal && i < a->count; i++)
		equal = strcmp(a->words[i], b->words[i]) == 0;
	return equal;
}

/* Adds a probe for the sections with these options. mpiexec starts a shell, and that the probe. The first probe tells
 * all, the others look for programs. */
static void add_probe(const struct zhosts_params *p, struct zvisit *v, const struct zargv *locals)
{
	const struct zlocate *l = p->locate;
	const bool first = v->options.nsections == 0;
	struct zargv *words = &v->words[v->options.nsections];
	v->options.sections[v->options.nsections++] = (struct zsection){.nranks = 1, .locals = *locals};
	zargv_add(words, "/bin/sh");
	zargv_add(words, "-c");
	zargv_add(words, first ? script : script_more);
	zargv_add(words, l->probe);
	if (first) {
		zargv_add(words, p->bridged ? l->libzipper : "-");
		zargv_add(words, p->bridged && *l->module_dir ? l->module_dir : "-");
	} else {
		zargv_add(words, "programs");
	}
}

/* The words of the probe for a section. Sections with the same options have the same directory and the same PATH, and
 * share one probe. */
static struct zargv *find_words(const struct zhosts_params *p, struct zvisit *v, const struct zsection *section)
{
	int i = 0;
	while (i < v->options.nsections && !are_equal(&v->options.sections[i].locals, &section->locals))
		i++;
	if (i == v->options.nsections)
		add_probe(p, v, &section->locals);
	return &v->words[i];
}

static bool contains(const struct zargv *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->words[i], word) == 0)
			return true;
	return false;
}

/* uses [nsections]: which of them have ranks there. 0 or -ENOMEM. */
static int add_probes(const struct zhosts_params *p, struct zvisit *v, const bool *uses)
{
	const int n = p->options->nsections;
	bool failed = false;
	v->options.sections = calloc((size_t)n, sizeof(*v->options.sections));
	v->words = calloc((size_t)n, sizeof(*v->words));
	v->options.nsections = 0;
	if (!v->options.sections || !v->words)
		return -ENOMEM;
	for (int s = 0; s < n; s++) {
		const struct zsection *section = &p->options->sections[s];
		struct zargv *words = uses[s] ? find_words(p, v, section) : NULL;
		if (words && section->argc > 0 && !contains(words, section->argv[0]))
			zargv_add(words, section->argv[0]);
	}
	for (int i = 0; i < v->options.nsections; i++) {
		v->options.sections[i].argv = v->words[i].words;
		v->options.sections[i].argc = (int)v->words[i].count;
		failed |= v->words[i].failed;
	}
	v->place.nranks = v->host.nranks = v->options.nsections;
	return failed ? -ENOMEM : 0;
}

static int add_visit(struct hosts *h, int part, const struct zplan_host *host, const bool *uses)
{
	struct zvisit *v = &h->visits[h->n];
	v->name = host ? host->name : "this machine";
	v->part = part;
	v->place = (struct zplan_part){.cluster = h->p->plan->parts[part].cluster};
	snprintf(v->place.name, sizeof(v->place.name), "visit%d", h->n++);
	if (host && v->place.cluster) {
		v->host = (struct zplan_host){.host = host->host, .name = host->name};
		v->place.hosts = &v->host;
		v->place.nhosts = 1;
	}
	v->options = *h->p->options;
	v->options.outfile = v->options.errfile = NULL;
	v->options.label = false;
	v->options.ppn = v->options.universe = 0;
	return add_probes(h->p, v, uses);
}

/* Adds the visits to the hosts of a part that get ranks. */
static int add_part(struct hosts *h, int number, struct zerr *err)
{
	const struct zplan_part *part = &h->p->plan->parts[number];
	const int nhosts = part->cluster ? part->nhosts : 1, nsections = h->p->options->nsections;
	bool *uses = calloc((size_t)nhosts * (size_t)nsections, sizeof(*uses));
	int rc = uses ? 0 : -ENOMEM;
	if (uses)
		find_sections(h->p, part, uses);
	for (int i = 0; rc == 0 && i < nhosts; i++) {
		const bool *used = uses + i * nsections;
		struct zerr why = {{0}};
		if (!memchr(used, 1, (size_t)nsections * sizeof(*used)))
			continue;
		if (!part->cluster)
			rc = add_visit(h, number, NULL, used);
		else if (zresolve_host(part->cluster, &part->hosts[i], h->p->options, h->p->hostfile, &why) < 0)
			zreport_add(h->report, ZREPORT_BAD,
				"write its address, or its name as /etc/hosts or the DNS has it", "%s: %s", part->name,
				why.text);
		else
			rc = add_visit(h, number, &part->hosts[i], used);
	}
	free(uses);
	return rc < 0 ? zerr_set(err, rc, "out of memory") : 0;
}

static void describe(void *ctx, int number, struct zenviron *e)
{
	static char addresses[ZRAILSET_TEXT_BYTES], entries[ZRAILSET_ENTRIES_BYTES]; /* large */
	const struct zhosts_params *p = ctx;
	const struct zplan_part *part = &p->plan->parts[number];
	*e = p->environ;
	if (p->rails->n == 0)
		return;
	e->part = part->name;
	e->zipperd = zrailset_format(p->rails, number, addresses);
	e->entries = zrailset_format_entries(p->rails, entries);
	e->ports = part->ports;
	e->device = part->cluster ? part->cluster->device : NULL;
}

static void visit_all(struct hosts *h)
{
	struct zhosts_params p = *h->p;
	struct zpart_params params = {.mpiexec = p.locate->mpiexec, .scratch = p.scratch};
	struct zjudge judge = {.report = h->report, .plan = p.plan, .rails = p.rails, .bridged = p.bridged};
	zvisit_all(h->visits, h->n, LIMIT_MS + p.rails->n * LIMIT_RAIL_MS, &params, describe, &p);
	for (int i = 0; i < h->n; i++)
		zjudge_visit(&judge, &h->visits[i]);
}

int zhosts_check(struct zreport *report, const struct zhosts_params *p, struct zerr *err)
{
	struct hosts h = {.p = p, .report = report};
	int rc = 0;
	size_t n = 0;
	for (int i = 0; i < p->plan->nparts; i++)
		n += p->plan->parts[i].cluster ? (size_t)p->plan->parts[i].nhosts : 1;
	h.visits = calloc(n + 1, sizeof(*h.visits));
	if (!h.visits)
		rc = zerr_set(err, -ENOMEM, "out of memory");
	for (int i = 0; rc == 0 && i < p->plan->nparts; i++)
		rc = add_part(&h, i, err);
	if (rc == 0)
		visit_all(&h);
	for (int i = 0; i < h.n; i++)
		zvisit_free(&h.visits[i]);
	free(h.visits);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares a visit to each host of a job, see hosts.h. */
#include "launch/check/hosts.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launch/check/judge.h"
#include "launch/check/visit.h"
#include "launch/probe/say.h"
#include "launch/start/resolve.h"

#define LIMIT_MS 20000	   /* of a visit: for ssh and mpiexec */
#define LIMIT_RAIL_MS 6000 /* and for each zipper */
#define WORDS_MAX 72	   /* seven, and the programs of at most 64 sections */

/* Becomes the probe ($0). A host without the probe has a shell at least, which sees whether libzipper.so ($1) is there.
 */
static char script[] = "echo \"" ZSAY_MARK "host $(uname -n)\"\n"
		       "[ -x \"$0\" ] && exec \"$0\" \"$@\"\n"
		       "if [ -e \"$1\" ]; then echo '" ZSAY_MARK "bare library'; else echo '" ZSAY_MARK "bare -'; fi";

struct hosts {
	const struct zhosts_params *p;
	struct zreport *report;
	struct zvisit *visits;
	char *(*words)[WORDS_MAX]; /* of each visit: what its mpiexec starts */
	int n;
};

/* Which sections of the command line have ranks on each host of a part? Ranks go round the hosts in their order.
 * sections [nhosts]: bit s: section s, at most 64 of them. */
static void find_sections(const struct zhosts_params *p, const struct zplan_part *part, uint64_t *sections)
{
	int host = 0, left = 0;
	for (int lrank = 0; lrank < part->nranks; lrank++) {
		if (left == 0) {
			host = lrank == 0 ? 0 : (host + 1) % part->nhosts;
			left = p->options->ppn ? p->options->ppn : part->hosts[host].nranks;
		}
		left--;
		int section = zoptions_find_section(p->options, zplan_vrank(part, lrank));
		sections[host] |= UINT64_C(1) << (section < 64 ? section : 63);
	}
}

/* Words of a command line are not changed, but their type is that of execve(2). */
static char *unconst(const char *word)
{
	return (char *)(uintptr_t)word;
}

/* mpiexec starts a shell, and that the probe. */
static void fill_words(const struct zhosts_params *p, struct zvisit *v, char **words, uint64_t sections)
{
	static char none[] = "-", shell[] = "/bin/sh", option[] = "-c";
	const struct zlocate *l = p->locate;
	int n = 0;
	words[n++] = shell;
	words[n++] = option;
	words[n++] = script;
	words[n++] = unconst(l->probe);
	words[n++] = p->bridged ? unconst(l->libzipper) : none;
	words[n++] = p->bridged && *l->module_dir ? unconst(l->module_dir) : none;
	for (int s = 0; s < p->options->nsections && s < 64; s++) {
		const struct zsection *section = &p->options->sections[s];
		if (!(sections >> s & 1))
			continue;
		if (v->section.nranks++ == 0)
			v->section.locals = section->locals;
		if (section->argc > 0)
			words[n++] = section->argv[0];
	}
	v->section.nranks = 1;
	v->section.argv = words;
	v->section.argc = n;
}

static void add_visit(struct hosts *h, int part, const struct zplan_host *host, uint64_t sections)
{
	struct zvisit *v = &h->visits[h->n];
	v->name = host ? host->name : "this machine";
	v->part = part;
	v->place = (struct zplan_part){.cluster = h->p->plan->parts[part].cluster, .nranks = 1};
	snprintf(v->place.name, sizeof(v->place.name), "visit%d", h->n);
	if (host && v->place.cluster) {
		v->host = (struct zplan_host){.host = host->host, .name = host->name, .nranks = 1};
		v->place.hosts = &v->host;
		v->place.nhosts = 1;
	}
	v->options = *h->p->options;
	v->options.outfile = v->options.errfile = NULL;
	v->options.label = false;
	v->options.ppn = v->options.universe = 0;
	v->options.nsections = 1;
	v->options.sections = &v->section;
	fill_words(h->p, v, h->words[h->n], sections);
	h->n++;
}

/* Adds the visits to the hosts of a part that get ranks. */
static int add_part(struct hosts *h, int number, struct zerr *err)
{
	const struct zplan_part *part = &h->p->plan->parts[number];
	if (!part->cluster) {
		add_visit(h, number, NULL, UINT64_MAX);
		return 0;
	}
	uint64_t *sections = calloc((size_t)part->nhosts, sizeof(*sections));
	if (!sections)
		return zerr_set(err, -ENOMEM, "out of memory");
	find_sections(h->p, part, sections);
	for (int i = 0; i < part->nhosts; i++) {
		struct zerr why = {{0}};
		if (sections[i] == 0)
			continue;
		if (zresolve_host(part->cluster, &part->hosts[i], h->p->options, h->p->hostfile, &why) < 0)
			zreport_add(h->report, ZREPORT_BAD,
				"write its address, or its name as /etc/hosts or the DNS has it", "%s: %s", part->name,
				why.text);
		else
			add_visit(h, number, &part->hosts[i], sections[i]);
	}
	free(sections);
	return 0;
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
	for (int i = 0; i < h->n; i++)
		zvisit_free(&h->visits[i]);
}

int zhosts_check(struct zreport *report, const struct zhosts_params *p, struct zerr *err)
{
	struct hosts h = {.p = p, .report = report};
	int rc = 0;
	size_t n = 0;
	for (int i = 0; i < p->plan->nparts; i++)
		n += p->plan->parts[i].cluster ? (size_t)p->plan->parts[i].nhosts : 1;
	h.visits = calloc(n + 1, sizeof(*h.visits));
	h.words = calloc(n + 1, sizeof(*h.words));
	if (!h.visits || !h.words)
		rc = zerr_set(err, -ENOMEM, "out of memory");
	for (int i = 0; rc == 0 && i < p->plan->nparts; i++)
		rc = add_part(&h, i, err);
	if (rc == 0)
		visit_all(&h);
	free(h.visits);
	free(h.words);
	return rc;
}

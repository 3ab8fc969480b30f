/* SPDX-License-Identifier: BSD-3-Clause */
/* From facts of a host to lines for the user, see judge.h. */
#include "launch/check/judge.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include "config.h"
#include "launch/check/facts.h"
#include "launch/check/resources.h"
#include "launch/io/chatter.h"

#define INSTALL "install the same release of Leiden Zipper there as here, in the same place"
#define REACH                                                                                                          \
	"mpiexec must start programs there without a question, as \"ssh HOST true\" does, and they must reach this "   \
	"machine (iface= and localhost= in zipper.hosts(5), MPIEXEC_PORT_RANGE)"

/* One host. */
struct host {
	struct zjudge *j;
	const struct zvisit *v;
	struct zfacts facts;
	int faults; /* lines about it */
};

/* Prints a line about this host. */
static void say(struct host *h, enum zreport_level level, const char *advice, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void say(struct host *h, enum zreport_level level, const char *advice, const char *fmt, ...)
{
	char text[1536];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	h->faults += level != ZREPORT_OK;
	zreport_add(h->j->report, level, advice, "%s: host %s: %s", h->j->plan->parts[h->v->part].name, h->v->name,
		text);
}

/* The line of standard error that tells most: what ssh or a proxy cannot do, or else the first one. "": there is none.
 */
static const char *find_reason(char *errors, char *buf, size_t cap)
{
	char *rest = NULL;
	bool has_one = false;
	buf[0] = '\0';
	for (char *line = strtok_r(errors, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
		if (zchatter_is_unstarted(line, strlen(line), buf, cap))
			return buf;
		bool launchers = strncmp(line, "[mpiexec@", 9) == 0 || strncmp(line, "[proxy:", 7) == 0;
		if (*buf == '\0' || (!launchers && !has_one))
			snprintf(buf, cap, "%s", line);
		has_one |= !launchers;
	}
	return buf;
}

/* The host has said nothing. */
static void judge_silence(struct host *h)
{
	const struct zvisit *v = h->v;
	char reason[512], how[160] = "mpiexec ended without a word of it";
	find_reason(v->errors, reason, sizeof(reason));
	if (v->failed.text[0])
		snprintf(how, sizeof(how), "%.150s", v->failed.text);
	else if (v->late)
		snprintf(how, sizeof(how), "nothing has come from it");
	say(h, ZREPORT_BAD, REACH, "it is not reached: %s%s%s%s", how, *reason ? " (" : "", reason, *reason ? ")" : "");
}

static bool is_same_release(const char *release)
{
	return strcmp(release, PACKAGE_VERSION) == 0;
}

static void judge_library(struct host *h)
{
	const char *lacks = zfacts_find(&h->facts, "nolibrary"), *release = zfacts_find(&h->facts, "library"),
		   *module = zfacts_find(&h->facts, "nomodule");
	if (lacks)
		say(h, ZREPORT_BAD, INSTALL, "libzipper.so: %s", lacks);
	else if (release && strcmp(release, "?") == 0)
		say(h, ZREPORT_BAD, INSTALL,
			"libzipper.so is of a release before " PACKAGE_VERSION ", which is that of this zmpirun");
	else if (release && !is_same_release(release))
		say(h, ZREPORT_BAD, INSTALL, "libzipper.so is of release %s, and this zmpirun of " PACKAGE_VERSION,
			release);
	else if (module)
		say(h, ZREPORT_BAD, INSTALL, "libzipper.so cannot prove who you are: %s", module);
}

static void judge_mpi(struct host *h)
{
	const int part = h->v->part;
	const char *mpi = zfacts_find(&h->facts, "mpi"), *lacks = zfacts_find(&h->facts, "nompi");
	if (lacks)
		say(h, ZREPORT_WARN, "install MPICH or a library of its ABI, if the program does not bring its own",
			"no MPI library: %s", lacks);
	if (!mpi)
		return;
	if (strncmp(mpi, "Open MPI", 8) == 0)
		say(h, ZREPORT_BAD, "libzipper needs MPICH or a library of its ABI", "the MPI library is %s", mpi);
	else if (!h->j->mpi[part])
		h->j->mpi[part] = mpi, h->j->mpi_host[part] = h->v->name;
	else if (strcmp(h->j->mpi[part], mpi) != 0)
		say(h, ZREPORT_WARN, "the ranks of one cluster need the same MPI library",
			"the MPI library is %s, and on host %s %s", mpi, h->j->mpi_host[part], h->j->mpi[part]);
}

/* The zippers as this host reaches them. */
static void judge_rails(struct host *h)
{
	for (int i = 0; i < h->facts.n; i++) {
		char *text;
		if (strcmp(h->facts.fact[i].key, "norail") != 0)
			continue;
		long rail = strtol(h->facts.fact[i].text, &text, 10);
		if (rail >= 0 && rail < h->j->rails->n)
			say(h, ZREPORT_BAD,
				"the addresses of #ZIP zipper lines are on the cluster's network, and firewalls must "
				"let the ranks connect there",
				"zipper %s is not reached:%s", h->j->rails->used[rail]->name, text);
	}
}

/* Does a host that is named so call itself so? Addresses are no names. */
static bool fits(const char *named, const char *own)
{
	const size_t n = strcspn(named, "."), m = strcspn(own, ".");
	return strchr(named, ':') || named[strspn(named, "0123456789.")] == '\0' ||
	       (n == m && strncasecmp(named, own, n) == 0);
}

/* Lists the zippers that the host reaches, with the round trip to each. */
static void list_rails(const struct host *h, char *text, size_t cap)
{
	size_t len = 0;
	text[0] = '\0';
	for (int i = 0; i < h->facts.n; i++) {
		double ns;
		int rail;
		if (strcmp(h->facts.fact[i].key, "rail") != 0 ||
			sscanf(h->facts.fact[i].text, "%d %lf", &rail, &ns) != 2 || rail < 0 ||
			rail >= h->j->rails->n || len >= cap)
			continue;
		len += (size_t)snprintf(text + len, cap - len, "%s%s in %.3f ms", len ? ", " : ", reaches zipper ",
			h->j->rails->used[rail]->name, ns / 1e6);
	}
}

static void take_fault(void *host, enum zreport_level level, const char *advice, const char *text)
{
	say(host, level, advice, "%s", text);
}

static void judge_resources(struct host *h)
{
	const struct zresources r = {.plan = h->j->plan,
		.rails = h->j->rails,
		.part = h->v->part,
		.begin_ms = h->v->began_ms,
		.end_ms = h->v->ended_ms,
		.say = take_fault,
		.ctx = h};
	zresources_judge(&r, &h->facts);
}

static void say_well(struct host *h)
{
	const char *mpi = zfacts_find(&h->facts, "mpi"), *own = zfacts_find(&h->facts, "host");
	const bool other = own && !fits(h->v->name, own) && h->j->plan->parts[h->v->part].cluster;
	char rails[512], library[64] = "";
	list_rails(h, rails, sizeof(rails));
	if (h->j->bridged)
		snprintf(library, sizeof(library), ", libzipper %s", PACKAGE_VERSION);
	say(h, ZREPORT_OK, NULL, "%s%s%s%s%s%s", other ? "calls itself " : "", other ? own : "", other ? ", " : "",
		mpi ? mpi : "no MPI library", library, rails);
}

/* The probe is not there. The shell has looked for libzipper.so. */
static void judge_bare(struct host *h)
{
	const char *bare = zfacts_find(&h->facts, "bare");
	if (strcmp(bare, "library") == 0)
		say(h, ZREPORT_BAD, INSTALL,
			"the release there is another one than that of this zmpirun, " PACKAGE_VERSION
			": it has no zipprobe");
	else if (h->j->bridged)
		say(h, ZREPORT_BAD, INSTALL, "libzipper.so is not installed there");
	else
		say(h, ZREPORT_OK, NULL, "is reached; no zipprobe is installed there to tell more");
}

void zjudge_visit(struct zjudge *j, struct zvisit *v)
{
	struct host h = {.j = j, .v = v};
	char reason[512];
	zfacts_read(&h.facts, v->output);
	if (!zfacts_find(&h.facts, "host")) {
		judge_silence(&h);
		return;
	}
	if (zfacts_find(&h.facts, "bare")) {
		judge_bare(&h);
		return;
	}
	const char *release = zfacts_find(&h.facts, "release");
	if (release && !is_same_release(release)) {
		say(&h, j->bridged ? ZREPORT_BAD : ZREPORT_WARN, INSTALL,
			"release %s is installed there, and this zmpirun is " PACKAGE_VERSION, release);
		return;
	}
	judge_library(&h);
	judge_mpi(&h);
	for (int i = 0; i < h.facts.n; i++)
		if (strcmp(h.facts.fact[i].key, "noprogram") == 0)
			say(&h, ZREPORT_BAD, "copy it there, or write the path that it has there", "no program %s",
				h.facts.fact[i].text);
	judge_rails(&h);
	judge_resources(&h);
	if (zfacts_count(&h.facts, "end") < v->options.nsections)
		say(&h, ZREPORT_BAD, NULL, "its probe has not come to its end: %s",
			*find_reason(v->errors, reason, sizeof(reason)) ? reason
			: v->late					? "it takes too long"
									: "mpiexec does not say why");
	if (h.faults == 0)
		say_well(&h);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects and prints the statistics of a job. */
#include "launch/run/jobstats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "launch/run/losses.h"
#include "launch/run/tally.h"

enum way { BRIDGED, DIRECT, NATIVE };

/* The answer of one zipper. The answers of a job follow each other, without those of zippers that are gone. */
struct answer {
	const char *zipper;
	struct zctl_stats_reply reply;
};

/* Adds to a direction the share that other zippers carried. Ranks tell the first of their zippers alone about traffic
 * that did not go over the bridge. */
static struct zctl_dirstat total(const struct zctl_dirstat *first, const struct answer *others, int n)
{
	struct zctl_dirstat sum = *first;
	for (int k = 0; k < n; k++)
		for (uint32_t i = 0; i < others[k].reply.ndirs; i++) {
			const struct zctl_dirstat *d = &others[k].reply.dirs[i];
			if (strcmp(d->from, sum.from) != 0 || strcmp(d->to, sum.to) != 0)
				continue;
			sum.msgs += d->msgs;
			sum.bytes += d->bytes;
			sum.shared_bytes += d->shared_bytes;
		}
	return sum;
}

/* Prints a line for each direction, of n zippers together. Prints nothing if no message went this way, except for the
 * bridge. */
static void print_way(const struct answer *answers, int n, enum way way, const char *name, FILE *out)
{
	bool any = way == BRIDGED;
	const struct zctl_stats_reply *r = &answers->reply;
	for (uint32_t i = 0; i < r->ndirs; i++)
		any |= r->dirs[i].direct_msgs > 0 && (strcmp(r->dirs[i].from, r->dirs[i].to) == 0) == (way == NATIVE);
	if (any)
		fprintf(out, "zmpirun: %s:\n", name);
	for (uint32_t i = 0; any && i < r->ndirs; i++) {
		struct zctl_dirstat d = total(&r->dirs[i], answers + 1, n - 1);
		if ((strcmp(d.from, d.to) == 0) != (way == NATIVE))
			continue;
		fprintf(out, "zmpirun:   %s -> %s: %" PRIu64 " messages, %" PRIu64 " bytes", d.from, d.to,
			way == BRIDGED ? d.msgs : d.direct_msgs, way == BRIDGED ? d.bytes : d.direct_bytes);
		if (way == BRIDGED && d.shared_bytes > 0)
			fprintf(out, ", of them %" PRIu64 " by a message to several clusters", d.shared_bytes);
		fputc('\n', out);
	}
}

static void print(const struct answer *answers, int n, const struct zjob *job, FILE *out)
{
	print_way(answers, n, BRIDGED, "over the bridge", out);
	for (int i = 0; job->n > 1 && i < n; i++) {
		char name[160];
		snprintf(name, sizeof(name), "of that over zipper %s", answers[i].zipper);
		print_way(&answers[i], 1, BRIDGED, name, out);
	}
	print_way(answers, 1, DIRECT, "directly", out);
	print_way(answers, 1, NATIVE, "natively, point-to-point", out);
}

static void tell_lost(const struct zjob *job, FILE *out)
{
	char why[ZCTL_TEXT_MAX + 1];
	for (int i = 0; i < job->n; i++)
		if (!zjob_listens(job, i))
			fprintf(out, "zmpirun: zipper %s is not counted: %s\n", job->rails[i].name,
				zlosses_format(&job->rails[i], why));
}

int zjobstats_print(struct zjob *job, FILE *out, struct zerr *err)
{
	struct answer answers[ZCTL_RAILS_MAX] = {{0}};
	int n = 0;
	for (int i = 0; i < job->n; i++) {
		struct zerr why = {{0}};
		if (!zjob_listens(job, i))
			continue;
		answers[n].zipper = job->rails[i].name;
		int rc = zsession_stats(job->rails[i].session, &answers[n].reply, &why);
		if (rc == 0)
			n++;
		else
			ztally_lose(job, i, why.text);
	}
	if (n > 0) {
		tell_lost(job, out);
		print(answers, n, job, out);
	}
	for (int i = 0; i < n; i++)
		zctl_stats_free(&answers[i].reply);
	return n > 0 ? 0 : zerr_set(err, -ESHUTDOWN, "%s", job->text);
}

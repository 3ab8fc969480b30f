/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects and prints the statistics of a job. */
#include "stats.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum way { BRIDGED, DIRECT, NATIVE };

/* This direction, and what the other zippers have carried of it. Ranks tell the first one alone what did not go over
 * the bridge. */
static struct zctl_dirstat total(const struct zctl_dirstat *first, const struct zctl_stats_reply *others, int n)
{
	struct zctl_dirstat sum = *first;
	for (int k = 0; k < n; k++)
		for (uint32_t i = 0; i < others[k].ndirs; i++) {
			const struct zctl_dirstat *d = &others[k].dirs[i];
			if (strcmp(d->from, sum.from) != 0 || strcmp(d->to, sum.to) != 0)
				continue;
			sum.msgs += d->msgs;
			sum.bytes += d->bytes;
			sum.shared_bytes += d->shared_bytes;
		}
	return sum;
}

/* A line for each direction, of n zippers together; none if nothing went this way, except over the bridge. */
static void print_way(const struct zctl_stats_reply *r, int n, enum way way, const char *name, FILE *out)
{
	bool any = way == BRIDGED;
	for (uint32_t i = 0; i < r->ndirs; i++)
		any |= r->dirs[i].direct_msgs > 0 && (strcmp(r->dirs[i].from, r->dirs[i].to) == 0) == (way == NATIVE);
	if (any)
		fprintf(out, "zmpirun: %s:\n", name);
	for (uint32_t i = 0; any && i < r->ndirs; i++) {
		struct zctl_dirstat d = total(&r->dirs[i], r + 1, n - 1);
		if ((strcmp(d.from, d.to) == 0) != (way == NATIVE))
			continue;
		fprintf(out, "zmpirun:   %s -> %s: %" PRIu64 " messages, %" PRIu64 " bytes", d.from, d.to,
			way == BRIDGED ? d.msgs : d.direct_msgs, way == BRIDGED ? d.bytes : d.direct_bytes);
		if (way == BRIDGED && d.shared_bytes > 0)
			fprintf(out, ", of them %" PRIu64 " by a message to several clusters", d.shared_bytes);
		fputc('\n', out);
	}
}

static void print(const struct zctl_stats_reply *r, const struct zjob *job, FILE *out)
{
	print_way(r, job->n, BRIDGED, "over the bridge", out);
	for (int i = 0; job->n > 1 && i < job->n; i++) {
		char name[160];
		snprintf(name, sizeof(name), "of that over zipper %s", job->rails[i].name);
		print_way(&r[i], 1, BRIDGED, name, out);
	}
	print_way(r, 1, DIRECT, "directly", out);
	print_way(r, 1, NATIVE, "natively, point-to-point", out);
}

int zstats_print(struct zjob *job, FILE *out, struct zerr *err)
{
	struct zctl_stats_reply replies[ZCTL_RAILS_MAX] = {{0}};
	int rc = 0;
	for (int i = 0; rc == 0 && i < job->n; i++) {
		rc = zsession_stats(job->rails[i].session, &replies[i], err);
		if (rc < 0 && job->n > 1)
			zerr_prefix(err, rc, "zipper %s", job->rails[i].name);
	}
	if (rc == 0)
		print(replies, job, out);
	for (int i = 0; i < job->n; i++)
		zctl_stats_free(&replies[i]);
	return rc;
}

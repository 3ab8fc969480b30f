/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks zipperd for its counters and prints them; see traffic.h. */
#include "zipstat/traffic.h"

#include <inttypes.h>

static void print(FILE *out, bool csv, const struct zctl_stats_reply *r)
{
	fprintf(out,
		csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
		    : "%-16s %-16s %12s %16s %12s %12s %8s %12s %12s %16s %12s\n",
		"from", "to", "messages", "bytes", "envelopes", "copied", "refused", "queued", "direct", "direct_bytes",
		"shared");
	for (uint32_t i = 0; i < r->ndirs; i++) {
		const struct zctl_dirstat *d = &r->dirs[i];
		fprintf(out,
			csv ? "%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			      ",%" PRIu64 ",%" PRIu64 "\n"
			    : "%-16s %-16s %12" PRIu64 " %16" PRIu64 " %12" PRIu64 " %12" PRIu64 " %8" PRIu64
			      " %12" PRIu64 " %12" PRIu64 " %16" PRIu64 " %12" PRIu64 "\n",
			d->from, d->to, d->msgs, d->bytes, d->envelopes, d->copied_bytes, d->naks, d->queue_high_bytes,
			d->direct_msgs, d->direct_bytes, d->shared_bytes);
	}
}

int traffic_print(struct zsession *s, bool csv, FILE *out, struct zerr *err)
{
	struct zctl_stats_reply reply = {.ndirs = 0};
	int rc = zsession_stats(s, &reply, err);
	if (rc == 0) {
		print(out, csv, &reply);
		zctl_stats_free(&reply);
	}
	return rc;
}

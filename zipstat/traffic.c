/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks zipperd for its counters and prints them; see traffic.h. */
#include "zipstat/traffic.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/session/credentials.h"
#include "common/session/session.h"
#include "common/control/ctl_name.h"

#define ANSWER_TIMEOUT_MS 10000

static int set_name(char to[ZCTL_NAME_MAX + 1], const char *name, const char *what, struct zerr *err)
{
	if (!zctl_name_ok(name))
		return zerr_set(err, -EINVAL, "'%.80s' is no name of a %s", name, what);
	strcpy(to, name); /* zctl_name_ok bounded it */
	return 0;
}

static int prepare(struct zsession_params *p, struct zmunge *munge, const struct traffic_options *o, struct zerr *err)
{
	*p = (struct zsession_params){.auth = &zauth_module, .timeout_ms = ANSWER_TIMEOUT_MS};
	int rc = zaddr_parse(&p->zipper, o->address, err);
	if (rc < 0)
		return zerr_prefix(err, rc, "%.200s", o->address);
	rc = o->user ? set_name(p->user, o->user, "user", err) : zcredentials_find_user(p->user, err);
	if (rc == 0 && o->job)
		rc = set_name(p->job, o->job, "job", err);
	if (rc == 0)
		rc = zcredentials_find_munge(munge, NULL, zcredentials_find_key(&zauth_module, p->key, p->user, err),
			err);
	if (rc <= 0)
		return rc;
	zauth_module.random(p->key, sizeof(p->key));
	p->munge = munge;
	return 0;
}

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

int traffic_print(const struct traffic_options *o, FILE *out, struct zerr *err)
{
	struct zsession_params p;
	struct zsession *s;
	struct zctl_stats_reply reply = {.ndirs = 0};
	struct zmunge munge;
	int rc = prepare(&p, &munge, o, err);
	if (rc == 0)
		rc = zsession_open(&s, &p, ZCTL_SERVICE_ADMIN, err);
	zauth_module.wipe(&p, sizeof(p));
	if (rc < 0)
		return rc;
	rc = zsession_stats(s, &reply, err);
	if (rc == 0) {
		print(out, o->csv, &reply);
		zctl_stats_free(&reply);
	}
	zsession_close(s);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Talks to zipperd as the launcher of one job. */
#include "job.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM_CHARS 24 /* of the program's name in the job id */

void zjob_name(struct zjob *job, const char *program, const struct zauth_ops *auth)
{
	const char *slash = strrchr(program, '/'), *base = slash ? slash + 1 : program;
	uint32_t number;
	int n = 0;
	auth->random((uint8_t *)&number, sizeof(number));
	for (; n < PROGRAM_CHARS && base[n]; n++)
		job->id[n] = isalnum((unsigned char)base[n]) ? base[n] : '_';
	snprintf(job->id + n, sizeof(job->id) - (size_t)n, "-%d-%08" PRIx32, (int)getpid(), number);
}

/* That an address cannot be reached says less than what came from another one. */
static bool is_unreachable(int rc)
{
	return rc == -ECONNREFUSED || rc == -ETIMEDOUT || rc == -EHOSTUNREACH || rc == -ENETUNREACH || rc == -ENOENT;
}

/* Parts of one zipper differ in address: any that can be reached from here will do. */
static int connect_any(struct zjob *job, struct zsession_params *params, const struct zplan *plan,
	const struct zaddr *addrs, struct zerr *err)
{
	int rc = -ENETUNREACH, kept = -ENETUNREACH;
	for (int i = 0; i < plan->nparts; i++) {
		struct zerr why = {{0}};
		if (i > 0 && memcmp(&addrs[i], &addrs[i - 1], sizeof(*addrs)) == 0)
			continue;
		params->zipper = addrs[i];
		rc = zsession_open(&job->session, params, ZCTL_SERVICE_LAUNCHER, &why);
		if (rc == 0)
			return 0;
		if (i == 0 || is_unreachable(kept) || rc == -EACCES) {
			kept = rc;
			*err = why;
		}
		if (rc == -EACCES)
			break;
	}
	return kept;
}

int zjob_open(struct zjob *job, struct zsession_params *params, const struct zplan *plan, const struct zaddr *addrs,
	int join_timeout_s, struct zerr *err)
{
	struct zctl_create create = {.join_timeout_ms = (uint32_t)join_timeout_s * 1000};
	snprintf(params->job, sizeof(params->job), "%s", job->id);
	snprintf(create.parts, sizeof(create.parts), "%s", plan->names);
	for (int i = 0; i < plan->nparts; i++)
		create.sizes[i] = (uint32_t)plan->parts[i].nranks;
	int rc = connect_any(job, params, plan, addrs, err);
	if (rc < 0)
		return rc;
	rc = zplan_make_runs(plan, &create.runs, &create.nruns, err);
	if (rc == 0)
		rc = zsession_create(job->session, &create, err);
	free(create.runs);
	if (rc < 0)
		zjob_close(job);
	return rc;
}

static void take_event(struct zjob *job, const struct zctl_event *event)
{
	switch (event->kind) {
	case ZCTL_EV_RANK_JOINED:
		job->joined = event->number;
		break;
	case ZCTL_EV_WORLD:
		job->world = true;
		break;
	case ZCTL_EV_RANK_DONE:
		job->done = event->number;
		break;
	case ZCTL_EV_DEAD:
		job->dead = true;
		job->dead_code = (int)event->number;
		memcpy(job->text, event->text, sizeof(job->text));
		break;
	default:
		break; /* a newer zipperd may tell more */
	}
}

void zjob_poll(struct zjob *job)
{
	struct zctl_msg msg;
	struct zerr err = {{0}};
	int rc = 0;
	while (job->session && !job->lost && !job->dead && (rc = zsession_poll(job->session, &msg, &err)) > 0) {
		if (msg.type == ZCTL_EVENT)
			take_event(job, &msg.u.event);
		if (msg.type == ZCTL_DEAD || msg.type == ZCTL_ERROR) {
			job->dead = true;
			job->dead_code = msg.type == ZCTL_DEAD ? (int)msg.u.dead.code : 1;
			snprintf(job->text, sizeof(job->text), "%s",
				msg.type == ZCTL_DEAD ? msg.u.dead.text : msg.u.error.text);
		}
		zctl_free(&msg);
	}
	if (rc < 0) {
		job->lost = true;
		snprintf(job->text, sizeof(job->text), "%.*s", ZCTL_TEXT_MAX, err.text);
	}
}

enum way { BRIDGED, DIRECT, NATIVE };

/* A line for each direction; none if nothing went this way, except over the bridge. */
static void print_ways(const struct zctl_stats_reply *r, enum way way, const char *name, FILE *out)
{
	bool any = way == BRIDGED;
	for (uint32_t i = 0; i < r->ndirs; i++)
		any |= r->dirs[i].direct_msgs > 0 && (strcmp(r->dirs[i].from, r->dirs[i].to) == 0) == (way == NATIVE);
	if (any)
		fprintf(out, "zmpirun: %s:\n", name);
	for (uint32_t i = 0; any && i < r->ndirs; i++) {
		const struct zctl_dirstat *d = &r->dirs[i];
		if ((strcmp(d->from, d->to) == 0) != (way == NATIVE))
			continue;
		fprintf(out, "zmpirun:   %s -> %s: %" PRIu64 " messages, %" PRIu64 " bytes", d->from, d->to,
			way == BRIDGED ? d->msgs : d->direct_msgs, way == BRIDGED ? d->bytes : d->direct_bytes);
		if (way == BRIDGED && d->shared_bytes > 0)
			fprintf(out, ", of them %" PRIu64 " by a message to several clusters", d->shared_bytes);
		fputc('\n', out);
	}
}

int zjob_print_stats(struct zjob *job, FILE *out, struct zerr *err)
{
	struct zctl_msg reply = {.type = ZCTL_STATS_REPLY};
	int rc = zsession_stats(job->session, &reply.u.stats, err);
	if (rc < 0)
		return rc;
	print_ways(&reply.u.stats, BRIDGED, "over the bridge", out);
	print_ways(&reply.u.stats, DIRECT, "directly", out);
	print_ways(&reply.u.stats, NATIVE, "natively, point-to-point", out);
	zctl_free(&reply);
	return 0;
}

void zjob_close(struct zjob *job)
{
	zsession_close(job->session);
	job->session = NULL;
}

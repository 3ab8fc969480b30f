/* SPDX-License-Identifier: BSD-3-Clause */
/* Talks to the zipperds of one job as its launcher. */
#include "launch/start/job.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/config/conf.h"
#include "launch/base/environ.h"

#define WATCH_MS 1000	  /* between two looks for silent zipperds */
#define AGAIN_LOOK_MS 200 /* and for zippers that come back */
#define PROGRAM_CHARS 24  /* characters of the program's name in the job id */
#define LATER_MS 200	  /* a zipper tells of missing ranks before the next zipper misses them */

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

/* An unreachable address tells less than an error from another address. */
static bool is_unreachable(int rc)
{
	return rc == -ECONNREFUSED || rc == -ETIMEDOUT || rc == -EHOSTUNREACH || rc == -ENETUNREACH || rc == -ENOENT;
}

/* The fabrics of one zipper differ in address. Any address that can be reached from here will do. */
int zjob_connect(struct zsession **session, struct zsession_params *params, const struct zroute *route,
	enum zctl_service service, struct zerr *err)
{
	int rc = -ENETUNREACH, kept = -ENETUNREACH;
	for (int i = 0; i < route->nports; i++) {
		const struct zaddr *addr = &route->port[i].addr;
		struct zerr why = {{0}};
		if (i > 0 && memcmp(addr, &route->port[i - 1].addr, sizeof(*addr)) == 0)
			continue;
		params->zipper = *addr;
		rc = zsession_open(session, params, service, &why);
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

static int connect_any(struct zsession **session, const struct zjob *job, struct zsession_params *params,
	const struct zroute *route, struct zerr *err)
{
	snprintf(params->job, sizeof(params->job), "%s", job->id);
	return zjob_connect(session, params, route, ZCTL_SERVICE_LAUNCHER, err);
}

int zjob_probe(struct zsession_params *params, const struct zroute *route, struct zerr *err)
{
	struct zctl_status_reply status = {0};
	struct zsession *session = NULL;
	params->job[0] = '\0';
	int rc = zjob_connect(&session, params, route, ZCTL_SERVICE_ADMIN, err);
	if (rc < 0)
		return rc;
	rc = zsession_status(session, &status, err);
	zsession_close(session);
	if (rc == -EPROTONOSUPPORT) /* an earlier release, which cannot be drained */
		rc = 0;
	else if (rc == 0 && status.draining)
		rc = zerr_set(err, -ESHUTDOWN, "it is drained, and takes no new jobs");
	zctl_status_free(&status);
	return rc;
}

int zjob_add(struct zjob *job, struct zsession_params *params, const struct zplan *plan, const struct zroute *route,
	const char *entries, int join_timeout_s, struct zerr *err)
{
	struct zsession *session = NULL;
	char *copy = strdup(entries);
	if (!copy)
		return zerr_set(err, -ENOMEM, "out of memory");
	job->plan = plan;
	job->join_timeout_s = join_timeout_s;
	int rc = zjob_register(job, &session, params, route, entries, false, err);
	if (rc < 0) {
		free(copy);
		return rc;
	}
	job->rails[job->n++] =
		(struct zjob_rail){.session = session, .name = route->name, .route = route, .entries = copy};
	if (job->reconnect_ms > 0 && !route->start)
		job->params = *params;
	return 0;
}

/* Do the ranks of that part share connections, as far as the plan tells? */
static bool shares(const struct zjob *job, const struct zplan_part *part)
{
	if (job->node == ZSESSION_NODE_AUTO)
		return part->nhosts > 0 && part->nranks >= ZSESSION_NODE_RANKS &&
		       part->hosts[0].nranks >= ZSESSION_NODE_RANKS;
	return job->node == ZSESSION_NODE_YES;
}

int zjob_register(struct zjob *job, struct zsession **out, struct zsession_params *params, const struct zroute *route,
	const char *entries, bool again, struct zerr *err)
{
	const struct zplan *plan = job->plan;
	struct zctl_create create = {.join_timeout_ms = (uint32_t)(job->join_timeout_s * 1000 + job->n * LATER_MS),
		.again = again};
	struct zsession *session = NULL;
	snprintf(create.entries, sizeof(create.entries), "%s", entries);
	snprintf(create.parts, sizeof(create.parts), "%s", plan->names);
	for (int i = 0; i < plan->nparts; i++) {
		create.sizes[i] = (uint32_t)plan->parts[i].nranks;
		create.shares |= (uint64_t)shares(job, &plan->parts[i]) << i;
	}
	int rc = connect_any(&session, job, params, route, err);
	if (rc < 0)
		return rc;
	rc = zplan_make_runs(plan, &create.runs, &create.nruns, err);
	if (rc == 0)
		rc = zsession_create(session, &create, err);
	free(create.runs);
	if (rc == 0)
		*out = session;
	else
		zsession_close(session);
	return rc;
}

static void take_death(struct zjob_rail *rail, uint32_t code, const char *text)
{
	rail->dead = true;
	rail->dead_code = (int)code;
	snprintf(rail->text, sizeof(rail->text), "%.*s", ZCTL_TEXT_MAX, text);
}

void zjob_take_event(struct zjob_rail *rail, const struct zctl_event *event)
{
	switch (event->kind) {
	case ZCTL_EV_RANK_JOINED:
		rail->joined = event->number;
		break;
	case ZCTL_EV_WORLD:
		rail->world = true;
		break;
	case ZCTL_EV_RANK_DONE:
		rail->done = event->number;
		break;
	case ZCTL_EV_DEAD:
		take_death(rail, event->number, event->text);
		break;
	case ZCTL_EV_LOST:
		rail->lost = rail->said = true;
		snprintf(rail->text, sizeof(rail->text), "%.*s", ZCTL_TEXT_MAX, event->text);
		break;
	case ZCTL_EV_RANK_ENDED:
		snprintf(rail->ended, sizeof(rail->ended), "%.*s", ZCTL_TEXT_MAX, event->text);
		break;
	default:
		break; /* a newer zipperd may tell more */
	}
}

int zjob_set_times(struct zjob *job, const struct zargv *globals, const char *reconnect, struct zerr *err)
{
	static const struct zconf_row rows[] = {ZSESSION_TIMEOUT_ROW(struct zjob, timeout_ms),
		ZSESSION_RECONNECT_ROW(struct zjob, reconnect_ms),
		{.name = "node",
			.type = ZCONF_ENUM,
			.preset = "auto",
			.choices = zsession_node_choices,
			.offset = offsetof(struct zjob, node)},
		{.name = NULL}};
	const char *node = zenviron_find(globals, "ZIPPER_NODE");
	const char *timeout = zenviron_find(globals, "ZIPPER_TIMEOUT"), *at = "--reconnect";
	int rc = zconf_defaults(rows, job, err);
	if (rc == 0 && timeout)
		rc = zconf_set(rows, job, "timeout", timeout, "ZIPPER_TIMEOUT", err);
	if (rc == 0 && node)
		rc = zconf_set(rows, job, "node", node, "ZIPPER_NODE", err);
	if (!reconnect) {
		reconnect = zenviron_find(globals, "ZIPPER_RECONNECT");
		at = "ZIPPER_RECONNECT";
	}
	return rc == 0 && reconnect ? zconf_set(rows, job, "reconnect", reconnect, at, err) : rc;
}

bool zjob_waits(const struct zjob *job)
{
	const int64_t now = zclock_ms();
	bool may = false;
	for (int i = 0; i < job->n; i++) {
		const struct zjob_rail *rail = &job->rails[i];
		if (!zjob_is_down(rail) || (rail->dead && !rail->told))
			return false;
		may |= zjob_may_return(job, rail) && (rail->again || now - rail->gone_ms < job->reconnect_ms);
	}
	return may;
}

/* When the last zipper is lost the job ends. The ranks decide that, because they may not need the zipper any more. */
static bool watches(const struct zjob *job)
{
	return job->timeout_ms > 0 && zjob_left(job) > 1;
}

int zjob_timeout(const struct zjob *job)
{
	for (int i = 0; i < job->n; i++)
		if (zjob_may_return(job, &job->rails[i]))
			return AGAIN_LOOK_MS;
	return watches(job) ? WATCH_MS : -1;
}

static void take_stats(struct zjob_rail *rail, struct zctl_stats_reply *stats)
{
	zctl_stats_free(&rail->stats);
	rail->stats = *stats;
	*stats = (struct zctl_stats_reply){0};
	rail->asked = false;
}

static void poll_rail(struct zjob *job, struct zjob_rail *rail)
{
	struct zctl_msg msg;
	struct zerr err = {{0}};
	int rc = 0;
	while (!zjob_is_down(rail) && (rc = zsession_poll(rail->session, &msg, &err)) > 0) {
		if (msg.type == ZCTL_EVENT)
			zjob_take_event(rail, &msg.u.event);
		else if (msg.type == ZCTL_DEAD)
			take_death(rail, msg.u.dead.code, msg.u.dead.text);
		else if (msg.type == ZCTL_ERROR)
			take_death(rail, 1, msg.u.error.text);
		else if (msg.type == ZCTL_STATS_REPLY)
			take_stats(rail, &msg.u.stats);
		zctl_free(&msg);
	}
	if (rc == 0 && !zjob_is_down(rail) && watches(job))
		rc = zsession_watch(rail->session, job->timeout_ms, &err);
	if (rc < 0) {
		rail->lost = true;
		snprintf(rail->text, sizeof(rail->text), "%.*s", ZCTL_TEXT_MAX, err.text);
	}
}

/* To be called once, when the zipper has become dead or lost. */
static void note_down(struct zjob *job, struct zjob_rail *rail)
{
	rail->order = ++job->ndown;
	rail->down_ms = rail->gone_ms = zclock_ms();
}

void zjob_ask_stats(struct zjob *job)
{
	for (int i = 0; i < job->n; i++) {
		struct zjob_rail *rail = &job->rails[i];
		if (!zjob_listens(job, i))
			rail->asked = false; /* the answer went with the connection */
		else if (!rail->asked)
			rail->asked = zsession_ask_stats(rail->session) == 0;
	}
}

void zjob_ask(struct zjob *job, int64_t limit_ms)
{
	for (int i = 0; i < job->n; i++) {
		struct zerr err = {{0}};
		if (zjob_listens(job, i) && zsession_watch(job->rails[i].session, limit_ms, &err) < 0)
			zjob_lose(job, i, err.text);
	}
}

/* Polls all zippers once. True if one of them has become dead or lost. */
static bool poll_all(struct zjob *job)
{
	bool ended = false;
	for (int i = 0; i < job->n; i++) {
		bool listened = zjob_listens(job, i);
		poll_rail(job, &job->rails[i]);
		if (!listened || zjob_listens(job, i))
			continue;
		note_down(job, &job->rails[i]);
		ended = true;
	}
	return ended;
}

void zjob_poll(struct zjob *job)
{
	/* The end at one zipper may follow from the end at another one that was polled before it happened. */
	while (poll_all(job))
		;
}

bool zjob_lose(struct zjob *job, int number, const char *why)
{
	struct zjob_rail *rail = &job->rails[number];
	if (rail->dead || rail->said)
		return false;
	if (!rail->lost)
		note_down(job, rail);
	rail->lost = true;
	snprintf(rail->text, sizeof(rail->text), "%s", why);
	return true;
}

int zjob_left(const struct zjob *job)
{
	int left = 0;
	for (int i = 0; i < job->n; i++)
		left += !zjob_is_down(&job->rails[i]);
	return left;
}

void zjob_close(struct zjob *job)
{
	while (job->n > 0) {
		struct zjob_rail *rail = &job->rails[--job->n];
		zsession_close(rail->session);
		zsession_close(rail->again);
		free(rail->entries);
		zctl_stats_free(&rail->stats);
	}
	explicit_bzero(job->params.key, sizeof(job->params.key));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Launchers of jobs, see launcher.h. */
#include "zipperd/job/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "zipperd/conn/conn_send.h"
#include "zipperd/job/job_end.h"
#include "zipperd/job/job_return.h"

void launcher_gone(struct job *j, const char *how, bool left)
{
	char text[ZCTL_TEXT_MAX + 1];
	snprintf(text, sizeof(text), "the launcher %s", how);
	if (j->state == JOB_OVER)
		job_free_if_unused(j);
	else if (left && job_return_is(j))
		job_end_here(j, text); /* it has not had its answer in time, and tries again, as all ranks do */
	else
		job_end(j, 1, text);
}

void launcher_abort(struct job *j, const struct zctl_dead *why)
{
	job_end_for(j, why->code, "%s", why->text[0] ? why->text : "the launcher ended the job");
}

static int check_sizes(const struct daemon *d, const struct job *j, const struct zctl_create *c, struct zerr *err)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < j->nparts; i++)
		total += c->sizes[i];
	return job_check_ranks(d, total, err);
}

/* The time that the launcher asks for, at most what is allowed. A zipperd of a launcher's own does what it says. */
static int check_timeout(const struct daemon *d, uint32_t ms, struct zerr *err)
{
	const struct settings *c = &d->settings;
	const int64_t most = c->join_timeout_ms > c->max_join_timeout_ms ? c->join_timeout_ms : c->max_join_timeout_ms;
	if (d->for_job || ms <= most)
		return 0;
	return zerr_set(err, -EINVAL,
		"its ranks are to report within %g s, but at most %g s may be asked for (max_join_timeout in "
		"zipperd.conf): ask for less (zmpirun --init-timeout)",
		ms / 1000.0, (double)most / 1000);
}

/* The ranks of a job come back to a zipperd that has been started again, perhaps before their launcher. It takes over
 * the job, and hears what it has missed. */
static void adopt(struct job *j, struct conn *conn, const struct zctl_create *c)
{
	if (strcmp(c->parts, j->part_names) != 0 || strcmp(c->entries, j->entries) != 0) {
		conn_refuse(conn, EINVAL, "job %s: its ranks have come back with other parts", j->key);
		return;
	}
	memcpy(j->expected, c->sizes, sizeof(j->expected));
	j->launcher = conn;
	j->had_launcher = true;
	conn->launches = j;
	conn->held_at = &j->launcher;
	conn_settle(conn);
	job_return_wait(j);
	conn_send(conn, &(struct zctl_msg){.type = ZCTL_CREATED});
	job_tell_launcher(j, ZCTL_EV_RANK_JOINED, j->njoined, "");
	if (j->state == JOB_RUNNING)
		job_tell_launcher(j, ZCTL_EV_WORLD, j->total, "");
	if (j->ndone > 0)
		job_tell_launcher(j, ZCTL_EV_RANK_DONE, j->ndone, "");
}

void launcher_create(struct daemon *d, struct conn *conn, struct zctl_create *c)
{
	struct zerr err = {.text = ""};
	struct job *j = job_find(d, conn->hello.user, conn->hello.job);
	if (j && j->state == JOB_OVER) {
		job_forget(j); /* the launcher makes a new job of that name */
		j = NULL;
	}
	if (j && !j->had_launcher && j->incarnation > 0 && conn->hello.method != ZCTL_METHOD_MUNGE) {
		adopt(j, conn, c);
		return;
	}
	if (j) {
		conn_refuse(conn, EEXIST, "job %s exists already", j->key);
		return;
	}
	const int rc = c->again ? 0 : job_may_begin(d, &err);
	if (rc == 0 && check_timeout(d, c->join_timeout_ms, &err) == 0)
		j = job_create(d, conn->hello.user, conn->hello.job, c->parts, c->entries, &err);
	if (!j) { /* a launcher that has other zippers goes on without one that drains */
		conn_refuse(conn, rc == -ESHUTDOWN ? ESHUTDOWN : EINVAL, "job %s/%s: %s", conn->hello.user,
			conn->hello.job, err.text);
		return;
	}
	memcpy(j->expected, c->sizes, sizeof(j->expected));
	for (uint32_t i = 0; i < j->nparts; i++)
		j->part[i].shares = c->shares >> i & 1;
	j->launcher = conn;
	if (check_sizes(d, j, c, &err) != 0 || job_fits(j, 1, 1, &err) != 0) {
		conn_refuse(conn, E2BIG, "job %s: %s", j->key, err.text);
		j->launcher = NULL;
		j->state = JOB_OVER;
		job_forget(j);
		return;
	}
	j->runs = c->runs;
	j->nruns = c->nruns;
	c->runs = NULL;
	if (c->join_timeout_ms)
		j->timeout_ms = c->join_timeout_ms;
	j->deadline_ms = d->now_ms + j->timeout_ms;
	j->had_launcher = true;
	j->again = c->again != 0;
	job_return_wait(j);
	j->has_secret = conn->hello.method == ZCTL_METHOD_MUNGE;
	memcpy(j->secret, conn->secret, sizeof(j->secret));
	conn->launches = j;
	conn->held_at = &j->launcher;
	conn_settle(conn);
	conn_send(conn, &(struct zctl_msg){.type = ZCTL_CREATED});
}

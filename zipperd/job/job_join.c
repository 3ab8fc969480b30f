/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks join their job, see job_join.h. */
#include "zipperd/job/job_join.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/capacity.h"
#include "zipperd/conn/listener.h"
#include "zipperd/job/job_direct.h"
#include "zipperd/job/job_end.h"
#include "zipperd/job/job_return.h"
#include "zipperd/job/job_world.h"

/* Makes a group, whose ranks count from 0: a part, or in a mixed job the whole world. */
static int alloc_group(struct job *j, struct rank **group, uint32_t size)
{
	*group = calloc(size, sizeof(**group));
	if (!*group)
		return -ENOMEM;
	for (uint32_t i = 0; i < size; i++) {
		(*group)[i].job = j;
		(*group)[i].lrank = i;
		(*group)[i].vrank = ZCTL_VRANK_ANY;
		list_init(&(*group)[i].channels);
	}
	return 0;
}

static int check_size(const struct job *j, uint32_t size, struct zerr *err)
{
	uint64_t total = size;
	for (uint32_t i = 0; i < j->nparts; i++)
		total += j->mixed ? 0 : j->part[i].size;
	return job_check_ranks(j->daemon, total, err);
}

/* inner: the rank comes by a trunk. */
static int group_of_part(struct job *j, uint32_t part, bool inner, const struct zctl_join *in, struct rank **group,
	struct zerr *err)
{
	struct job_part *p = &j->part[part];
	uint32_t size = p->size ? p->size : j->expected[part];
	if (size && size != in->size)
		return zerr_set(err, -EINVAL, "it says that part %s has %u ranks, but %s %u", p->name, in->size,
			p->size ? "others said" : "the launcher started", size);
	if (!p->size) {
		int rc = check_size(j, in->size, err);
		if (rc != 0)
			return rc;
		if (alloc_group(j, &p->rank, in->size) != 0)
			return zerr_set(err, -ENOMEM, "out of memory");
		p->size = in->size;
	}
	p->shares |= inner;
	p->direct += !inner;
	*group = p->rank;
	return job_fits(j, in->endpoints, 1, err);
}

static int group_of_world(struct job *j, const struct zctl_join *in, struct rank **group, struct zerr *err)
{
	uint32_t size = j->total;
	for (uint32_t i = 0; !j->total && i < j->nparts; i++)
		size += j->expected[i];
	if (size && size != in->size)
		return zerr_set(err, -EINVAL, "it says that there are %u ranks in all, but %s %u", in->size,
			j->total ? "others said" : "the launcher started", size);
	if (!j->total) {
		int rc = check_size(j, in->size, err);
		if (rc != 0)
			return rc;
		if (alloc_group(j, &j->world, in->size) != 0)
			return zerr_set(err, -ENOMEM, "out of memory");
		j->total = in->size;
	}
	*group = j->world;
	return 0;
}

/* Finds the rank of the job that joins. 0 or a negative errno with text: what does not fit. */
static int place_rank(struct job *j, const struct conn *conn, const struct zctl_join *in, struct rank **out,
	struct zerr *err)
{
	uint32_t part = 0;
	struct rank *group = NULL;
	if (strcmp(in->parts, j->part_names) != 0)
		return zerr_set(err, -EINVAL, "it says that the parts are %.80s, others said %.80s", in->parts,
			j->part_names);
	if (strcmp(in->entries, j->entries) != 0)
		return zerr_set(err, -EINVAL, "it says that the parts come by %.80s, others said %.80s",
			in->entries[0] ? in->entries : "their own fabrics", j->entries[0] ? j->entries : "their own");
	while (part < j->nparts && strcmp(j->part[part].name, in->part) != 0)
		part++;
	if (part == j->nparts)
		return zerr_set(err, -EINVAL, "its part %s is not among the job's (%.80s)", in->part, j->part_names);
	if (!listener_serves(conn->listener, j->part[part].fabric))
		return zerr_set(err, -EINVAL, "it came to %.80s, which does not serve its fabric %s",
			conn->listener->text, j->daemon->settings.fabric[j->part[part].fabric]);
	if (j->mixed_known && j->mixed != (in->mixed != 0))
		return zerr_set(err, -EINVAL, "it was started by one mpirun %s, others were not",
			in->mixed ? "for all parts" : "for its part alone");
	if (in->size == 0 || in->rank >= in->size)
		return zerr_set(err, -EINVAL, "it says that it is rank %u of %u", in->rank, in->size);
	if (j->njoined > 0 && j->tuning != in->tuning)
		return zerr_set(err, -EINVAL,
			"it has another tuning table than the others (ZIPPER_TUNING, ZIPPER_TUNE)");
	if (j->njoined > 0 && j->nrails != in->nrails)
		return zerr_set(err, -EINVAL, "it names %u zipper%s, others %u (ZIPPER_ZIPPERD)", in->nrails,
			in->nrails > 1 ? "s" : "", j->nrails);
	if (j->njoined > 0 && j->rail != in->rail)
		return zerr_set(err, -EINVAL, "it names this zipper as number %u, others as number %u (ZIPPER_ZIPPERD)",
			in->rail + 1, j->rail + 1);
	if (j->njoined > 0 && j->endpoints != in->endpoints)
		return zerr_set(err, -EINVAL, "it has %u endpoint%s, others %u (ZIPPER_ENDPOINTS)", in->endpoints,
			in->endpoints > 1 ? "s" : "", j->endpoints);
	if (j->njoined > 0 && j->records != (in->records != 0))
		return zerr_set(err, -EINVAL, "%s (ZIPPER_PROFILE)",
			in->records ? "it records a graph, others do not" : "it records no graph, others do");
	if (in->incarnation > ZCTL_INCARNATIONS_MAX)
		return zerr_set(err, -EINVAL, "it says that this is incarnation %u of its rail", in->incarnation);
	if (j->had_tracks != 0 && in->tracks != 0 && j->had_tracks != in->tracks)
		return zerr_set(err, -EINVAL, "it comes back for %u tracks, others for %u", in->tracks, j->had_tracks);
	j->mixed = in->mixed;
	j->mixed_known = true;
	int rc = in->mixed ? group_of_world(j, in, &group, err) : group_of_part(j, part, conn->inner, in, &group, err);
	if (rc != 0)
		return rc;
	struct rank *r = &group[in->rank];
	if (r->joined)
		return zerr_set(err, -EEXIST, "there is a rank %u already, on %s", in->rank, r->host ? r->host : "?");
	r->part = part;
	*out = r;
	return job_direct_note(r, in, err);
}

static bool is_complete(const struct job *j)
{
	if (j->mixed)
		return j->njoined == j->total;
	for (uint32_t i = 0; i < j->nparts; i++)
		if (j->part[i].size == 0 || j->part[i].joined < j->part[i].size)
			return false;
	return true;
}

/* Does a rank come back to its job, while others begin one of that name, or the other way round? A launcher says which
 * of both it is, since protocol 3. */
static bool is_of_another(const struct job *j, const struct zctl_join *in)
{
	if (j->njoined > 0)
		return (j->incarnation > 0) != (in->incarnation > 0);
	if (!j->launcher || zctl_protocol(&j->launcher->hello) < ZCTL_PROTOCOL_WAITS)
		return false;
	return j->again != (in->incarnation > 0);
}

/* Does it come back from another run of that name? Where all ranks are older none knows. */
static bool is_of_another_run(const struct job *j, const struct zctl_join *in)
{
	return in->incarnation > 0 && in->run != 0 && j->run != 0 && in->run != j->run;
}

/* Does the end of the job not concern the rank? A job that goes on by other zippers may come back to this one later. */
static bool is_past(const struct job *j, const struct zctl_join *in)
{
	if (j->state != JOB_OVER)
		return false;
	if (in->age_ms < j->daemon->now_ms - j->over_ms || job_return_is(j) != (in->incarnation > 0))
		return true;
	return job_return_is(j) && (!in->waits || is_of_another_run(j, in));
}

/* The rank comes too late for the job of that name: tells it why. */
static void refuse_late(struct conn *conn, const struct job *j, const struct zctl_join *in)
{
	long long ago_s = (j->daemon->now_ms - j->over_ms) / 1000;
	if (j->state == JOB_OVER && job_return_is(j))
		job_end_tell(j, conn, 1, j->text);
	else if (j->state == JOB_OVER && ago_s > 0)
		conn_refuse(conn, ECANCELED, "job %s failed %lld s ago: %s", j->key, ago_s, j->text);
	else if (j->state == JOB_OVER)
		conn_refuse(conn, ECANCELED, "%s", j->text);
	else if (j->rail != in->rail)
		conn_refuse(conn, EINVAL, "job %s names this zipper twice, as number %u and %u (ZIPPER_ZIPPERD)",
			j->key, j->rail + 1, in->rail + 1);
	else
		conn_refuse(conn, EALREADY,
			"job %s runs already, with all its ranks: a job inside a job must not have its ZIPPER_JOB",
			j->key);
}

/* The rank does not fit into the job, which ends. A job that comes back may find room later, or that an earlier
 * connection of the rank has ended. */
static void turn_away(struct job *j, struct conn *conn, const struct zctl_join *in, int rc, const char *why)
{
	char text[ZCTL_TEXT_MAX + 1];
	snprintf(text, sizeof(text), "rank %u of part %.40s on %.40s does not fit in: %.120s", in->rank, in->part,
		in->host, why);
	if (rc == -EBUSY || rc == -EDQUOT || rc == -ENOMEM || (rc == -EEXIST && in->incarnation > 0)) {
		conn_refuse(conn, -rc, "%s", text);
		job_end_here(j, text);
		return;
	}
	if (in->incarnation > 0) {
		j->incarnation = in->incarnation;
		job_end_tell(j, conn, 1, text);
	} else {
		conn_refuse(conn, -rc, "%s", text);
	}
	job_end(j, 1, text);
}

void job_join(struct daemon *d, struct conn *conn, const struct zctl_join *in)
{
	struct zerr err = {.text = ""};
	struct rank *r = NULL;
	struct job *j = job_find(d, conn->hello.user, conn->hello.job);
	if (j && is_past(j, in)) {
		job_forget(j);
		j = NULL;
	}
	/* Ranks that come back belong to a job that ran before. */
	if (!j && (in->incarnation > 0 || job_may_begin(d, &err) == 0))
		j = job_create(d, conn->hello.user, conn->hello.job, in->parts, in->entries, &err);
	if (!j) {
		zlog(ZLOG_WARN, "job %s/%s: %s", conn->hello.user, conn->hello.job, err.text);
		conn_refuse(conn, EINVAL, "job %s/%s: %s", conn->hello.user, conn->hello.job, err.text);
		return;
	}
	if (is_of_another_run(j, in)) {
		zlog(ZLOG_WARN, "job %s: rank %u of part %s on %s comes back from another run of that name: refused",
			j->key, in->rank, in->part, in->host);
		conn_refuse(conn, EALREADY,
			"another run of job %s is here: end the ranks of the one that is over (each run needs a "
			"ZIPPER_JOB of its own)",
			j->key);
		return;
	}
	if (j->state != JOB_FORMING) {
		refuse_late(conn, j, in);
		return;
	}
	if (is_of_another(j, in)) {
		conn_refuse(conn, EALREADY, "another job %s is beginning, %s lost this zipper", j->key,
			in->incarnation > 0 ? "which has not" : "whose ranks come back after they have");
		return;
	}
	int rc = capacity_lacks(conn, &err) ? -EBUSY : place_rank(j, conn, in, &r, &err);
	if (rc != 0) {
		turn_away(j, conn, in, rc, err.text);
		return;
	}
	r->joined = true;
	r->conn = conn;
	memcpy(r->key, conn->key, sizeof(r->key));
	r->abi = in->abi;
	r->universe = in->universe;
	r->tag_ub = in->tag_ub;
	j->tuning = in->tuning;
	j->endpoints = in->endpoints;
	j->records = in->records != 0;
	j->rail = in->rail;
	j->nrails = in->nrails;
	if (in->incarnation > j->incarnation)
		j->incarnation = in->incarnation;
	if (in->incarnation > 0 && in->tracks > 0)
		j->had_tracks = in->tracks;
	if (in->incarnation > 0 && j->run == 0)
		j->run = in->run;
	r->wish = in->vrank;
	r->host = strdup(in->host); /* NULL only makes a worse message later */
	conn->rank = r;
	conn->held_at = &r->conn;
	conn_settle(conn);
	j->part[r->part].joined++;
	job_tell_launcher(j, ZCTL_EV_RANK_JOINED, ++j->njoined, "");
	job_return_wait(j);
	if (is_complete(j))
		job_world_start(j);
}

struct text {
	char *buf;
	size_t cap, len;
};

static void append(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append(struct text *t, const char *fmt, ...)
{
	va_list ap;
	if (t->len >= t->cap)
		return;
	va_start(ap, fmt);
	int n = vsnprintf(t->buf + t->len, t->cap - t->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += (size_t)n;
}

/* " ranks 1, 2 and 5 more of 9 did not report" */
static void append_ranks(struct text *t, const struct job *j, const char *group, const struct rank *rank, uint32_t size,
	uint32_t joined)
{
	uint32_t missing = size - joined, named = 0;
	const char *what = job_return_is(j) ? "did not come back" : "did not report: was libzipper.so preloaded there?";
	append(t, "%s%s: rank%s ", t->len ? "; " : "", group, missing > 1 ? "s" : "");
	for (uint32_t i = 0; i < size && named < 3; i++)
		if (!rank[i].joined)
			append(t, "%s%u", named++ ? ", " : "", i);
	if (missing > named)
		append(t, " and %u more", missing - named);
	append(t, " of %u %s", size, what);
}

void job_join_missing(const struct job *j, char *buf, size_t cap)
{
	struct text t = {.buf = buf, .cap = cap};
	buf[0] = '\0';
	if (j->mixed_known && j->mixed && j->njoined < j->total)
		append_ranks(&t, j, "world", j->world, j->total, j->njoined);
	for (uint32_t i = 0; i < j->nparts; i++) {
		const struct job_part *p = &j->part[i];
		char group[ZCTL_NAME_MAX + 8];
		snprintf(group, sizeof(group), "part %s", p->name);
		if (p->joined == 0)
			append(&t, "%spart %s: nobody %s", t.len ? "; " : "", p->name,
				job_return_is(j) ? "came back" : "reported");
		else if (!j->mixed && p->joined < p->size)
			append_ranks(&t, j, group, p->rank, p->size, p->joined);
	}
}

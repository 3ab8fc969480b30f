/* SPDX-License-Identifier: BSD-3-Clause */
/* Traffic over the bridge, see job_stats.h. */
#include "zipperd/job/job_stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/job/circuit.h"
#include "zipperd/job/job_traffic.h"

static void add(struct zctl_dirstat *s, const struct zctl_lane_status *l)
{
	s->msgs += l->msgs;
	s->bytes += l->bytes;
	s->envelopes += l->envelopes;
	s->copied_bytes += l->copied_bytes;
	s->naks += l->naks;
	s->shared_bytes += l->shared_bytes;
	s->direct_msgs += l->direct_msgs;
	s->direct_bytes += l->direct_bytes;
	if (l->queue_high_bytes > s->queue_high_bytes)
		s->queue_high_bytes = l->queue_high_bytes;
}

static struct zctl_dirstat *find_dir(struct zctl_stats_reply *r, const char *from, const char *to, uint32_t max)
{
	for (uint32_t i = 0; i < r->ndirs; i++)
		if (strcmp(r->dirs[i].from, from) == 0 && strcmp(r->dirs[i].to, to) == 0)
			return &r->dirs[i];
	if (r->ndirs == max)
		return NULL;
	struct zctl_dirstat *s = &r->dirs[r->ndirs++];
	snprintf(s->from, sizeof(s->from), "%s", from);
	snprintf(s->to, sizeof(s->to), "%s", to);
	return s;
}

struct counting {
	struct zctl_stats_reply *reply;
	uint32_t max;
};

static void add_circuit(void *arg, const char *from, const char *to, const struct lane *l)
{
	const struct counting *n = arg;
	struct zctl_dirstat *s = find_dir(n->reply, from, to, n->max);
	struct zctl_lane_status sum = {.msgs = 0};
	job_traffic_add(&sum, l);
	if (s)
		add(s, &sum);
}

static void add_job(struct zctl_stats_reply *r, const struct job *j, uint32_t max)
{
	for (uint32_t a = 0; a < j->nparts; a++)
		for (uint32_t b = 0; b < j->nparts; b++) {
			struct zctl_lane_status sum;
			struct zctl_dirstat *s;
			if (a == b && (!j->direct || !j->direct[a * j->nparts + a].msgs))
				continue;
			if (!(s = find_dir(r, j->part[a].name, j->part[b].name, max)))
				continue;
			job_traffic_sum(j, a, b, &sum);
			add(s, &sum);
		}
}

/* May this connection see the job? A launcher sees its own job, an administrator the user's jobs, or the one that it
 * named. */
static bool sees(const struct conn *conn, const struct job *j)
{
	char key[sizeof(j->key)];
	if (conn->launches)
		return conn->launches == j;
	if (conn->hello.service != ZCTL_SERVICE_ADMIN)
		return false;
	snprintf(key, sizeof(key), "%s/%s", conn->hello.user, conn->hello.job);
	return conn->hello.job[0] ? strcmp(key, j->key) == 0 : strncmp(key, j->key, strlen(key)) == 0;
}

void job_stats_reply(struct conn *conn)
{
	const uint32_t max = ZCTL_PARTS_MAX * ZCTL_PARTS_MAX;
	struct zctl_msg msg = {.type = ZCTL_STATS_REPLY};
	struct daemon *d = conn->daemon;
	msg.u.stats.dirs = calloc(max, sizeof(*msg.u.stats.dirs));
	if (!msg.u.stats.dirs) {
		conn_refuse(conn, ENOMEM, "out of memory");
		return;
	}
	for (struct list *node = d->all_jobs.next; node != &d->all_jobs; node = node->next) {
		const struct job *j = list_entry(node, struct job, link);
		if (sees(conn, j))
			add_job(&msg.u.stats, j, max);
	}
	if (conn->hello.service == ZCTL_SERVICE_ADMIN)
		circuit_count_all(d, conn->hello.user, conn->hello.job, add_circuit,
			&(struct counting){.reply = &msg.u.stats, .max = max});
	conn_send(conn, &msg);
	zctl_free(&msg);
}

void job_stats_log(const struct job *j)
{
	char text[600];
	int n = 0;
	text[0] = '\0';
	for (uint32_t a = 0; a < j->nparts; a++)
		for (uint32_t b = 0; b < j->nparts; b++) {
			struct zctl_lane_status sum;
			if (n >= (int)sizeof(text) || !job_traffic_sum(j, a, b, &sum) || sum.envelopes == 0)
				continue;
			n += snprintf(text + n, sizeof(text) - (size_t)n,
				"; %s>%s %" PRIu64 " messages, %" PRIu64 " bytes", j->part[a].name, j->part[b].name,
				sum.msgs, sum.bytes);
		}
	zlog(ZLOG_INFO, "job %s: over after %.1f s%s", j->key, (double)(j->daemon->now_ms - j->started_ms) / 1000,
		n ? text : "; nothing crossed");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepting a trunk, see trunk_accept.h. */
#include "zipperd/job/trunk_accept.h"

#include <errno.h>

#include "common/base/log.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/conn/crew.h"
#include "zipperd/conn/listener.h"
#include "zipperd/conn/quota.h"
#include "zipperd/job/job.h"
#include "zipperd/trunk/trunk.h"

/* The other fabric of the workers. Data channels belong to a track's workers; sessions to any. -1: refused. */
static int find_other(struct conn *conn, int from, uint32_t share, uint32_t *number)
{
	struct daemon *d = conn->daemon;
	const struct job *j = job_find(d, conn->hello.user, conn->hello.job);
	*number = crew_turn(d);
	if (share == ZCTL_SHARE_SESSIONS)
		return from == 0 ? 1 : 0;
	const uint32_t part = (share - zctl_share(0, 0)) / ZCTL_TRACKS_MAX;
	const uint32_t track = (share - zctl_share(0, 0)) % ZCTL_TRACKS_MAX;
	if (!j || j->state != JOB_RUNNING || part >= j->nparts || track >= j->tracks || j->part[part].fabric == from)
		return -1;
	*number = j->number + track;
	return j->part[part].fabric;
}

void trunk_accept(struct conn *conn, const struct zctl_trunk *msg)
{
	struct daemon *d = conn->daemon;
	struct zerr err = {.text = ""};
	uint32_t number;
	const int from = settings_find_fabric(&d->settings, msg->from);
	const int other = from >= 0 ? find_other(conn, from, msg->share, &number) : -1;
	if (d->stopping || !listener_serves(conn->listener, from) || other < 0 || other >= d->settings.nfabrics) {
		conn_refuse(conn, d->stopping ? ESHUTDOWN : EINVAL, "%s",
			d->stopping ? "zipperd is shutting down" : "no job of that name needs such a trunk here");
		return;
	}
	struct worker *in = crew_worker(d, from, other, number, &err);
	struct trunk *t = in ? trunk_create(d, conn->hello.user, conn->hello.job) : NULL;
	if (!t) {
		conn_refuse(conn, ENOMEM, "%s", err.text[0] ? err.text : "out of memory");
		return;
	}
	t->listener = conn->listener;
	t->conn_ready = conn->watch.ready;
	t->seal = conn->seal;
	conn_settle(conn);
	conn_send(conn, &(struct zctl_msg){.type = ZCTL_TRUNKED});
	if (conn->state != CONN_READY || conn->head) {
		trunk_free(t);
		conn_close(conn);
		return;
	}
	struct zlink *z = conn_release(conn);
	if (msg->share == ZCTL_SHARE_SESSIONS && z->ops->guard)
		z->ops->guard(z);
	if (trunk_connect(t, z, in, in->opposite, &err) == 0) {
		trunk_rest(t);
		return;
	}
	zlog(ZLOG_ERROR, "job %s/%s: a trunk: %s", t->user, t->job, err.text);
	z->ops->close(z);
	d->nconnections--;
	quota_give(t->account, QUOTA_CONNECTIONS);
	trunk_free(t);
}

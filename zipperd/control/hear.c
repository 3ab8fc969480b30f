/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of connections, see hear.h. */
#include "zipperd/control/hear.h"

#include <errno.h>

#include "common/base/log.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/conn/listener.h"
#include "zipperd/control/request.h"
#include "zipperd/job/circuit.h"
#include "zipperd/job/launcher.h"
#include "zipperd/job/rank.h"

#define READ_BUDGET 16		   /* messages per turn */
#define HANGUPS_MAX 64		   /* ended connections that are put in order */
#define STRANGER_MAX_BYTES 4096	   /* of a message before the sender has proved who it is */
#define LEAVE_MAX_BYTES (4u << 20) /* that a dismissed connection may go on sending */

static void turn(struct conn *);

/* --- ends --- */

static void close_conn(struct conn *conn)
{
	if (conn->circuit)
		circuit_forget(conn->circuit);
	conn_close(conn);
}

/* The connection is gone. Its rank dies with it, or its launcher. */
static void lost(struct conn *conn, const char *how)
{
	struct rank *rank = conn->rank;
	struct job *job = conn->launches;
	close_conn(conn);
	if (rank)
		rank_lost(rank, how);
	if (job)
		launcher_gone(job, how, false);
}

/* It makes no sense: one line in the log, and it is closed. */
static void breach(struct conn *conn, const char *what)
{
	struct daemon *d = conn->daemon;
	uint32_t dropped;
	if (conn->state == CONN_DEAD)
		return;
	if (limit_pass(&d->bad_conn, d->now_ms, &dropped)) {
		if (dropped)
			zlog(ZLOG_WARN, "%u more connections that made no sense", dropped);
		zlog(ZLOG_WARN, "%s: %s: connection closed", conn->zlink->peer, what);
	}
	lost(conn, what);
}

/* --- what it says --- */

static void on_bye(struct conn *conn)
{
	struct rank *rank = conn->rank;
	struct job *job = conn->launches;
	close_conn(conn);
	if (rank)
		rank_bye(rank);
	if (job)
		launcher_gone(job, "left", true);
}

/* A message is handled after poll has returned, so that nothing closes a link inside its own poll. */
struct received {
	bool bye, any;
	uint32_t protocol;
	struct zctl_msg msg;
	struct zerr bad;
	uint64_t bytes;
};

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct received *r = ctx;
	(void)raw;
	r->any = true;
	r->bytes += ZWIRE_ENV_BYTES + (uint64_t)env->len;
	if (env->kind == ZWIRE_BYE && env->len == 0) {
		r->bye = true;
		return 0;
	}
	if (env->kind != ZWIRE_CTRL)
		return zerr_set(&r->bad, -EPROTO, "%s where a control message belongs", zwire_kind_name(env->kind));
	return zctl_decode_as(&r->msg, payload, env->len, r->protocol, &r->bad);
}

/* The place for payloads that are dropped. */
static void *place_leaving(void *ctx, const struct zwire_env *env)
{
	static uint8_t dropped[ZWIRE_MAX_PAYLOAD];
	(void)ctx;
	(void)env;
	return dropped;
}

static int take_leaving(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct received *r = ctx;
	(void)raw;
	(void)payload;
	r->any = true;
	r->bytes += ZWIRE_ENV_BYTES + (uint64_t)env->len;
	r->bye |= env->kind == ZWIRE_BYE;
	return 0;
}

/* A rank that dies takes others with it: its mpiexec kills them at once, maybe before zipperd has looked. The rank that
 * died first is to be named. The epoll set for messages cannot tell which that was, as a rank that spoke shortly before
 * stands in front there. So connections that ended earlier are heard first. A BYE that waits in one of them says that
 * its rank did not die. */
static void hear_earlier_ends(struct conn *conn)
{
	void *gone[HANGUPS_MAX];
	int n = conn->rank ? watch_hangups(conn->daemon, gone, HANGUPS_MAX) : 0;
	for (int i = 0; i < n && gone[i] != conn && conn->rank; i++) {
		struct conn *earlier = gone[i];
		if (earlier->rank && earlier->rank->job == conn->rank->job && earlier->state == CONN_READY)
			turn(earlier);
	}
}

static void ended(struct conn *conn, int rc)
{
	hear_earlier_ends(conn);
	lost(conn, rc == -ESHUTDOWN ? "closed its connection"
		   : conn->inner    ? "its node lost its connection"
				    : "lost its connection");
}

static void answer(struct conn *conn, struct zctl_msg *msg)
{
	const char *what = request_answer(conn, msg);
	if (what)
		breach(conn, what);
}

/* Takes one message. true: there may be more. */
static bool read_one(struct conn *conn)
{
	bool leaving = conn->state == CONN_LEAVING;
	struct received r = {.protocol = conn->hello.protocol};
	struct zsink sink = {.take = take, .ctx = &r};
	if (leaving)
		sink = (struct zsink){.place = place_leaving, .take = take_leaving, .ctx = &r};
	else if (conn->state != CONN_READY)
		sink.max_len = STRANGER_MAX_BYTES;
	int rc = conn->zlink->ops->poll(conn->zlink, &sink, 1);
	if (leaving) {
		conn->dropped_bytes += r.bytes;
		if ((rc < 0 && rc != -EAGAIN) || r.bye || conn->dropped_bytes > LEAVE_MAX_BYTES)
			close_conn(conn);
		return r.any;
	}
	if (r.bad.text[0])
		breach(conn, r.bad.text);
	else if (rc == -EPROTO)
		breach(conn, "not what a zipper's peer sends");
	else if (rc == -EBADMSG)
		breach(conn, zlink_why(rc));
	else if (rc == -EMFILE)
		breach(conn, "no descriptors are left for its connection (ulimit -n)");
	else if (r.bye)
		on_bye(conn);
	else if (r.any && rc >= 0)
		answer(conn, &r.msg);
	else if (rc < 0 && rc != -EAGAIN)
		ended(conn, rc);
	if (r.msg.type)
		zctl_free(&r.msg);
	return r.any;
}

static void turn(struct conn *conn)
{
	if (conn->head || conn->blocked)
		conn_send_queue(conn);
	for (int i = 0; i < READ_BUDGET; i++) {
		bool any = read_one(conn);
		if (conn->state == CONN_DEAD)
			return;
		if (!any && conn->zlink->ops->arm(conn->zlink, ZLINK_RX) == 0)
			return;
	}
	if (!list_linked(&conn->again))
		list_add(&conn->daemon->again, &conn->again);
}

void hear_ready(struct watch *watch)
{
	struct conn *conn = (struct conn *)(void *)watch;
	if (conn->state != CONN_DEAD)
		turn(conn);
}

void hear_continue_all(struct daemon *d)
{
	struct list round;
	list_take(&round, &d->again); /* connections that add themselves again are for the next turn */
	while (!list_empty(&round)) {
		struct conn *conn = list_entry(round.next, struct conn, again);
		list_del(&conn->again);
		turn(conn);
	}
}

/* --- time --- */

/* Has it proved who it is, and said nothing since then? */
static bool asks_nothing(const struct conn *conn)
{
	return conn->state == CONN_READY && !conn->rank && !conn->launches && !conn->circuit && !conn->head;
}

static void expire(struct conn *conn)
{
	if (conn->state == CONN_LEAVING) {
		close_conn(conn);
	} else if (asks_nothing(conn)) {
		conn_refuse(conn, ETIMEDOUT, "zipperd at %s has waited in vain to hear what this connection is for",
			conn->listener->text);
	} else if (conn->state == CONN_READY) {
		lost(conn, "does not read what it is sent");
	} else {
		breach(conn, "did not say who it is in time");
	}
}

/* The first connection of the list whose time is over, or NULL. */
static struct conn *overdue(const struct daemon *d, const struct list *head)
{
	for (const struct list *node = head->next; node != head; node = node->next) {
		struct conn *conn = list_entry(node, struct conn, link);
		if (conn->deadline_ms && conn->deadline_ms <= d->now_ms)
			return conn;
		if (head == &d->strangers) /* all have the same time: the oldest is the first */
			return NULL;
	}
	return NULL;
}

void hear_expire_all(struct daemon *d)
{
	struct list *lists[] = {&d->strangers, &d->greeted, &d->leaving};
	struct conn *conn;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		while ((conn = overdue(d,
				lists[i]))) /* from the beginning: others of its job may have moved to another list */
			expire(conn);
}

void hear_close_all(struct daemon *d)
{
	struct list *lists[] = {&d->strangers, &d->greeted, &d->known, &d->leaving};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		while (!list_empty(lists[i]))
			close_conn(list_entry(lists[i]->next, struct conn, link));
	conn_bury_all(d);
}

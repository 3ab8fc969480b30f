/* SPDX-License-Identifier: BSD-3-Clause */
/* The protection of connections, see protect.h. */
#include "zipperd/conn/protect.h"

#include <errno.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/listener.h"

static const char *const words[ZSEAL_LEVELS] = {"nothing", "integrity=yes", "encrypt=yes"};

static enum zseal_level of_network(const struct conn *conn)
{
	return zaddr_seal(&conn->listener->where.addr, ZSEAL_NONE);
}

static void refuse(struct conn *conn, const char *what)
{
	uint32_t dropped;
	if (limit_pass(&conn->daemon->bad_conn, conn->daemon->now_ms, &dropped))
		zlog(ZLOG_WARN, "%s: refused: %s (listen says %s)", conn->zlink->peer, what, words[of_network(conn)]);
	conn_refuse(conn, EPROTO, "zipperd at %.100s: %s", conn->listener->text, what);
}

/* A peer behind other zipperds cannot seal: the last of them can, or that way stays clear. It does so for this user:
 * the proof of another user protects nothing of this one. */
static bool agree_inside(struct conn *conn)
{
	const bool own = conn->seal == ZSEAL_NONE || strcmp(conn->hop_user, conn->hello.user) == 0;
	if (own && conn->seal >= of_network(conn))
		return true;
	refuse(conn, "its connections are protected, and the zipperd on the way here protects this one less: next in "
		     "its zipperd.conf says so, or the hostfile does");
	return false;
}

bool protect_agree(struct conn *conn, uint8_t wanted, uint8_t *level)
{
	*level = ZSEAL_NONE;
	if (wanted == ZSEAL_INSIDE)
		return agree_inside(conn);
	*level = wanted > of_network(conn) ? wanted : (uint8_t)of_network(conn);
	if (*level != ZSEAL_NONE && zctl_protocol(&conn->hello) < 2) {
		refuse(conn, "its connections are protected, which your release does not know: update it");
		return false;
	}
	if (*level == ZSEAL_NONE || (conn->zlink->ops->seal && conn->seal == ZSEAL_NONE))
		return true;
	refuse(conn, "this connection cannot be protected: only those over TCP can, and once");
	return false;
}

bool protect_accept(struct conn *conn, uint8_t said, uint8_t *level)
{
	if (!protect_agree(conn, said, level))
		return false;
	if (said == ZSEAL_INSIDE || said == *level)
		return true;
	refuse(conn, "its connections are protected, and this one is not as the one before it was");
	return false;
}

bool protect_begin(struct conn *conn, uint8_t level, const uint8_t *key, const uint8_t *salt)
{
	struct zseal with;
	struct zerr err;
	if (level == ZSEAL_NONE)
		return conn->state != CONN_DEAD;
	if (conn->state == CONN_DEAD || conn->state == CONN_LEAVING)
		return false;
	if (conn->head) { /* it does not read its first few messages */
		conn_close(conn);
		return false;
	}
	zauth_module.seal(&with, (enum zseal_level)level, key, ZAUTH_ANSWERS, salt);
	int rc = conn->zlink->ops->seal(conn->zlink, &with, &err);
	zauth_module.wipe(&with, sizeof(with));
	if (rc != 0) {
		zlog(ZLOG_WARN, "%s: %s: connection closed", conn->zlink->peer, err.text);
		conn_close(conn);
		return false;
	}
	conn->seal = level;
	return true;
}

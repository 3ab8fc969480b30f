/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP sockets: names to addresses, listening, connecting, options. Set-up only. */
#define _GNU_SOURCE
#include "common/transport/tcp/tcp_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/transport/base/inherited.h"
#include "common/transport/base/socket.h"

/* The ranks of a large job connect all at once; the kernel cuts this to net.core.somaxconn. */
#define BACKLOG 4096
/* A host that has gone silently (power, cable) is noticed after 10 + 3 * 5 seconds on an idle link. While sent bytes
 * are not acknowledged there are no keepalive probes, and the bytes are sent again for a quarter of an hour.
 * TCP_USER_TIMEOUT ends that. But it also ends links to a living peer that does not read for that long, as a rank does
 * that computes. So it is only for links that carry little. */
#define KEEPALIVE_IDLE_S 10
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_PROBES 3

static int resolve(struct addrinfo **out, const struct zaddr *a, int flags, struct zerr *err)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = flags | AI_NUMERICSERV,
	};
	char port[8];
	snprintf(port, sizeof(port), "%u", a->port);
	int rc = getaddrinfo(a->host, port, &hints, out);
	if (rc == EAI_SYSTEM)
		return zerr_set(err, -errno, "%s: %s", a->host, strerror(errno));
	if (rc == EAI_MEMORY)
		return zerr_set(err, -ENOMEM, "%s: %s", a->host, gai_strerror(rc));
	if (rc != 0)
		return zerr_set(err, -ENOENT, "%s: %s", a->host, gai_strerror(rc));
	return 0;
}

int tcp_socket_resolve(const struct zaddr *a, struct zerr *err)
{
	struct addrinfo *list = NULL;
	int rc = resolve(&list, a, AI_PASSIVE, err);
	if (rc == 0)
		freeaddrinfo(list);
	return rc;
}

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

int tcp_socket_tune(int fd)
{
	int rc = set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (rc == 0)
		rc = set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	if (rc == 0)
		rc = set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	if (rc == 0)
		rc = set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
	if (rc == 0)
		rc = set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
	return rc;
}

void tcp_socket_guard(int fd)
{
	set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 1000 * (KEEPALIVE_IDLE_S + KEEPALIVE_PROBES * KEEPALIVE_INTERVAL_S));
}

static int listen_on(const struct addrinfo *ai)
{
	int inherited = zinherited_take(ai->ai_addr, ai->ai_addrlen);
	if (inherited >= 0)
		return inherited;
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int rc = set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1); /* a restart finds the port in TIME_WAIT */
	if (rc == 0 && (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0))
		rc = -errno;
	if (rc < 0) {
		close(fd);
		return rc;
	}
	return fd;
}

int tcp_socket_listen(const struct zaddr *a, struct zerr *err)
{
	struct addrinfo *list;
	int rc = resolve(&list, a, AI_PASSIVE, err);
	if (rc < 0)
		return rc;
	for (const struct addrinfo *ai = list; ai; ai = ai->ai_next) {
		rc = listen_on(ai);
		if (rc >= 0)
			break;
	}
	freeaddrinfo(list);
	return rc < 0 ? zerr_set(err, rc, "%s", strerror(-rc)) : rc;
}

/* A connection to a free local port, from the range that the kernel chooses from, can meet itself. */
static int is_self(int fd)
{
	struct sockaddr_storage near, far;
	socklen_t near_len = sizeof(near), far_len = sizeof(far);
	memset(&near, 0, sizeof(near));
	memset(&far, 0, sizeof(far));
	if (getsockname(fd, (struct sockaddr *)&near, &near_len) < 0 ||
		getpeername(fd, (struct sockaddr *)&far, &far_len) < 0)
		return 0;
	return near_len == far_len && memcmp(&near, &far, near_len) == 0;
}

static int connect_to(const struct addrinfo *ai, int64_t deadline_ms)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int rc = zsocket_connect(fd, ai->ai_addr, ai->ai_addrlen, deadline_ms);
	if (rc == 0 && is_self(fd))
		rc = -ECONNREFUSED;
	if (rc == 0)
		rc = tcp_socket_tune(fd);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	return fd;
}

int tcp_socket_connect(const struct zaddr *a, int timeout_ms, struct zerr *err)
{
	int64_t deadline_ms = zclock_ms() + (timeout_ms > 0 ? timeout_ms : 0);
	struct addrinfo *list;
	int rc = resolve(&list, a, 0, err);
	if (rc < 0)
		return zerr_prefix(err, rc, "cannot connect");
	for (const struct addrinfo *ai = list; ai; ai = ai->ai_next) {
		rc = connect_to(ai, deadline_ms);
		if (rc >= 0 || rc == -ETIMEDOUT)
			break;
	}
	freeaddrinfo(list);
	if (rc < 0) {
		char text[300];
		zaddr_format(a, text, sizeof(text));
		return zerr_set(err, rc, "cannot connect to %s: %s", text, strerror(-rc));
	}
	return rc;
}

void tcp_socket_peer(int fd, char *buf, size_t cap)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char host[INET6_ADDRSTRLEN + 20], port[8]; /* room for a scope */
	if (getpeername(fd, (struct sockaddr *)&sa, &len) < 0 ||
		getnameinfo((struct sockaddr *)&sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		snprintf(buf, cap, "unknown");
	else
		snprintf(buf, cap, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

uint16_t tcp_socket_port(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} sa;
	socklen_t len = sizeof(sa);
	if (getsockname(fd, &sa.any, &len) < 0)
		return 0;
	if (sa.any.sa_family == AF_INET)
		return ntohs(sa.v4.sin_port);
	return sa.any.sa_family == AF_INET6 ? ntohs(sa.v6.sin6_port) : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets of the service manager, see inherited.h. */
#include "common/transport/base/inherited.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3 /* as sd_listen_fds(3) says */
#define FDS_MAX 256

static int fds[FDS_MAX], nfds;
static int (*lender)(const struct sockaddr *, socklen_t len); /* where the sockets are another copy's */

static long number_of(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long n = text ? strtol(text, &end, 10) : -1;
	return text && *text && !*end ? n : -1;
}

/* Is it a stream socket that listens? */
static bool listens(int fd)
{
	int type = 0, accepts = 0;
	socklen_t len = sizeof(type), accepts_len = sizeof(accepts);
	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &accepts_len) == 0 && accepts;
}

int zinherited_init(void)
{
	const bool ours = number_of("LISTEN_PID") == (long)getpid();
	const long n = ours ? number_of("LISTEN_FDS") : 0;
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	nfds = 0;
	for (int fd = FIRST_FD; fd < FIRST_FD + n && nfds < FDS_MAX; fd++) {
		if (!listens(fd))
			continue;
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		fds[nfds++] = fd;
	}
	return nfds;
}

static int drop(int i)
{
	int fd = fds[i];
	fds[i] = fds[--nfds];
	return fd;
}

static bool same_address(const struct sockaddr *a, socklen_t a_len, const struct sockaddr *b, socklen_t b_len)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET) {
		const struct sockaddr_in *x = (const void *)a, *y = (const void *)b;
		return x->sin_port == y->sin_port && x->sin_addr.s_addr == y->sin_addr.s_addr;
	}
	if (a->sa_family == AF_INET6) {
		const struct sockaddr_in6 *x = (const void *)a, *y = (const void *)b;
		return x->sin6_port == y->sin6_port && memcmp(&x->sin6_addr, &y->sin6_addr, 16) == 0 &&
		       x->sin6_scope_id == y->sin6_scope_id;
	}
	if (a->sa_family != AF_UNIX)
		return false;
	const struct sockaddr_un *x = (const void *)a, *y = (const void *)b;
	if (x->sun_path[0] == '\0') /* no file: the length counts */
		return a_len == b_len && memcmp(x, y, a_len) == 0;
	return strncmp(x->sun_path, y->sun_path, sizeof(x->sun_path)) == 0;
}

void zinherited_borrow(int (*take)(const struct sockaddr *, socklen_t len))
{
	lender = take;
}

int zinherited_take(const struct sockaddr *want, socklen_t len)
{
	if (lender)
		return lender(want, len);
	for (int i = 0; i < nfds; i++) {
		struct sockaddr_storage at;
		socklen_t at_len = sizeof(at);
		memset(&at, 0, sizeof(at));
		if (getsockname(fds[i], (struct sockaddr *)&at, &at_len) == 0 &&
			same_address((const struct sockaddr *)&at, at_len, want, len))
			return drop(i);
	}
	return -1;
}

int zinherited_close_one(char *address, size_t cap)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	char host[INET6_ADDRSTRLEN] = "";
	if (nfds == 0)
		return -ENOENT;
	int fd = drop(nfds - 1);
	memset(&at, 0, sizeof(at));
	getsockname(fd, (struct sockaddr *)&at, &len);
	const struct sockaddr_in *in = (const void *)&at;
	const struct sockaddr_in6 *in6 = (const void *)&at;
	const struct sockaddr_un *un = (const void *)&at;
	if (at.ss_family == AF_INET)
		snprintf(address, cap, "%s:%u", inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host)),
			ntohs(in->sin_port));
	else if (at.ss_family == AF_INET6)
		snprintf(address, cap, "[%s]:%u", inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host)),
			ntohs(in6->sin6_port));
	else if (at.ss_family == AF_UNIX)
		snprintf(address, cap, "%s%.100s", un->sun_path[0] ? "" : "@", un->sun_path + !un->sun_path[0]);
	else
		snprintf(address, cap, "of another kind");
	close(fd);
	return 0;
}

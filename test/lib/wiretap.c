/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into the ranks of eavesdrop.t: notes what a reader of the network sees of their messages. WIRETAP is a
 * file, which gets a line "OWN_PORT PEER_PORT clear" or "... hidden" for each large write to a TCP socket: does it hold
 * WIRETAP_MARK? Each part has a host of its own here, so that links between ranks do not go by shared memory.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define LARGE 4096
#define SYMBOL __attribute__((visibility("default")))

static int port_of(int fd, int (*ask)(int, struct sockaddr *, socklen_t *))
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	return ask(fd, (struct sockaddr *)&a, &len) == 0 && a.sin_family == AF_INET ? ntohs(a.sin_port) : -1;
}

static void note(int fd, const struct iovec *iov, size_t n)
{
	const char *path = getenv("WIRETAP"), *mark = getenv("WIRETAP_MARK");
	size_t len = 0;
	int found = 0, own, peer;
	char line[64];

	for (size_t i = 0; i < n; i++)
		len += iov[i].iov_len;
	if (!path || !mark || len < LARGE || (own = port_of(fd, getsockname)) < 0)
		return;
	peer = port_of(fd, getpeername);
	for (size_t i = 0; i < n; i++)
		found |= memmem(iov[i].iov_base, iov[i].iov_len, mark, strlen(mark)) != NULL;
	int out = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (out < 0)
		return;
	int size = snprintf(line, sizeof(line), "%d %d %s\n", own, peer, found ? "clear" : "hidden");
	ssize_t (*real)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	if (real(out, line, (size_t)size) != size)
		abort();
	close(out);
}

SYMBOL ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t (*real)(int, const struct msghdr *, int) = dlsym(RTLD_NEXT, "sendmsg");

	note(fd, msg->msg_iov, msg->msg_iovlen);
	return real(fd, msg, flags);
}

SYMBOL ssize_t send(int fd, const void *buf, size_t len, int flags)
{
	ssize_t (*real)(int, const void *, size_t, int) = dlsym(RTLD_NEXT, "send");

	note(fd, &(struct iovec){(void *)(unsigned long)buf, len}, 1);
	return real(fd, buf, len, flags);
}

SYMBOL ssize_t writev(int fd, const struct iovec *iov, int n)
{
	ssize_t (*real)(int, const struct iovec *, int) = dlsym(RTLD_NEXT, "writev");

	note(fd, iov, (size_t)n);
	return real(fd, iov, n);
}

SYMBOL int gethostname(char *name, size_t len)
{
	const char *part = getenv("WIRETAP_HOST");
	int (*real)(char *, size_t) = dlsym(RTLD_NEXT, "gethostname");

	if (!part)
		return real(name, len);
	snprintf(name, len, "%s", part);
	return 0;
}

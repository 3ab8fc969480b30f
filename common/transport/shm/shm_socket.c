/* SPDX-License-Identifier: BSD-3-Clause */
/* Unix sockets for the shm transport, see shm_socket.h. Set-up only. */
#define _GNU_SOURCE /* struct ucred */
#include "common/transport/shm/shm_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/transport/base/inherited.h"
#include "common/transport/base/socket.h"
#include "common/transport/shm/shm_map.h"

#define BACKLOG 4096 /* as for TCP */

/* The offer: a fixed text, then the ring size, little-endian. Another version has another text. */
#define OFFER_BYTES 12
static void encode_offer(uint8_t out[OFFER_BYTES])
{
	memcpy(out, "zipshm-2", 8);
	for (int i = 0; i < 4; i++)
		out[8 + i] = (uint8_t)(SHM_RING_BYTES >> (8 * i));
}

/* A directory of another user, or one that others can write to, could hold anybody's socket. */
static int check_directory(const char *dir, struct zerr *err)
{
	struct stat st;
	if (lstat(dir, &st) < 0)
		return zerr_set(err, -errno, "%s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return zerr_set(err, -EPERM, "%s is not a directory of mode 0700 of this user", dir);
	return 0;
}

int shm_socket_path(char path[SHM_PATH_MAX], const struct zaddr *a, bool create, struct zerr *err)
{
	char dir[SHM_PATH_MAX];
	int n;
	if (a->host[0]) {
		n = snprintf(path, SHM_PATH_MAX, "%s", a->host);
		if (n >= SHM_PATH_MAX)
			return zerr_set(err, -ENAMETOOLONG, "shm path is longer than %d bytes: %s", SHM_PATH_MAX - 1,
				a->host);
		return 0;
	}
	const char *run = getenv("XDG_RUNTIME_DIR");
	if (run && run[0] == '/')
		n = snprintf(dir, sizeof(dir), "%s/zipper", run);
	else
		n = snprintf(dir, sizeof(dir), "/tmp/zipper-%u", (unsigned)geteuid());
	if (n >= (int)sizeof(dir) || snprintf(path, SHM_PATH_MAX, "%s/zipperd.sock", dir) >= SHM_PATH_MAX)
		return zerr_set(err, -ENAMETOOLONG, "XDG_RUNTIME_DIR is too long for a socket: %s", run);
	if (create && mkdir(dir, 0700) < 0 && errno != EEXIST)
		return zerr_set(err, -errno, "cannot make %s: %s", dir, strerror(errno));
	return check_directory(dir, err);
}

/* Fills in the socket's address, and in *len the bytes that count: "@NAME" is in the abstract namespace, which has no
 * files. */
static void fill_address(struct sockaddr_un *sa, socklen_t *len, const char *path)
{
	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	memcpy(sa->sun_path, path, strnlen(path, sizeof(sa->sun_path) - 1));
	*len = sizeof(*sa);
	if (path[0] == '@') {
		sa->sun_path[0] = '\0';
		*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strnlen(path, sizeof(sa->sun_path) - 1));
	}
}

int shm_socket_inherit(const char *path)
{
	struct sockaddr_un sa;
	socklen_t len;
	fill_address(&sa, &len, path);
	return zinherited_take((const struct sockaddr *)&sa, len);
}

static int open_socket(struct sockaddr_un *sa, socklen_t *len, const char *path)
{
	fill_address(sa, len, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

/* Removes the socket of a process that is gone. Returns 0: it was such a socket, and has been removed. */
static int remove_stale(const struct sockaddr_un *sa)
{
	struct stat st;
	if (lstat(sa->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int rc = connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) < 0 ? errno : 0;
	close(fd);
	if (rc == ENOENT)
		return 0;
	if (rc != ECONNREFUSED)
		return -EADDRINUSE;
	return unlink(sa->sun_path) < 0 && errno != ENOENT ? -errno : 0;
}

int shm_socket_listen(const char *path, struct zerr *err)
{
	struct sockaddr_un sa;
	socklen_t len;
	int rc = 0;
	bool file = path[0] != '@';
	int fd = open_socket(&sa, &len, path);
	if (fd < 0)
		return zerr_set(err, fd, "cannot make a socket: %s", strerror(-fd));
	if (bind(fd, (struct sockaddr *)&sa, len) < 0) {
		rc = -errno;
		if (rc == -EADDRINUSE && file)
			rc = remove_stale(&sa);
		if (rc == 0 && bind(fd, (struct sockaddr *)&sa, len) < 0)
			rc = -errno;
	}
	/* Root serves other users (shm_socket_check_peer has the rule); a user serves only itself. */
	if (rc == 0 && ((file && chmod(path, geteuid() == 0 ? 0666 : 0600) < 0) || listen(fd, BACKLOG) < 0)) {
		rc = -errno;
		if (file)
			unlink(path);
	}
	if (rc < 0) {
		close(fd);
		return zerr_set(err, rc, "%s", strerror(-rc));
	}
	return fd;
}

int shm_socket_connect(const char *path, int timeout_ms, struct zerr *err)
{
	struct sockaddr_un sa;
	int64_t deadline_ms = zclock_ms() + (timeout_ms > 0 ? timeout_ms : 0);
	socklen_t len;
	int fd = open_socket(&sa, &len, path);
	int rc = fd < 0 ? fd : zsocket_connect(fd, (struct sockaddr *)&sa, len, deadline_ms);
	if (rc < 0) {
		if (fd >= 0)
			close(fd);
		return zerr_set(err, rc, "cannot connect to shm:%s: %s", path, strerror(-rc));
	}
	return fd;
}

int shm_socket_check_peer(int fd, char *text, size_t cap, uid_t *uid, struct zerr *err)
{
	struct ucred c;
	socklen_t len = sizeof(c);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len) < 0)
		return zerr_set(err, -errno, "cannot see who is at the other end: %s", strerror(errno));
	*uid = c.uid;
	snprintf(text, cap, "pid %d uid %u", (int)c.pid, (unsigned)c.uid);
	if (c.uid != geteuid() && c.uid != 0 && geteuid() != 0)
		return zerr_set(err, -EACCES, "%s is another user", text);
	return 0;
}

/* Room for the descriptors of one message. */
union control {
	struct cmsghdr align;
	char room[CMSG_SPACE(SHM_SOCKET_FDS * sizeof(int))];
};
_Static_assert(SHM_OFFER_FDS <= (int)SHM_SOCKET_FDS, "an offer is such a message");

static ssize_t send_message(int fd, const void *bytes, size_t len, const int *fds, size_t count)
{
	union control control;
	struct iovec iov = {(void *)(uintptr_t)bytes, len};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};
	memset(&control, 0, sizeof(control));
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	ssize_t n = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 ? -errno : n;
}

/* Takes the descriptors out of a message, and returns their number. Descriptors beyond the array are closed. */
static size_t take_fds(struct msghdr *msg, int fds[SHM_SOCKET_FDS])
{
	size_t count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (count < SHM_SOCKET_FDS)
				fds[count] = fd;
			else
				close(fd);
			count++;
		}
	}
	return count;
}

/* Receives bytes. Returns their number, -EAGAIN, -ESHUTDOWN or another error. *count: the number of descriptors, also
 * of those beyond the array. *lost: there were more descriptors than this process may have. */
static ssize_t receive_message(int fd, void *bytes, size_t len, int fds[SHM_SOCKET_FDS], size_t *count, bool *lost)
{
	union control control;
	struct iovec iov = {bytes, len};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	*count = 0;
	if (n < 0)
		return errno == EWOULDBLOCK || errno == EINTR ? -EAGAIN : -errno;
	if (n == 0)
		return -ESHUTDOWN;
	*count = take_fds(&msg, fds);
	*lost = msg.msg_flags & MSG_CTRUNC;
	return n;
}

static void close_all(const int fds[SHM_SOCKET_FDS], size_t count)
{
	for (size_t i = 0; i < count && i < SHM_SOCKET_FDS; i++)
		close(fds[i]);
}

int shm_socket_send_offer(int fd, const int fds[SHM_OFFER_FDS])
{
	uint8_t offer[OFFER_BYTES];
	encode_offer(offer);
	ssize_t n = send_message(fd, offer, sizeof(offer), fds, SHM_OFFER_FDS);
	return n == (ssize_t)sizeof(offer) ? 0 : n < 0 ? (int)n : -EIO;
}

int shm_socket_receive_offer(int fd, int offered[SHM_OFFER_FDS])
{
	uint8_t offer[OFFER_BYTES], expected[OFFER_BYTES];
	int fds[SHM_SOCKET_FDS];
	size_t count;
	bool lost;
	ssize_t n = receive_message(fd, offer, sizeof(offer), fds, &count, &lost);
	if (n < 0)
		return n == -EAGAIN ? 0 : (int)n;
	encode_offer(expected);
	if (count == SHM_OFFER_FDS && !lost && n == (ssize_t)sizeof(offer) &&
		memcmp(offer, expected, sizeof(offer)) == 0) {
		memcpy(offered, fds, SHM_OFFER_FDS * sizeof(int));
		return 1;
	}
	close_all(fds, count);
	return lost && count < SHM_OFFER_FDS ? -EMFILE : -EPROTO;
}

int shm_socket_send_fd(int fd, int passed)
{
	ssize_t n = send_message(fd, "", 1, &passed, 1);
	return n == 1 ? 0 : n == -EWOULDBLOCK ? -EAGAIN : n < 0 ? (int)n : -EIO;
}

int shm_socket_receive_fds(int fd, int fds[SHM_SOCKET_FDS], size_t *count)
{
	char bytes[64];
	bool lost;
	ssize_t n = receive_message(fd, bytes, sizeof(bytes), fds, count, &lost);
	if (n < 0)
		return n == -EAGAIN ? 0 : (int)n;
	if (!lost && *count <= SHM_SOCKET_FDS)
		return 1;
	close_all(fds, *count);
	*count = 0;
	return -EMFILE;
}

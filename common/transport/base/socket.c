/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepting and connecting, see socket.h. */
#define _GNU_SOURCE /* accept4 */
#include "common/transport/base/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"

#define RETRY_MS 10 /* between two tries at a full backlog, which no descriptor announces */

static int left_ms(int64_t deadline_ms)
{
	int64_t left = deadline_ms - zclock_ms();
	return left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

static int wait_connected(int fd, int64_t deadline_ms)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		int n = poll(&p, 1, left_ms(deadline_ms));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ETIMEDOUT;
		int code;
		socklen_t len = sizeof(code);
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
			return -errno;
		return -code;
	}
}

int zsocket_connect(int fd, const struct sockaddr *sa, socklen_t len, int64_t deadline_ms)
{
	for (;;) {
		if (connect(fd, sa, len) == 0)
			return 0;
		if (errno == EINPROGRESS || errno == EINTR)
			return wait_connected(fd, deadline_ms);
		if (errno != EAGAIN)
			return -errno;
		int left = left_ms(deadline_ms);
		if (left == 0)
			return -ETIMEDOUT;
		poll(NULL, 0, left < RETRY_MS ? left : RETRY_MS);
	}
}

int zsocket_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int zsocket_accept(int listener, int *spare, struct zerr *err)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		return fd;
	int code = errno;
	if (code == EAGAIN || code == EWOULDBLOCK)
		return -EAGAIN;
	if ((code == EMFILE || code == ENFILE) && *spare >= 0) {
		close(*spare);
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			close(fd);
		*spare = zsocket_spare();
	}
	return zerr_set(err, -code, "cannot accept a connection: %s", strerror(code));
}

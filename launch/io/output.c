/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues text for our stdout and stderr. */
#include "launch/io/output.h"

#include <errno.h>
#include <poll.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"

#define FULL_BYTES (256 * 1024)
#define CLEAR "\r\033[K" /* ECMA-48: to the beginning of the line, erase it */

void zoutput_init(struct zoutput *o, int fd)
{
	memset(o, 0, sizeof(*o));
	o->fd = fd;
}

static void append(struct zoutput *o, const char *text, size_t len)
{
	if (o->error || len == 0)
		return;
	if (o->begin > 0 && o->end + len > o->cap) {
		memmove(o->buf, o->buf + o->begin, o->end - o->begin);
		o->end -= o->begin;
		o->begin = 0;
	}
	if (o->end + len > o->cap) {
		size_t cap = (o->end + len) * 2;
		char *more = realloc(o->buf, cap);
		if (!more) {
			o->error = -ENOMEM;
			return;
		}
		o->buf = more;
		o->cap = cap;
	}
	memcpy(o->buf + o->end, text, len);
	o->end += len;
}

void zoutput_clear(struct zoutput *o)
{
	if (!o->over || !*o->over)
		return;
	*o->over = false;
	append(o, CLEAR, strlen(CLEAR));
}

void zoutput_add(struct zoutput *o, const char *text, size_t len)
{
	if (len == 0)
		return;
	zoutput_clear(o);
	append(o, text, len);
}

void zoutput_put_over(struct zoutput *o, const char *text, size_t len)
{
	*o->over = true;
	append(o, CLEAR, strlen(CLEAR));
	append(o, text, len);
}

bool zoutput_is_full(const struct zoutput *o)
{
	return o->end - o->begin >= FULL_BYTES;
}

bool zoutput_is_empty(const struct zoutput *o)
{
	return o->begin == o->end;
}

void zoutput_write(struct zoutput *o)
{
	/* A pipe that polls writable takes PIPE_BUF bytes without blocking. */
	size_t len = o->end - o->begin;
	ssize_t n = write(o->fd, o->buf + o->begin, len < PIPE_BUF ? len : PIPE_BUF);
	if (n >= 0) {
		o->begin += (size_t)n;
	} else if (errno != EINTR && errno != EAGAIN) {
		o->error = -errno;
		o->begin = o->end;
	}
	if (o->begin == o->end)
		o->begin = o->end = 0;
}

void zoutput_drain(struct zoutput *o, int timeout_ms)
{
	int64_t deadline = zclock_ms() + timeout_ms;
	while (!zoutput_is_empty(o)) {
		int64_t left = deadline - zclock_ms();
		struct pollfd p = {.fd = o->fd, .events = POLLOUT};
		if (left <= 0 || (poll(&p, 1, (int)left) <= 0 && errno != EINTR))
			return;
		if (p.revents)
			zoutput_write(o);
	}
}

void zoutput_free(struct zoutput *o)
{
	free(o->buf);
	memset(o, 0, sizeof(*o));
}

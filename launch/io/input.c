/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands standard input on, never more than the rank takes. */
#include "launch/io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"

#define HOLD_MS 700
#define BACKGROUND_MS 300 /* time between two looks: nothing tells us that we are in the foreground again */

void zinput_init(struct zinput *in, int from, int to, int others, bool hold)
{
	in->from = from;
	in->to = to;
	in->others = others;
	in->any = in->ended = false;
	in->hold_ms = hold ? zclock_ms() + HOLD_MS : 0;
	in->begin = in->end = 0;
	in->given = 0;
	fcntl(to, F_SETFL, fcntl(to, F_GETFL) | O_NONBLOCK);
	if (from < 0)
		zinput_close(in);
}

/* A job in the background must not take input that is typed for the shell. */
static bool is_ours(int fd)
{
	return !isatty(fd) || tcgetpgrp(fd) == getpgrp();
}

static bool wants_more(const struct zinput *in)
{
	return in->to >= 0 && in->begin == in->end && !in->ended;
}

void zinput_prepare(const struct zinput *in, struct pollfd p[2])
{
	bool empty = in->begin == in->end;
	p[0] = (struct pollfd){.fd = wants_more(in) && is_ours(in->from) ? in->from : -1, .events = POLLIN};
	/* Without POLLOUT the end of the reader still shows as POLLERR. */
	p[1] = (struct pollfd){.fd = in->to, .events = empty ? 0 : POLLOUT};
}

static void close_to(struct zinput *in)
{
	if (in->to >= 0)
		close(in->to);
	in->to = -1;
	in->begin = in->end = 0;
	in->ended = false;
}

void zinput_move(struct zinput *in, const struct pollfd p[2])
{
	if (p[0].fd >= 0 && p[0].revents) {
		ssize_t n = read(in->from, in->buf, sizeof(in->buf));
		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
			in->ended = true;
			return;
		}
		in->any = true;
		in->begin = 0;
		in->end = n > 0 ? (size_t)n : 0;
	}
	if (p[1].fd >= 0 && p[1].revents & (POLLERR | POLLNVAL)) {
		close_to(in);
	} else if (p[1].fd >= 0 && p[1].revents & POLLOUT && in->begin < in->end) {
		ssize_t n = write(in->to, in->buf + in->begin, in->end - in->begin);
		if (n > 0) {
			in->begin += (size_t)n;
			in->given += (uint64_t)n;
		}
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			close_to(in);
	}
}

int zinput_timeout(const struct zinput *in, int64_t now_ms)
{
	if (in->others < 0 && !in->ended)
		return wants_more(in) && !is_ours(in->from) ? BACKGROUND_MS : -1;
	if (in->to < 0 && in->others < 0)
		return -1;
	return in->any && in->ended ? 0 : in->hold_ms > now_ms ? (int)(in->hold_ms - now_ms) : 0;
}

void zinput_tick(struct zinput *in, int64_t now_ms)
{
	bool held = now_ms < in->hold_ms;
	if (in->ended && in->begin == in->end && (in->any || !held))
		close_to(in);
	if (in->others >= 0 && !held) {
		close(in->others);
		in->others = -1;
	}
}

void zinput_close(struct zinput *in)
{
	close_to(in);
	in->hold_ms = 0;
	zinput_tick(in, 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands a child's output on, line by line. */
#include "launch/io/pump.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"

#define READ_BYTES 65536     /* the size of a pipe */
#define LINE_MAX_BYTES 65536 /* longer lines are handed on piece by piece */
#define HELD_MAX_BYTES 65536 /* a rank prints such a line once */

void zpump_init(struct zpump *p, int fd, struct zoutput *out, struct zchatter *chatter, const struct zplan_part *label)
{
	memset(p, 0, sizeof(*p));
	p->fd = fd;
	p->out = out;
	p->chatter = chatter;
	p->label = label;
}

static void put_text(struct zpump *p, const char *text)
{
	zoutput_add(p->out, text, strlen(text));
}

static void put_label(struct zpump *p, int vrank)
{
	char number[16];
	snprintf(number, sizeof(number), "%d", vrank);
	for (const char *c = p->prepend ? p->prepend : "[%r] "; *c; c++) {
		if (*c == '%' && c[1] == 'r')
			put_text(p, number);
		else
			zoutput_add(p->out, c, 1);
		c += *c == '%';
	}
}

/* Hands on text from the beginning of a line, with the launcher's label rewritten. */
static void put_labelled(struct zpump *p, const char *text, size_t len)
{
	long lrank = 0;
	if (p->zipper) {
		put_text(p, "zipper ");
		put_text(p, p->zipper);
		put_text(p, ": ");
	}
	size_t label = p->label ? zlabel_scan(p->label_kind, text, len, &lrank) : 0;
	if (label && lrank < p->label->nranks)
		put_label(p, zplan_vrank(p->label, (int)lrank));
	else
		label = 0;
	zoutput_add(p->out, text + label, len - label);
}

/* Holds a complaint back. False: it must be shown. */
static bool hold(struct zpump *p, const char *text, size_t len)
{
	char *more = p->held_len + len <= HELD_MAX_BYTES ? realloc(p->held, p->held_len + len) : NULL;
	if (!more)
		return false;
	memcpy(more + p->held_len, text, len);
	p->held = more;
	p->held_len += len;
	return true;
}

/* Is this line left out, or held back until it is known why the job ends? */
static bool is_hushed(struct zpump *p, const char *text, size_t len)
{
	if (p->mid_line)
		return false;
	p->unreached |= zchatter_is_unreached(text, len);
	p->slow_reader |= zchatter_is_slow_reader(text, len);
	p->broken |= zchatter_is_breakdown(text, len, p->broken);
	if (!p->hush)
		return false;
	if (*p->hush || p->unreached)
		return zchatter_is_echo(text, len);
	return (zchatter_is_breakdown(text, len, p->broken) || (p->holds && zchatter_is_abort(text, len))) &&
	       hold(p, text, len);
}

/* Says in our words what the first proxy says that cannot start the program. Its further lines, and those of others,
 * add nothing. */
static bool take_unstarted(struct zpump *p, const char *text, size_t len)
{
	char said[512];
	if (!p->hush || p->mid_line)
		return false;
	if (p->unstarted && zchatter_is_unstarted_piece(text, len))
		return true;
	if (!zchatter_is_unstarted(text, len, said, sizeof(said)))
		return false;
	if (!p->unstarted) {
		put_text(p, "zmpirun: ");
		put_text(p, said);
		put_text(p, "\n");
	}
	p->unstarted = p->broken = true;
	return true;
}

/* Takes out what is mpirun's. Returns how many bytes at the front of the line that is. */
static size_t take_help(struct zpump *p, const char *text, size_t len)
{
	const char *before;
	if (!p->help || p->mid_line)
		return 0;
	const size_t n = zhelptext_take(p->help, text, len, &before);
	put_text(p, before);
	return n;
}

/* Hands on a line, or a piece of one. */
static void put(struct zpump *p, const char *text, size_t len)
{
	const size_t help = take_help(p, text, len);
	text += help;
	len -= help;
	if (len == 0)
		return;
	bool finished = text[len - 1] == '\n';
	if (finished && take_unstarted(p, text, len))
		return;
	if (finished && is_hushed(p, text, len))
		return;
	if (p->chatter && finished && !(p->mid_line && len == 1)) {
		const char *before;
		len = zchatter_filter(p->chatter, text, len, &before);
		put_text(p, before);
		if (len == 0)
			return;
	} else if (p->chatter) {
		put_text(p, zchatter_release(p->chatter));
	}
	if (p->mid_line)
		zoutput_add(p->out, text, len);
	else
		put_labelled(p, text, len);
	p->mid_line = !finished;
}

static void put_lines(struct zpump *p)
{
	size_t done = 0;
	for (char *newline; (newline = memchr(p->buf + done, '\n', p->len - done));) {
		size_t len = (size_t)(newline - (p->buf + done)) + 1;
		put(p, p->buf + done, len);
		done += len;
	}
	if (p->len - done > LINE_MAX_BYTES) {
		put(p, p->buf + done, p->len - done);
		done = p->len;
	}
	memmove(p->buf, p->buf + done, p->len - done);
	p->len -= done;
}

void zpump_read(struct zpump *p)
{
	if (p->cap - p->len < READ_BYTES) {
		char *more = realloc(p->buf, p->len + READ_BYTES);
		if (!more) {
			zpump_close(p);
			return;
		}
		p->buf = more;
		p->cap = p->len + READ_BYTES;
	}
	ssize_t n = read(p->fd, p->buf + p->len, READ_BYTES);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		zpump_close(p);
		return;
	}
	p->len += (size_t)n;
	p->last_ms = zclock_ms();
	put_lines(p);
}

void zpump_read_all(struct zpump *p)
{
	for (struct pollfd ready = {.fd = p->fd, .events = POLLIN}; p->fd >= 0 && poll(&ready, 1, 0) > 0;)
		zpump_read(p);
}

/* May the unfinished line, or the empty line or rule held back, be shown before more of it comes? */
static bool is_showable(const struct zpump *p)
{
	if (p->chatter && p->chatter->state == ZCHATTER_BLANK)
		return true;
	if (p->help && p->help->state == ZHELPTEXT_RULE)
		return true;
	if (p->help && p->help->state == ZHELPTEXT_INSIDE)
		return false;
	if (p->len == 0 || (p->chatter && zchatter_may_be(p->chatter, p->buf, p->len)))
		return false;
	if (p->hush && !p->mid_line &&
		(zchatter_may_be_launchers(p->buf, p->len) ||
			(p->unstarted && zchatter_is_unstarted_piece(p->buf, p->len))))
		return false;
	return !p->label || p->mid_line || !zlabel_may_go_on(p->label_kind, p->buf, p->len);
}

int zpump_timeout(const struct zpump *p, int64_t now_ms)
{
	if (p->fd < 0 || !is_showable(p))
		return -1;
	int64_t left = p->last_ms + ZPUMP_QUIET_MS - now_ms;
	return left > 0 ? (int)left : 0;
}

static void put_rest(struct zpump *p)
{
	if (p->chatter)
		put_text(p, zchatter_release(p->chatter));
	if (p->len > 0)
		put(p, p->buf, p->len);
	p->len = 0;
	if (p->help)
		put_text(p, zhelptext_release(p->help));
}

void zpump_tick(struct zpump *p, int64_t now_ms)
{
	if (zpump_timeout(p, now_ms) == 0)
		put_rest(p);
}

void zpump_close(struct zpump *p)
{
	put_rest(p);
	if (p->fd >= 0)
		close(p->fd);
	free(p->buf);
	p->buf = NULL;
	p->cap = 0;
	p->fd = -1;
}

void zpump_fini(struct zpump *p)
{
	char *held = p->held;
	size_t len = p->held_len;
	bool shown = !p->hush || !*p->hush;
	p->held = NULL;
	p->held_len = 0;
	p->hush = NULL;
	p->help = NULL;
	for (size_t done = 0, n; shown && done < len; done += n) {
		n = (size_t)((char *)memchr(held + done, '\n', len - done) - (held + done)) + 1;
		put(p, held + done, n);
	}
	free(held);
}

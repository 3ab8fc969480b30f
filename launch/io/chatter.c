/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognises the lines that mpiexec prints itself. */
#include "launch/io/chatter.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "launch/io/label.h"

/* A banner begins with an empty line and 83 equal signs. */
static const char blank_and_rule[] =
	"\n===================================================================================\n";
static const char *const rule = blank_and_rule + 1;
#define RULE_BEGIN 20 /* with so many equal signs a line may become a rule */
static const char prefix[] = "[mpiexec@";
static const char codes_mark[] = "] Exit codes: ";
static const char *const after_banner[] = {"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ",
	"This typically refers to a problem with your application.",
	"Please see the FAQ page for debugging suggestions"};
static const char *const after_signal[] = {"Sending Ctrl-C to processes as requested",
	"Press Ctrl-C again to force abort"};

static bool begins(const char *line, size_t len, const char *with)
{
	size_t n = strlen(with);
	return len >= n && memcmp(line, with, n) == 0;
}

static bool begins_with_any(const char *line, size_t len, const char *const *with, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (begins(line, len, with[i]))
			return true;
	return false;
}

/* Parses "[host] 0,256,9": wait statuses of the ranks on one host. Returns false, and changes nothing, if the line has
 * another form. */
static bool take_codes(struct zchatter *c, const char *line, size_t len)
{
	const char *end = line + len, *p = len > 0 && *line == '[' ? memchr(line, ']', len) : NULL;
	if (!p || end[-1] != '\n' || end - p < 4 || p[1] != ' ')
		return false;
	struct zchatter found = *c;
	for (p += 2;;) {
		long status = 0;
		const char *digits = p;
		for (; p < end && isdigit((unsigned char)*p) && p - digits < 6; p++)
			status = status * 10 + (*p - '0');
		if (p == digits || (*p != ',' && *p != '\n'))
			return false;
		/* Hydra's own mark for a rank that left without PMI's finalize, when Hydra did not learn its status. A
		 * rank that died of signal 1 looks the same. */
		if (status == 1)
			status = 1 << 8;
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
			found.nkilled++;
		} else {
			int code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
			if (WIFSIGNALED(status) && found.signal == 0)
				found.signal = code;
			if (code > found.status)
				found.status = code;
		}
		if (*p++ == '\n')
			break;
	}
	found.have_codes = true;
	*c = found;
	return p == end;
}

/* A line of mpiexec may follow the unfinished last line of a rank. */
static const char *find_prefix(const char *line, size_t len)
{
	return memmem(line, len, prefix, sizeof(prefix) - 1);
}

/* Takes "[mpiexec@host] ..." at p. True if it is a line to be taken out. */
static bool take_mpiexec_line(struct zchatter *c, const char *p, size_t len)
{
	const char *bracket = memchr(p, ']', len);
	if (!bracket)
		return false;
	size_t left = len - (size_t)(bracket - p);
	if (begins(bracket, left, codes_mark)) {
		if (!take_codes(c, bracket + sizeof(codes_mark) - 1, left - (sizeof(codes_mark) - 1)))
			return false;
		c->state = ZCHATTER_CODES;
		return true;
	}
	return left > 2 && begins_with_any(bracket + 2, left - 2, after_signal, 2);
}

const char *zchatter_release(struct zchatter *c)
{
	const char *held = c->state == ZCHATTER_BLANK  ? "\n"
			   : c->state == ZCHATTER_RULE ? c->blank ? blank_and_rule : rule
						       : "";
	if (*held)
		c->state = ZCHATTER_NONE;
	return held;
}

/* Looks at a line inside a banner, or behind lines that are held back. True if it is mpiexec's. */
static bool take_next(struct zchatter *c, const char *line, size_t len, bool is_rule)
{
	switch (c->state) {
	case ZCHATTER_RULE:
		if (!begins(line, len, "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"))
			return false;
		c->state = ZCHATTER_BANNER;
		return true;
	case ZCHATTER_BANNER:
		if (is_rule || !begins(line, len, "=   "))
			c->state = ZCHATTER_NONE;
		return is_rule || c->state == ZCHATTER_BANNER;
	case ZCHATTER_CODES:
		if (take_codes(c, line, len))
			return true;
		c->state = ZCHATTER_NONE;
		return false;
	default:
		return false;
	}
}

size_t zchatter_filter(struct zchatter *c, const char *line, size_t len, const char **before)
{
	bool is_rule = len == strlen(rule) && memcmp(line, rule, len) == 0;
	*before = "";
	if (take_next(c, line, len, is_rule))
		return 0;
	if (is_rule) {
		bool blank = c->state == ZCHATTER_BLANK;
		*before = blank ? "" : zchatter_release(c);
		c->state = ZCHATTER_RULE;
		c->blank = blank;
		return 0;
	}
	*before = zchatter_release(c);
	if (len == 1) {
		c->state = ZCHATTER_BLANK;
		return 0;
	}
	if (begins_with_any(line, len, after_banner, sizeof(after_banner) / sizeof(after_banner[0])))
		return 0;
	const char *p = find_prefix(line, len);
	return p && take_mpiexec_line(c, p, len - (size_t)(p - line)) ? (size_t)(p - line) : len;
}

/* Is it a line of mpiexec or a proxy itself, of stderr? */
static bool is_launchers(const char *line, size_t len)
{
	static const char *const starts[] = {"[proxy:", prefix};
	return begins_with_any(line, len, starts, sizeof(starts) / sizeof(starts[0]));
}

static bool contains(const char *line, size_t len, const char *what)
{
	return memmem(line, len, what, strlen(what)) != NULL;
}

bool zchatter_is_slow_reader(const char *line, size_t len)
{
	return is_launchers(line, len) && contains(line, len, "process reading stdin too slowly");
}

bool zchatter_is_breakdown(const char *line, size_t len, bool broken)
{
	return is_launchers(line, len) &&
	       (broken || zchatter_is_slow_reader(line, len) || contains(line, len, "assert (!closed) failed"));
}

bool zchatter_is_echo(const char *line, size_t len)
{
	static const char *const echoes[] = {"libzipper: rank ", "Abort(", "[proxy:", "[mpiexec@",
		"srun: ", "slurmstepd"};
	line = zlabel_skip(line, &len);
	return begins_with_any(line, len, echoes, sizeof(echoes) / sizeof(echoes[0]));
}

bool zchatter_is_abort(const char *line, size_t len)
{
	static const char called[] = "application called MPI_Abort(";
	line = zlabel_skip(line, &len);
	return begins(line, len, "Abort(") && memmem(line, len, called, sizeof(called) - 1);
}

bool zchatter_is_unreached(const char *line, size_t len)
{
	return is_launchers(line, len) && contains(line, len, ": Launch proxy failed.");
}

/* A proxy cannot do these things for a rank. It prints such a line in three pieces, "[proxy:0:0@host] ",
 * "HYDU_create_process (file:line): " and the error: the processes of two ranks can mix theirs, and mpiexec -l labels
 * each of them. */
static const struct {
	const char *theirs, *ours;
} unstarted[] = {{"execvp error on file ", "start"}, {"unable to change wdir to ", "change to the directory"}};
static const char *const unstarted_pieces[] = {"HYDU_create_process (", "launch_procs ("};

bool zchatter_is_unstarted(const char *line, size_t len, char *said, size_t cap)
{
	line = zlabel_skip(line, &len); /* the rank's: its process fails */
	const char *end = line + len, *at = NULL;
	size_t why = 0;
	if (!is_launchers(line, len) && !begins_with_any(line, len, unstarted_pieces, 2))
		return false;
	for (; why < sizeof(unstarted) / sizeof(unstarted[0]); why++)
		if ((at = memmem(line, len, unstarted[why].theirs, strlen(unstarted[why].theirs))))
			break;
	if (!at)
		return false;
	const char *host = memchr(line, '@', (size_t)(at - line));
	const char *bracket = host ? memchr(host, ']', (size_t)(at - host)) : NULL;
	at += strlen(unstarted[why].theirs);
	const char *newline = memchr(at, '\n', (size_t)(end - at));
	const int what = (int)((newline ? newline : end) - at);
	if (bracket)
		snprintf(said, cap, "host %.*s cannot %s %.*s", (int)(bracket - host) - 1, host + 1,
			unstarted[why].ours, what, at);
	else
		snprintf(said, cap, "cannot %s %.*s", unstarted[why].ours, what, at);
	return true;
}

bool zchatter_is_unstarted_piece(const char *line, size_t len)
{
	line = zlabel_skip(line, &len);
	if (begins_with_any(line, len, unstarted_pieces, 2))
		return true;
	for (size_t why = 0; why < sizeof(unstarted) / sizeof(unstarted[0]); why++)
		if (begins(line, len, unstarted[why].theirs))
			return true;
	return false;
}

bool zchatter_may_be_launchers(const char *text, size_t len)
{
	text = zlabel_skip(text, &len);
	return is_launchers(text, len);
}

bool zchatter_may_be(const struct zchatter *c, const char *text, size_t len)
{
	if (c->state == ZCHATTER_RULE || c->state == ZCHATTER_BANNER || c->state == ZCHATTER_CODES ||
		find_prefix(text, len))
		return true;
	/* The text may end with the beginning of such a prefix. */
	for (size_t n = len < sizeof(prefix) - 1 ? len : sizeof(prefix) - 1; n > 0; n--)
		if (memcmp(text + len - n, prefix, n) == 0)
			return true;
	return len < strlen(rule) && len >= RULE_BEGIN && memcmp(text, rule, len) == 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines to stderr: one write per line, so that lines of several processes and threads do not mix. Any thread. */
#include "common/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024 /* longer lines are cut */

static const struct {
	const char *name;
	int priority; /* number of syslog(3), as the prefixes of sd-daemon(3) use it */
} levels[] = {
	[ZLOG_ERROR] = {"error", 3},
	[ZLOG_WARN] = {"warn", 4},
	[ZLOG_INFO] = {"info", 6},
	[ZLOG_DEBUG] = {"debug", 7},
};

static const char *log_ident = "zipper";
static enum zlog_level log_max = ZLOG_WARN;
static int log_journal;

/* systemd names the stream that it reads in JOURNAL_STREAM ("device:inode"). The prefix is only used while stderr still
 * is that stream, and was not redirected to a file. */
static int stderr_is_journal(void)
{
	const char *text = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;
	if (!text || sscanf(text, "%llu:%llu", &dev, &ino) != 2 || fstat(STDERR_FILENO, &st) < 0)
		return 0;
	return st.st_dev == dev && st.st_ino == ino;
}

void zlog_init(const char *ident, enum zlog_level max_level)
{
	log_ident = ident;
	log_max = max_level;
	log_journal = stderr_is_journal();
}

void zlog(enum zlog_level level, const char *fmt, ...)
{
	if (level > log_max)
		return;
	int saved = errno;
	char line[LINE_MAX_BYTES];
	int n = log_journal ? snprintf(line, sizeof(line), "<%d>", levels[level].priority)
			    : snprintf(line, sizeof(line), "%s: %s", log_ident,
				      level == ZLOG_INFO ? "" : levels[level].name);
	if (!log_journal && level != ZLOG_INFO)
		n += snprintf(line + n, sizeof(line) - (size_t)n, ": ");
	size_t start = (size_t)n;
	va_list ap;
	va_start(ap, fmt);
	int m = vsnprintf(line + start, sizeof(line) - start - 1, fmt, ap);
	va_end(ap);
	size_t end = start + (m < 0 ? 0 : (size_t)m);
	if (end > sizeof(line) - 2)
		end = sizeof(line) - 2;
	/* The text may contain what a peer sent. One call makes one line, without terminal codes. */
	for (size_t i = start; i < end; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[end++] = '\n';
	ssize_t done;
	do
		done = write(STDERR_FILENO, line, end);
	while (done < 0 && errno == EINTR);
	errno = saved;
}

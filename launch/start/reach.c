/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for children of an mpiexec that have failed, see reach.h. */
#include "launch/start/reach.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/base/process.h"

#define LOOK_MS 500
#define PATIENCE_MS 2000 /* an mpiexec that ends because of the failure has more to tell than we */
#define SETTLE_MS 2000	 /* a starting mpiexec has fewer children, and for moments more sockets */

int zreach_timeout(const struct zreach *r, int64_t now_ms)
{
	int64_t left = r->looked_ms + LOOK_MS - now_ms;
	return left < 0 ? 0 : (int)left;
}

/* The children of an mpiexec. */
struct children {
	int failed, others; /* without children that have ended in order */
	char *text;	    /* the first child that has failed, and how */
	size_t cap;
};

/* Has a child ended, and how? Its parent has not taken its status yet, so the status is the last field of
 * /proc/PID/stat, see proc(5). name: the child's command. */
static bool has_ended(int pid, char *name, size_t cap, int *wait_status)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	char *begin = strchr(text, '('), *end = strrchr(text, ')'), *last = strrchr(text, ' ');
	if (!begin || !end || last < end || strncmp(end, ") Z ", 4) != 0)
		return false;
	snprintf(name, cap, "%.*s", (int)(end - begin) - 1, begin + 1);
	*wait_status = (int)strtol(last, NULL, 10);
	return true;
}

static void note_child(pid_t pid, void *children)
{
	struct children *c = children;
	char name[64];
	int status;
	if (!has_ended(pid, name, sizeof(name), &status)) {
		c->others++;
		return;
	}
	if (status == 0 || c->failed++ > 0)
		return;
	if (WIFSIGNALED(status))
		snprintf(c->text, c->cap, "%s was killed by signal %d", name, WTERMSIG(status));
	else
		snprintf(c->text, c->cap, "%s ended with status %d", name, WEXITSTATUS(status));
}

/* The number of proxies that have a connection to mpiexec: all its sockets, except for the one at which it listens.
 * Negative: the number is not known, or mpiexec does not listen yet. */
static int count_connections(pid_t mpiexec)
{
	char path[64], to[16];
	int n = -1;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)mpiexec);
	DIR *dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		ssize_t len = readlinkat(dirfd(dir), e->d_name, to, sizeof(to));
		n += len >= 7 && strncmp(to, "socket:", 7) == 0;
	}
	if (dir)
		closedir(dir);
	return n;
}

bool zreach_has_failed(struct zreach *r, pid_t mpiexec, bool report, int64_t now_ms, char *text, size_t cap)
{
	struct children c = {.text = text, .cap = cap};
	if (r->reached || zreach_timeout(r, now_ms) > 0)
		return false;
	r->looked_ms = now_ms;
	zprocess_for_children(mpiexec, note_child, &c);
	bool failed = c.failed > 0;
	if (!report) {
		int connections = count_connections(mpiexec);
		bool all = connections > 0 && connections >= c.failed + c.others;
		if (!all)
			r->all_ms = 0;
		else if (r->all_ms == 0)
			r->all_ms = now_ms;
		r->reached = all && now_ms - r->all_ms >= SETTLE_MS;
		failed &= connections >= 0 && !all;
	}
	if (!failed)
		r->failed_ms = 0;
	else if (r->failed_ms == 0)
		r->failed_ms = now_ms;
	return r->failed_ms && now_ms - r->failed_ms >= PATIENCE_MS;
}

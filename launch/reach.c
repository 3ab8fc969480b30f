/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for children of an mpiexec that have failed, see reach.h. */
#include "reach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define LOOK_MS 500
#define PATIENCE_MS 2000 /* an mpiexec that does end because of it has more to tell than we */

int zreach_timeout(const struct zreach *r, int64_t now_ms)
{
	int64_t left = r->looked_ms + LOOK_MS - now_ms;
	return left < 0 ? 0 : (int)left;
}

/* Has it ended, but not in order? Its parent has not taken its status yet, so that it stands in the last field of
 * /proc/PID/stat, see proc(5). name: its command. */
static bool has_failed(int pid, char *name, size_t cap, int *wait_status)
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
	return *wait_status != 0;
}

/* One child of mpiexec that has failed. */
static bool find_failed(pid_t mpiexec, char *text, size_t cap)
{
	char path[64], name[64];
	int child, status;
	bool found = false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)mpiexec, (int)mpiexec);
	FILE *list = fopen(path, "re");
	while (list && !found && fscanf(list, "%d", &child) == 1)
		found = has_failed(child, name, sizeof(name), &status);
	if (list)
		fclose(list);
	if (found && WIFSIGNALED(status))
		snprintf(text, cap, "%s was killed by signal %d", name, WTERMSIG(status));
	else if (found)
		snprintf(text, cap, "%s ended with status %d", name, WEXITSTATUS(status));
	return found;
}

bool zreach_has_failed(struct zreach *r, pid_t mpiexec, int64_t now_ms, char *text, size_t cap)
{
	if (zreach_timeout(r, now_ms) > 0)
		return false;
	r->looked_ms = now_ms;
	if (!find_failed(mpiexec, text, cap))
		r->failed_ms = 0;
	else if (r->failed_ms == 0)
		r->failed_ms = now_ms;
	return r->failed_ms && now_ms - r->failed_ms >= PATIENCE_MS;
}

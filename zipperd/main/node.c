/* SPDX-License-Identifier: BSD-3-Clause */
/* The process of a node's zipperd, see node.h. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "zipperd/main/node.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void close_all(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;
	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (atoi(e->d_name) > STDERR_FILENO && atoi(e->d_name) != dirfd(dir))
			close(atoi(e->d_name));
	closedir(dir);
}

void node_detach(void)
{
	cpu_set_t all;
	close_all();
	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all); /* to those that are allowed; else it stays where it is */
	if (fork() > 0)
		_exit(EXIT_SUCCESS);
}

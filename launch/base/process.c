/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and ends child processes. */
#include "launch/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"

#define TREE_DEPTH_MAX 64 /* deeper descendants become our children when their parents are gone */

static struct rlimit descriptors; /* the limit when we were started */

/* zmpirun needs some descriptors for each part and zipper, as long as the job runs. */
static void raise_descriptors(void)
{
	if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0)
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){descriptors.rlim_max, descriptors.rlim_max});
}

int zprocess_init(struct zerr *err)
{
	raise_descriptors();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return zerr_set(err, -errno, "cannot become the reaper of child processes: %s", strerror(errno));
	return 0;
}

int zprocess_pipe(int fd[2], struct zerr *err)
{
	if (pipe2(fd, O_CLOEXEC) < 0)
		return zerr_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	return 0;
}

/* Brings the descriptors to 0..3: first out of each other's way, then into place. */
static int place_fds(const int wanted[4])
{
	int high[4];
	for (int i = 0; i < 4; i++) {
		int fd = wanted[i];
		if (fd < 0 && i < 3)
			fd = open("/dev/null", i == 0 ? O_RDONLY : O_WRONLY);
		high[i] = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10);
		if (fd >= 0 && high[i] < 0)
			return -errno;
	}
	for (int i = 0; i < 4; i++) {
		if (high[i] < 0)
			close(i);
		else if (dup2(high[i], i) < 0)
			return -errno;
	}
	return 0;
}

static void reset_signals(void)
{
	sigset_t none;
	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs in the child and never returns. A failure is told through the pipe. */
static void run_child(const struct zspawn *s, pid_t parent, int failed)
{
	setpgid(0, 0);
	reset_signals();
	/* With SIGKILL mpiexec's proxies see it go and end their ranks, whatever the ranks do with signals. */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(127);
	int code = 0;
	int pipe_end = fcntl(failed, F_DUPFD_CLOEXEC, 10); /* out of the way of 0..3 */
	if (pipe_end < 0 || (code = place_fds(s->fd)) < 0)
		code = code ? code : -errno;
	else {
		if (descriptors.rlim_max > 0)
			setrlimit(RLIMIT_NOFILE, &descriptors); /* programs with select() rely on the old limit */
		execvpe(s->argv[0], s->argv, s->envp);
		code = -errno;
	}
	if (write(pipe_end < 0 ? failed : pipe_end, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

pid_t zprocess_spawn(const struct zspawn *s, struct zerr *err)
{
	int failed[2], code = 0;
	int rc = zprocess_pipe(failed, err);
	if (rc < 0)
		return rc;
	fflush(NULL);
	pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		run_child(s, parent, failed[1]);
	close(failed[1]);
	if (pid < 0) {
		rc = zerr_set(err, -errno, "cannot start %s: %s", s->argv[0], strerror(errno));
	} else if (read(failed[0], &code, sizeof(code)) == (ssize_t)sizeof(code)) {
		waitpid(pid, NULL, 0);
		rc = zerr_set(err, code, "cannot start %s: %s", s->argv[0], strerror(-code));
	} else {
		setpgid(pid, pid); /* parent and child both do this, because either may come first */
	}
	close(failed[0]);
	return rc < 0 ? rc : pid;
}

void zprocess_for_children(pid_t pid, void (*visit)(pid_t child, void *arg), void *arg)
{
	char path[64];
	int child;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	FILE *list = fopen(path, "re");
	if (!list)
		return;
	while (fscanf(list, "%d", &child) == 1)
		visit(child, arg);
	fclose(list);
}

/* Sends SIGKILL to a process and all its descendants. A child dies after its own children, so that none is orphaned
 * unseen. */
static void kill_tree(pid_t pid, void *depth)
{
	int below = *(int *)depth + 1;
	if (below < TREE_DEPTH_MAX)
		zprocess_for_children(pid, kill_tree, &below);
	kill(pid, SIGKILL);
}

bool zprocess_kill_all(void)
{
	int depth = 0;
	pid_t pid;
	zprocess_for_children(getpid(), kill_tree, &depth);
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

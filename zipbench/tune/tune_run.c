/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts zipbench coll and reads its lines; see tune_run.h. */
#include "zipbench/tune/tune_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 128
#define WORD_BYTES 4096

/* The word with the layout in place of {}. Not freed: the child ends soon. */
static char *filled_in(const char *word, const char *layout)
{
	const char *at = strstr(word, "{}");
	char text[WORD_BYTES];
	if (!at)
		return strdup(word);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - word), word, layout, at + 2);
	return strdup(text);
}

static void run_child(const struct tune_job *j, int out)
{
	char *argv[WORDS_MAX + 16];
	int n = 0, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (n < WORDS_MAX && j->command[n]) {
		argv[n] = filled_in(j->command[n], j->layout);
		n++;
	}
	char *rest[] = {(char *)(size_t)j->program, (char[]){"--ops"}, (char *)(size_t)j->ops, (char[]){"--sizes"},
		(char *)(size_t)j->sizes, (char[]){"--seconds"}, (char *)(size_t)j->seconds, (char[]){"--merged"},
		NULL};
	memcpy(&argv[n], rest, sizeof(rest));
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	unsetenv("ZIPPER_TUNING"); /* candidates are compared with the defaults */
	if (j->rules[0])
		setenv("ZIPPER_TUNE", j->rules, 1);
	else
		unsetenv("ZIPPER_TUNE");
	execvp(argv[0], argv);
	fprintf(stderr, "zipbench tune: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Lines of zipbench coll: world,op,bytes,ranks,repeats,q1,median,q3,mean. */
static int read_lines(FILE *f, tune_line *line, void *ctx)
{
	char text[512], op[64];
	int n = 0, ranks, repeats;
	double bytes, q1, median, q3, mean;
	while (fgets(text, sizeof(text), f))
		if (sscanf(text, "%*[^,],%63[^,],%lf,%d,%d,%lf,%lf,%lf,%lf", op, &bytes, &ranks, &repeats, &q1, &median,
			    &q3, &mean) == 8) {
			line(ctx, op, bytes, ranks, median);
			n++;
		}
	return n;
}

int tune_run(const struct tune_job *j, tune_line *line, void *ctx, struct zerr *err)
{
	int pipe_fd[2], status;
	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return zerr_set(err, -errno, "pipe: %s", strerror(errno));
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		run_child(j, pipe_fd[1]);
	close(pipe_fd[1]);
	FILE *f = pid > 0 ? fdopen(pipe_fd[0], "r") : NULL;
	if (!f) {
		int rc = zerr_set(err, -errno, "cannot start a job: %s", strerror(errno));
		close(pipe_fd[0]);
		return rc;
	}
	int n = read_lines(f, line, ctx);
	fclose(f);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return zerr_set(err, -errno, "waiting for %s: %s", j->command[0], strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return n > 0 ? 0 : zerr_set(err, -ENODATA, "%s has measured nothing", j->command[0]);
	return zerr_set(err, -EIO, "%s failed with %s %d (%s, rules '%s')", j->command[0],
		WIFEXITED(status) ? "status" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
		j->layout, j->rules);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs gnuplot. See gnuplot.h. */
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gnuplot.h"

extern char **environ;

void gnuplot_quoted(FILE *f, const char *text)
{
	fputc('\'', f);
	for (; *text; text++)
		fputs(*text == '\'' ? "''" : (char[]){ *text == '\n' ? ' ' : *text, 0 }, f);
	fputc('\'', f);
}

int gnuplot_run(const char *program, struct zerr *err)
{
	char *argv[] = { (char[]){ "gnuplot" }, (char *)(uintptr_t)program, NULL };
	int status, rc;
	pid_t pid;

	rc = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (rc)
		return zerr_set(err, -rc, "gnuplot cannot be started: %s", strerror(rc));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return zerr_set(err, -errno, "gnuplot: %s", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return zerr_set(err, -EIO, "gnuplot could not draw %s", program);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs gnuplot, see gnuplot.h. */
#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mapper/draw/gnuplot.h"

extern char **environ;

void gnuplot_quoted(FILE *f, const char *text)
{
	fputc('\'', f);
	for (; *text; text++)
		fputs(*text == '\'' ? "''" : (char[]){*text == '\n' ? ' ' : *text, 0}, f);
	fputc('\'', f);
}

static int run(const char *program, struct zerr *err)
{
	char *argv[] = {(char[]){"gnuplot"}, (char *)(uintptr_t)program, NULL};
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

static const char *const terminals[][2] = {{"svg size %u,%u font 'Helvetica,%u' background 'white'", ".svg"},
	{"pngcairo size %u,%u font 'Helvetica,%u'", ".png"}};

static void program_write(FILE *f, const struct gnuplot_picture *p)
{
	if (p->data)
		p->data(f, p->arg);
	for (int t = 0; t < 2; t++) {
		fputs("reset\nset terminal ", f);
		fprintf(f, terminals[t][0], p->width, p->height, t ? (3 * p->font + 2) / 4 : p->font);
		fputs("\nset output ", f);
		gnuplot_quoted(f, p->base);
		fprintf(f, ".'%s'\n", terminals[t][1]);
		p->plot(f, p->arg);
		fputs("unset output\n", f);
	}
}

/* The end of a file of either format has a known word. */
static bool is_whole(const char *path, const char *end)
{
	char tail[32];
	FILE *f = fopen(path, "rb");
	size_t n = f && fseek(f, -(long)sizeof(tail), SEEK_END) == 0 ? fread(tail, 1, sizeof(tail), f) : 0;

	if (f)
		fclose(f);
	return memmem(tail, n, end, strlen(end));
}

/* gnuplot says nothing when a disk is full. A broken picture is reported, and removed. */
static int pictures_check(const char *base, struct zerr *err)
{
	static const char *const ends[] = {"</svg>", "IEND"};
	int rc = 0;

	for (int t = 0; t < 2; t++) {
		char *path;

		if (asprintf(&path, "%s%s", base, terminals[t][1]) < 0)
			return zerr_set(err, -ENOMEM, "not enough memory");
		if (!is_whole(path, ends[t])) {
			remove(path);
			rc = rc ? rc : zerr_set(err, -EIO, "%s: cannot be written", path);
		}
		free(path);
	}
	return rc;
}

int gnuplot_try(const char *base, struct zerr *err)
{
	char *path;
	FILE *f;
	int rc = 0;

	if (asprintf(&path, "%s.gnuplot", base) < 0)
		return zerr_set(err, -ENOMEM, "not enough memory");
	f = fopen(path, "a");
	if (!f)
		rc = zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	else
		fclose(f);
	free(path);
	return rc;
}

int gnuplot_draw(const struct gnuplot_picture *p, struct zerr *err)
{
	char *path;
	FILE *f;
	int rc, broken;

	if (asprintf(&path, "%s.gnuplot", p->base) < 0)
		return zerr_set(err, -ENOMEM, "not enough memory");
	f = fopen(path, "w");
	if (!f) {
		rc = zerr_set(err, -errno, "%s: %s", path, strerror(errno));
		goto out;
	}
	program_write(f, p);
	rc = ferror(f);
	if (fclose(f) || rc) {
		remove(path);
		rc = zerr_set(err, -EIO, "%s: cannot be written", path);
	} else {
		rc = run(path, err);
		broken = pictures_check(p->base, rc ? NULL : err);
		rc = rc ? rc : broken;
	}
out:
	free(path);
	return rc;
}

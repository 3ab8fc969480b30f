/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the probe as an MPI program, see trial.h. */
#include "launch/check/trial.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "launch/base/argv.h"
#include "launch/base/environ.h"
#include "launch/base/process.h"
#include "launch/check/facts.h"
#include "launch/run/early.h"

#define LIMIT_MS 120000
#define TEXT_BYTES 65536
#define MAP_NAME "trial.map"

extern char **environ;

static void add_option(struct zargv *argv, const char *option, const char *value)
{
	if (!value)
		return;
	zargv_add(argv, option);
	zargv_add(argv, value);
}

/* With a map a host may have ranks of several parts, and of one whose cluster is not that of its line: a zipper node.
 * So the trial has a map of its own. 0 or a negative errno with text. */
static int write_map(const struct zscratch *scratch, const struct zplan *plan, struct zerr *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	for (int i = 0; out && i < plan->nparts; i++)
		fprintf(out, "%d %s %s\n", i, plan->parts[i].hosts[0].host->name, plan->parts[i].name);
	int rc = out && fclose(out) == 0 ? zscratch_write(scratch, MAP_NAME, text, len, err)
					 : zerr_set(err, -ENOMEM, "out of memory");
	free(text);
	return rc;
}

/* One rank on the first host of each part. */
static void add_places(struct zargv *argv, const struct zoptions *o, const struct zplan *plan)
{
	char *list = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&list, &len);
	for (int i = 0; out && i < plan->nparts; i++)
		if (o->hostfile)
			fprintf(out, "%s%s:1", i ? "," : "", plan->parts[i].hosts[0].host->name);
		else
			fprintf(out, "%s1", i ? "," : "");
	if (!out || fclose(out) != 0)
		argv->failed = true;
	add_option(argv, o->hostfile ? "-hosts" : "--clusters", list);
	free(list);
}

/* Options for every mpiexec, as the job has them. The trial is not recorded: its graph would replace that of the user's
 * program. */
static void add_globals(struct zargv *argv, const struct zargv *globals)
{
	for (size_t i = 0; i < globals->count; i++) {
		const bool is_set = strcmp(globals->words[i], "-genv") == 0 && i + 2 < globals->count;
		const size_t n = is_set ? 3 : 1;
		if (!is_set || strcmp(globals->words[i + 1], ZENVIRON_PROFILE) != 0)
			zargv_add_all(argv, globals->words + i, n);
		i += n - 1;
	}
}

static int fill(struct zargv *argv, const struct zoptions *o, const struct zplan *plan, const struct zlocate *l,
	const struct zscratch *scratch, struct zerr *err)
{
	char path[192];
	int rc = 0;
	zargv_add(argv, "/proc/self/exe");
	add_option(argv, "-f", o->hostfile);
	if (plan->mapped && o->hostfile) {
		rc = write_map(scratch, plan, err);
		add_option(argv, "-map", zscratch_path(scratch, MAP_NAME, path, sizeof(path)));
		zargv_add(argv, "-oversubscribe");
	} else {
		add_places(argv, o, plan);
	}
	if (o->rails > 0) {
		zargv_add(argv, "--rails");
		zargv_addf(argv, "%d", o->rails);
	}
	add_option(argv, "--zipperd", o->zipperd);
	add_option(argv, "-launcher", o->launcher);
	add_option(argv, "-launcher-exec", o->launcher_exec);
	add_option(argv, "-iface", o->iface);
	add_globals(argv, &o->globals);
	if (o->preload) {
		zargv_add(argv, "-genv");
		add_option(argv, "LD_PRELOAD", o->preload);
	}
	zargv_add(argv, l->probe);
	zargv_add(argv, "measure");
	return rc == 0 && argv->failed ? zerr_set(err, -ENOMEM, "out of memory") : rc;
}

/* Reads both streams to their end into text[cap]. False: it takes too long. */
static bool read_all(int fd, char *text, size_t cap)
{
	const int64_t end = zclock_ms() + LIMIT_MS;
	size_t len = 0;
	ssize_t n = 1;
	while (n > 0 && len < cap - 1) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		const int64_t left = end - zclock_ms();
		if (left <= 0)
			break;
		if (poll(&p, 1, (int)left) > 0 && (n = read(fd, text + len, cap - 1 - len)) > 0)
			len += (size_t)n;
	}
	text[len] = '\0';
	return n <= 0;
}

/* The first line of zmpirun that is no warning, or else of anybody. */
static void find_reason(const char *text, char *reason, size_t cap)
{
	static const char mark[] = "zmpirun: ", warning[] = "zmpirun: warning: ";
	const char *line = strstr(text, mark);
	while (line && strncmp(line, warning, sizeof(warning) - 1) == 0)
		line = strstr(line + 1, mark);
	if (!line)
		line = text;
	snprintf(reason, cap, "%.*s", (int)strcspn(line, "\n"), line);
}

static const char *rate(char buf[32], double bytes)
{
	snprintf(buf, 32, bytes >= 1e9 ? "%.1f GB/s" : "%.1f MB/s", bytes / (bytes >= 1e9 ? 1e9 : 1e6));
	return buf;
}

/* Returns the number of legs that were told. */
static int tell(struct zreport *r, const struct zplan *plan, const struct zfacts *f)
{
	char there[32], back[32];
	int legs = 0;
	for (int i = 0; i < f->n; i++) {
		double ns, out, in;
		int rank;
		if (strcmp(f->fact[i].key, "leg") != 0 ||
			sscanf(f->fact[i].text, "%d %lf %lf %lf", &rank, &ns, &out, &in) != 4 || rank < 1 ||
			rank >= plan->nparts)
			continue;
		zreport_add(r, ZREPORT_OK, NULL, "%s - %s: a job runs: round trip %.3f ms, %s there and %s back",
			plan->parts[0].name, plan->parts[rank].name, ns / 1e6, rate(there, out), rate(back, in));
		legs++;
	}
	return legs;
}

void ztrial_run(struct zreport *r, const struct zoptions *o, const struct zplan *plan, const struct zlocate *l,
	const struct zscratch *scratch)
{
	struct zargv argv = {0};
	struct zfacts facts;
	struct zerr err = {{0}};
	char *text = calloc(1, TEXT_BYTES), *copy = NULL, reason[512];
	int fd[2] = {-1, -1}, status = 0;
	int rc = fill(&argv, o, plan, l, scratch, &err);
	unsetenv(ZENVIRON_PROFILE);
	if (rc == 0)
		rc = text ? zprocess_pipe(fd, &err) : zerr_set(&err, -ENOMEM, "out of memory");
	if (rc == 0) {
		struct zspawn s = {.argv = argv.words, .envp = environ, .fd = {-1, fd[1], fd[1], -1}};
		rc = zprocess_spawn(&s, &err);
		zearly_note(rc > 0 ? rc : 0);
		close(fd[1]);
	}
	bool in_time = rc > 0 && read_all(fd[0], text, TEXT_BYTES);
	if (rc > 0) {
		if (!in_time)
			kill(rc, SIGTERM);
		waitpid(rc, &status, 0);
		zearly_note(0);
	}
	if (fd[0] >= 0)
		close(fd[0]);
	copy = text ? strdup(text) : NULL;
	if (rc > 0 && in_time && copy) {
		zfacts_read(&facts, copy);
		find_reason(text, reason, sizeof(reason));
		if (status != 0 || tell(r, plan, &facts) != plan->nparts - 1)
			zreport_add(r, ZREPORT_BAD, NULL, "a trial job of one rank in each cluster: %s", reason);
	} else {
		zreport_add(r, ZREPORT_BAD, NULL, "a trial job of one rank in each cluster: %s",
			err.text[0] ? err.text : "it has not ended in time");
	}
	free(copy);
	free(text);
	zargv_free(&argv);
}

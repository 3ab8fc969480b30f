/* SPDX-License-Identifier: BSD-3-Clause */
/* zipstat: prints what running zipperds do, or the resources of endpoint categories. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/args.h"
#include "zipstat/endpoints.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/stdfds.h"
#include "zipstat/check.h"
#include "zipstat/control.h"
#include "zipstat/serve.h"
#include "zipstat/status.h"
#include "common/endpoint/endpoint.h"
#include "common/endpoint/ep_category.h"

#define THREADS_DEFAULT 16
#define PATHS_MAX 64
#define INTERVAL_DEFAULT_S 2 /* of --watch */
#define WRONG_USE 1
#define UNFIT 2 /* no job would run, and that has been said */

struct stat_options {
	bool endpoints, csv, watch;
	const char *listen; /* of serve; NULL: the usual place */
	struct endpoints_options e;
	struct status_options s;
};

static int take_category(void *category, char *text, struct zerr *err)
{
	int c = zep_category_parse(text);
	if (c < 0) {
		zerr_set(err, c, "--category: \"%.64s\" is no category, but", text);
		for (int i = 0; i < ZEP_CATEGORIES; i++) {
			size_t len = strlen(err->text);
			snprintf(err->text + len, sizeof(err->text) - len, "%s%s",
				i == 0			 ? " "
				: i < ZEP_CATEGORIES - 1 ? ", "
							 : " and ",
				zep_category_names[i]);
		}
		return c;
	}
	*(int *)category = c;
	return 0;
}

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct stat_options, member)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	{.name = "user",
		.letter = 'u',
		FIELD(TEXT, s.user),
		HELP("NAME", "your name there; default: $ZIPPER_USER, or your login name")},
	{.name = "job", .letter = 'j', FIELD(TEXT, s.job), HELP("ID", "this job alone")},
	{.name = "watch",
		.letter = 'w',
		FIELD(FLAG, watch),
		.help = "again and again, as top(1), until it is interrupted"},
	{.name = "interval",
		.letter = 'i',
		FIELD(UNSIGNED, s.interval_s),
		.min = 1,
		.max = 3600,
		HELP("SECONDS", "of --watch; default 2")},
	{.name = "listen",
		.letter = 'l',
		FIELD(TEXT, listen),
		HELP("IP:PORT", "where serve listens; default " SERVE_LISTEN)},
	{.name = "json", FIELD(FLAG, s.json), .help = "as JSON"},
	{.name = "endpoints", FIELD(FLAG, endpoints), .help = "the account of the endpoint categories"},
	{.name = "threads",
		.letter = 't',
		FIELD(UNSIGNED, e.threads),
		.min = 1,
		.max = ZEP_THREADS_MAX,
		HELP("N", "for N threads; default 16")},
	{.name = "paths",
		.letter = 'p',
		FIELD(UNSIGNED, e.paths),
		.min = 1,
		.max = PATHS_MAX,
		HELP("N", "with N queue pairs each; default 1")},
	{.name = "category",
		.letter = 'c',
		FIELD(CALL, e.category),
		.take = take_category,
		HELP("NAME", "this category alone: mpi-everywhere, 2xdynamic, dynamic,\n"
			     "shared-dynamic, static or mpi+threads")},
	{.name = "device",
		.letter = 'd',
		FIELD(TEXT, e.device),
		HELP("NAME", "as built on this RDMA device, not as predicted for mlx5")},
	{.name = "csv", FIELD(FLAG, csv), .help = "comma-separated values; of zipperd: the traffic of your own jobs"},
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipstat",
	.usage = "zipstat [-u USER] [-j JOB] [-w] [-i SECONDS] [--json] ADDRESS...\n"
		 "       zipstat [-u USER] [-j JOB] --csv ADDRESS\n"
		 "       zipstat [-u USER] check ADDRESS...\n"
		 "       zipstat [-u USER] drain|resume ADDRESS\n"
		 "       zipstat [-u USER] end [USER/]JOB ADDRESS\n"
		 "       zipstat [-u USER] set NAME VALUE ADDRESS\n"
		 "       zipstat [-u USER] [-l IP:PORT] serve ADDRESS...\n"
		 "       zipstat --endpoints [-t THREADS] [-p PATHS] [-c CATEGORY] [-d DEVICE] [--csv]\n"
		 "\n"
		 "Prints what the zipperd at each ADDRESS (tcp:HOST[:PORT], shm:PATH) does, and your jobs there, or\n"
		 "all jobs if you are an administrator (zipperd.conf(5)); lets an administrator drain it, which keeps\n"
		 "new jobs out, end a job or set an option, and a user end an own job;\n"
		 "tries whether jobs can run over them, and looks at limits and RDMA ports of this host;\n"
		 "serves a live page and metrics for Prometheus by HTTP;\n"
		 "or the resources of a network adapter that the endpoint categories of zipperd.conf(5) take.\n",
	.operands = "ADDRESS...",
	.most = ZARGS_MANY,
	.rows = rows,
};

static bool has_output_options(const struct stat_options *o)
{
	return o->s.job || o->s.json || o->watch || o->s.interval_s || o->csv || o->endpoints;
}

/* word[nwords]: the addresses. */
static int check_serve(const struct stat_options *o, int nwords, struct zerr *err)
{
	if (nwords == 0)
		return zerr_set(err, -EINVAL, "serve: the address of a zipperd is missing; try zipstat --help");
	if (has_output_options(o))
		return zerr_set(err, -EINVAL, "serve takes no such option; try zipstat --help");
	return 0;
}

/* word[nwords]: the addresses. */
static int check_check(const struct stat_options *o, int nwords, struct zerr *err)
{
	if (nwords == 0)
		return zerr_set(err, -EINVAL, "check: the address of a zipperd is missing; try zipstat --help");
	if (has_output_options(o) || o->listen)
		return zerr_set(err, -EINVAL, "check takes no such option; try zipstat --help");
	return 0;
}

static int check_command(const struct stat_options *o, const struct control_options *c, struct zerr *err)
{
	const char *usage = control_check(c);
	if (usage)
		return zerr_set(err, -EINVAL, "it is: zipstat %s; try zipstat --help", usage);
	if (has_output_options(o) || o->listen)
		return zerr_set(err, -EINVAL, "%.40s takes no such option; try zipstat --help", c->word[0]);
	return 0;
}

/* word[nwords]: the addresses. */
static int check_zippers(struct stat_options *o, const char *const *word, int nwords, struct zerr *err)
{
	if (o->e.threads || o->e.paths || o->e.category >= 0 || o->e.device)
		return zerr_set(err, -EINVAL, "that option goes with --endpoints; try zipstat --help");
	if (nwords == 0)
		return zerr_set(err, -EINVAL, "the address of a zipperd, or --endpoints; try zipstat --help");
	if (o->listen)
		return zerr_set(err, -EINVAL, "--listen goes with serve; try zipstat --help");
	if (o->csv && (o->s.json || o->watch || o->s.interval_s))
		return zerr_set(err, -EINVAL, "--csv goes with no other form of output; try zipstat --help");
	if (o->csv && nwords > 1)
		return zerr_set(err, -EINVAL, "--csv asks one zipperd; try zipstat --help");
	o->s.address = word;
	o->s.naddresses = nwords;
	o->s.csv = o->csv;
	if (o->watch && o->s.interval_s == 0)
		o->s.interval_s = INTERVAL_DEFAULT_S;
	return 0;
}

static int check_endpoints(struct stat_options *o, int nwords, struct zerr *err)
{
	if (o->listen || o->s.user || o->s.job || o->s.json || o->watch || o->s.interval_s || nwords > 0)
		return zerr_set(err, -EINVAL, "--endpoints asks no zipperd; try zipstat --help");
	o->e.csv = o->csv;
	o->e.threads = o->e.threads ? o->e.threads : THREADS_DEFAULT;
	o->e.paths = o->e.paths ? o->e.paths : 1;
	return 0;
}

/* word[nwords]: the operands. 0, WRONG_USE, UNFIT, or a negative errno with text. */
static int run(struct stat_options *o, int nwords, const char *const *word, struct zerr *err)
{
	const struct control_options c = {.word = word, .nwords = nwords, .user = o->s.user};
	const struct serve_options s = {.address = word + 1,
		.naddresses = nwords - 1,
		.user = o->s.user,
		.listen = o->listen ? o->listen : SERVE_LISTEN};
	const struct check_options k = {.address = word + 1, .naddresses = nwords - 1, .user = o->s.user};
	if (nwords > 0 && strcmp(word[0], "check") == 0)
		return check_check(o, nwords - 1, err) < 0 ? WRONG_USE : check_run(&k, stdout) ? UNFIT : 0;
	if (nwords > 0 && strcmp(word[0], "serve") == 0)
		return check_serve(o, nwords - 1, err) < 0 ? WRONG_USE : serve_run(&s, err);
	if (nwords > 0 && control_is_command(word[0]))
		return check_command(o, &c, err) < 0 ? WRONG_USE : control_run(&c, stdout, err);
	if (o->endpoints)
		return check_endpoints(o, nwords, err) < 0 ? WRONG_USE : endpoints_print(&o->e, stdout, err);
	return check_zippers(o, word, nwords, err) < 0 ? WRONG_USE : status_print(&o->s, stdout, err);
}

int main(int argc, char **argv)
{
	struct stat_options o = {.e = {.category = -1}};
	struct zerr err = {.text = ""};
	int first, status;
	zstdfds_take();
	zlog_init("zipstat", ZLOG_INFO);
	if (!zargs_read(&args, &o, argc, argv, &first, &status))
		return status;
	int rc = run(&o, argc - first, (const char *const *)argv + first, &err);
	if (rc == WRONG_USE)
		return zargs_refuse(&args, &err);
	if (rc >= 0 && fflush(stdout) != 0)
		rc = zerr_set(&err, -errno, "standard output: %s", strerror(errno));
	if (rc < 0)
		fprintf(stderr, "zipstat: %s\n", err.text);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

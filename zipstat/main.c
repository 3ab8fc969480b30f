/* SPDX-License-Identifier: BSD-3-Clause */
/* zipstat: prints the traffic of a running zipperd, or the resources of endpoint categories. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipstat/endpoints.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/stdfds.h"
#include "zipstat/traffic.h"
#include "common/endpoint/endpoint.h"
#include "common/endpoint/ep_category.h"

#define EXIT_USAGE 2

enum { OPT_ENDPOINTS = 256, OPT_CSV };

static const struct option longs[] = {
	{"user", required_argument, NULL, 'u'},
	{"job", required_argument, NULL, 'j'},
	{"endpoints", no_argument, NULL, OPT_ENDPOINTS},
	{"threads", required_argument, NULL, 't'},
	{"paths", required_argument, NULL, 'p'},
	{"category", required_argument, NULL, 'c'},
	{"device", required_argument, NULL, 'd'},
	{"csv", no_argument, NULL, OPT_CSV},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct stat_options {
	bool endpoints, traffic_only, endpoints_only; /* "only": an option that is for this use alone */
	struct endpoints_options e;
	struct traffic_options t;
};

static void help(FILE *out)
{
	fputs("usage: zipstat [-u USER] [-j JOB] [--csv] ADDRESS\n"
	      "       zipstat --endpoints [-t THREADS] [-p PATHS] [-c CATEGORY] [-d DEVICE] [--csv]\n"
	      "\n"
	      "Prints the traffic of your jobs over the zipperd at ADDRESS (tcp:HOST[:PORT], shm:PATH);\n"
	      "or the resources of a network adapter that the endpoint categories of zipperd.conf(5) take.\n"
	      "\n"
	      "  -u, --user NAME          your name there; default: $ZIPPER_USER, or your login name\n"
	      "  -j, --job ID             this job alone\n"
	      "      --endpoints          the account of the endpoint categories\n"
	      "  -t, --threads N          for N threads; default 16\n"
	      "  -p, --paths N            with N queue pairs each; default 1\n"
	      "  -c, --category NAME      this category alone: mpi-everywhere, 2xdynamic, dynamic,\n"
	      "                           shared-dynamic, static or mpi+threads\n"
	      "  -d, --device NAME        as built on this RDMA device, not as predicted for mlx5\n"
	      "      --csv                comma-separated values\n"
	      "  -V, --version            print the version and exit\n"
	      "  -h, --help               print this and exit\n",
		out);
}

static int wrong(const char *fmt, const char *what)
{
	char text[512];
	snprintf(text, sizeof(text), fmt, what);
	zerr_print("zipstat: %s; try zipstat --help\n", text);
	return EXIT_USAGE;
}

static int wrong_category(const char *text)
{
	fprintf(stderr, "zipstat: --category %s: no such category, but", text);
	for (int c = 0; c < ZEP_CATEGORIES; c++)
		fprintf(stderr, "%s%s", c == 0 ? " " : c < ZEP_CATEGORIES - 1 ? ", " : " and ", zep_category_names[c]);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

static int parse_number(const char *text, unsigned max, unsigned *n)
{
	char *end;
	errno = 0;
	unsigned long v = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || v < 1 || v > max)
		return -EINVAL;
	*n = (unsigned)v;
	return 0;
}

/* 0, or the exit status */
static int take(struct stat_options *o, int c)
{
	switch (c) {
	case 'u':
		o->t.user = optarg;
		o->traffic_only = true;
		return 0;
	case 'j':
		o->t.job = optarg;
		o->traffic_only = true;
		return 0;
	case OPT_ENDPOINTS:
		o->endpoints = true;
		return 0;
	case 't':
		o->endpoints_only = true;
		return parse_number(optarg, ZEP_THREADS_MAX, &o->e.threads) == 0
			       ? 0
			       : wrong("--threads %s: not 1 to 4096", optarg);
	case 'p':
		o->endpoints_only = true;
		return parse_number(optarg, 64, &o->e.paths) == 0 ? 0 : wrong("--paths %s: not 1 to 64", optarg);
	case 'c':
		o->endpoints_only = true;
		o->e.category = zep_category_parse(optarg);
		return o->e.category >= 0 ? 0 : wrong_category(optarg);
	case 'd':
		o->endpoints_only = true;
		o->e.device = optarg;
		return 0;
	case OPT_CSV:
		o->e.csv = o->t.csv = true;
		return 0;
	}
	return 0;
}

/* getopt_long tells the letter of a short option, and only the word of a long one. */
static int refuse(int c, const char *word)
{
	char text[64] = {'-', (char)optopt};
	if (optopt <= 0 || optopt > 255 || strncmp(word, "--", 2) == 0)
		snprintf(text, sizeof(text), "%s", word);
	return c == ':' ? wrong("%s: its value is missing", text)
			: wrong("%s: unknown option, or one without value", text);
}

static int check(struct stat_options *o, int argc, char **argv)
{
	if (o->endpoints && (o->traffic_only || optind < argc))
		return wrong("%s", "--endpoints asks no zipperd");
	if (!o->endpoints && o->endpoints_only)
		return wrong("%s", "that option goes with --endpoints");
	if (!o->endpoints && optind != argc - 1)
		return wrong("%s", "one address of a zipperd, or --endpoints");
	o->t.address = o->endpoints ? NULL : argv[optind];
	return 0;
}

int main(int argc, char **argv)
{
	struct stat_options o = {.e = {.threads = 16, .paths = 1, .category = -1}};
	struct zerr err = {.text = ""};
	int c, status = 0;
	zstdfds_take();
	zlog_init("zipstat", ZLOG_INFO);
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":u:j:t:p:c:d:Vh", longs, NULL)) != -1 && status == 0) {
		if (c == 'h') {
			help(stdout);
			return 0;
		}
		if (c == 'V') {
			puts("zipstat " VERSION);
			return 0;
		}
		status = c == '?' || c == ':' ? refuse(c, argv[optind - 1]) : take(&o, c);
	}
	if (status == 0)
		status = check(&o, argc, argv);
	if (status != 0)
		return status;
	int rc = o.endpoints ? endpoints_print(&o.e, stdout, &err) : traffic_print(&o.t, stdout, &err);
	if (rc == 0 && fflush(stdout) != 0)
		rc = zerr_set(&err, -errno, "standard output: %s", strerror(errno));
	if (rc < 0)
		fprintf(stderr, "zipstat: %s\n", err.text);
	return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

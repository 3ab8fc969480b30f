/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes and hosts of --clusters. See invent.h. */
#include "common/hosts/invent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hosts/word.h"

static int refuse_spec(const char *spec, struct zerr *err)
{
	return zerr_set(err, -EINVAL,
		"--clusters: '%.64s' is neither a number from 1 to %d nor ranks of each cluster (as 2,2)", spec,
		ZCTL_PARTS_MAX);
}

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "out of memory");
}

/* Parses "1,3" or "1+3": the ranks of each cluster. */
static int parse_sizes(const char *spec, int share[ZCTL_PARTS_MAX], int *n, struct zerr *err)
{
	char *copy = strdup(spec), *rest = NULL;
	int rc = 0;
	if (!copy)
		return no_memory(err);
	*n = 0;
	/* strtok_r would skip empty fields. */
	for (const char *p = spec; rc == 0 && *p; p++)
		if (strchr(",+", p[0]) && (p == spec || p[1] == '\0' || strchr(",+", p[1])))
			rc = refuse_spec(spec, err);
	for (char *word = strtok_r(copy, ",+", &rest); rc == 0 && word; word = strtok_r(NULL, ",+", &rest))
		if (*n == ZCTL_PARTS_MAX || zword_parse_count(&share[(*n)++], "ranks", word, err) < 0)
			rc = refuse_spec(spec, err);
	free(copy);
	return rc;
}

int zinvent_shares(const char *spec, int wanted, const char *source, int share[ZCTL_PARTS_MAX], int *n,
	struct zerr *err)
{
	if (strpbrk(spec, ",+")) {
		int rc = parse_sizes(spec, share, n, err);
		long sum = 0;
		for (int i = 0; rc == 0 && i < *n; i++)
			sum += share[i];
		if (rc == 0 && sum > (long)ZCTL_RANKS_MAX)
			rc = refuse_spec(spec, err);
		if (rc == 0 && wanted && wanted != sum)
			rc = zerr_set(err, -EINVAL, "--clusters %.64s makes %ld ranks, but %s %d", spec, sum, source,
				wanted);
		return rc;
	}
	if (zword_parse_count(n, "clusters", spec, err) < 0 || *n > ZCTL_PARTS_MAX)
		return refuse_spec(spec, err);
	if (wanted == 0)
		wanted = *n;
	for (int i = 0; i < *n; i++)
		share[i] = wanted / *n + (i < wanted % *n);
	return 0;
}

static void print_hosts(FILE *out, int n, const int slots[], int zipper)
{
	for (int i = 0; i < n; i++) {
		fprintf(out, "#ZIP cluster c%d\nc%d:%d\n", i + 1, i + 1, slots[i]);
		if (i == 0 && n > 1 && zipper > 0)
			fprintf(out, "zipper:%d\n", zipper);
	}
	if (n > 1)
		fputs("#ZIP zipper zipper", out);
	for (int i = 0; n > 1 && i < n; i++)
		fprintf(out, " c%d=shm", i + 1);
}

int zinvent_hosts(struct zhostfile *hosts, int n, const int slots[], int zipper, struct zerr *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	if (!out)
		return no_memory(err);
	print_hosts(out, n, slots, zipper);
	if (fclose(out) != 0)
		return no_memory(err);
	FILE *in = fmemopen(text, len, "r");
	int rc = in ? zhostfile_parse(hosts, in, "--clusters", err) : no_memory(err);
	if (in)
		fclose(in);
	free(text);
	return rc;
}

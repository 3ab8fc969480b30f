/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of "zipbench cast", and the loop over its figures; see cast.h. */
#include "zipbench/cast/cast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/args.h"
#include "zipbench/base/bench.h"
#include "zipbench/cast/cast_figures.h"

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct cast_options, member)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	{.name = "figure", FIELD(TEXT, figures), HELP("LIST", "of 4,6,8,9,10,11,hybrids; default: all")},
	{.name = "transport",
		FIELD(TEXT, transport),
		HELP("NAME", "tcp (default), shm, or an address: DEVICE:PORT@HOST:0 (Verbs)")},
	{.name = "scale",
		FIELD(UNSIGNED, scale),
		.min = 1,
		.max = 4096,
		HELP("N", "sizes above 1 MiB are the paper's divided by it; default 16")},
	{.name = "nodes",
		FIELD(UNSIGNED, nodes),
		.min = 3,
		.max = CAST_MEMBERS_MAX,
		HELP("N", "largest group; default 16 (figure 8: 4 times that)")},
	{.name = "count",
		FIELD(UNSIGNED, count),
		.min = 1,
		.max = 1000000,
		HELP("N", "messages for each point; default 5")},
	{.name = "writes",
		FIELD(UNSIGNED, writes),
		.min = 1,
		.max = 1000000,
		HELP("N", "objects of figure 9; default 200")},
	{.name = "sites",
		FIELD(UNSIGNED, sites),
		.min = 2,
		.max = CAST_SITES_MAX,
		HELP("N", "of the figure hybrids, each with as many nodes; default 4")},
	{.name = "at",
		FIELD(TEXT, at),
		HELP("LIST", "the places of these sites: HOST[@FILE],..., each an address and the network\n"
			     "namespace that has it")},
	{.name = "zipper",
		FIELD(TEXT, zipper),
		HELP("LIST",
			"zipperd connects them: FABRIC=ADDRESS,..., where it listens for each; default: directly")},
	{.name = "csv", FIELD(TEXT, csv), HELP("FILE", "writes there; default: standard output")},
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipbench cast",
	.usage = "zipbench cast [OPTION ...]\nMulticasts of libzipcast on this machine.\n",
	.rows = rows,
};

static const struct cast_figure *find_figure(const char *name)
{
	const struct cast_figure *f = cast_figures;
	while (f->name && strcmp(f->name, name) != 0)
		f++;
	return f->name ? f : NULL;
}

/* Looks at all names first, then makes the figures. */
static int make_figures(struct cast_bench *b, struct zerr *err)
{
	int rc = 0;
	for (int made = 0; made < 2; made++) {
		if (made)
			cast_point_write_head(b->out);
		char list[256], *save = NULL;
		snprintf(list, sizeof(list), "%s", b->o->figures);
		for (char *word = strtok_r(list, ",", &save); word && rc == 0; word = strtok_r(NULL, ",", &save)) {
			const struct cast_figure *f = find_figure(word);
			if (!f)
				return zerr_set(err, -EINVAL, "--figure: there is no %.40s here", word);
			if (made)
				rc = f->make(b, err);
		}
	}
	return rc;
}

static int choose_places(struct cast_bench *b, struct zerr *err)
{
	if (!b->o->at)
		return b->o->zipper ? zerr_set(err, -EINVAL, "--zipper: only sites of --at are on networks") : 0;
	if (strcmp(b->o->transport, "tcp") != 0)
		return zerr_set(err, -EINVAL, "--at: only tcp has addresses for sites");
	int rc = cast_sites_open(b->place, &b->nplaces, b->o->at, err);
	return rc == 0 && b->o->zipper ? cast_sites_connect(b->place, b->nplaces, b->o->zipper, err) : rc;
}

static int run(struct cast_bench *b, struct zerr *err)
{
	const unsigned n = b->o->count > b->o->writes ? b->o->count : b->o->writes;
	if (strcmp(b->o->transport, "tcp") != 0 && strcmp(b->o->transport, "shm") != 0 && !strchr(b->o->transport, ':'))
		return zerr_set(err, -EINVAL, "--transport: tcp, shm or an address, not %.40s", b->o->transport);
	int rc = choose_places(b, err);
	if (rc < 0)
		return rc;
	b->data_bytes = cast_point_scaled(b, 256ull * MIB) + CAST_OVERLAP_MAX * CAST_DATA_SHIFT;
	b->data = malloc(b->data_bytes);
	b->sample = calloc(n, sizeof(double));
	if (!b->data || !b->sample)
		return zerr_set(err, -ENOMEM, "out of memory");
	uint64_t state = 1;
	for (uint64_t i = 0; i + 8 <= b->data_bytes; i += 8) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		memcpy(b->data + i, &state, 8);
	}
	b->out = b->o->csv ? fopen(b->o->csv, "we") : stdout;
	if (!b->out)
		return zerr_set(err, -errno, "%s: %s", b->o->csv, strerror(errno));
	rc = make_figures(b, err);
	bool bad = fflush(b->out) != 0 || ferror(b->out);
	if (b->o->csv)
		bad = fclose(b->out) != 0 || bad;
	return rc < 0 || !bad ? rc : zerr_set(err, -EIO, "the results cannot be written");
}

int cast_main(int argc, char **argv)
{
	struct cast_options o = {.figures = "4,6,8,9,10,11,hybrids",
		.transport = "tcp",
		.scale = 16,
		.nodes = 16,
		.count = 5,
		.writes = 200,
		.sites = 4};
	struct cast_bench b = {.o = &o};
	struct zerr err = {.text = ""};
	int status;
	if (!zargs_read(&args, &o, argc, argv, NULL, &status))
		return status;
	int rc = run(&b, &err);
	cast_sites_close(b.place, b.nplaces);
	free(b.data);
	free(b.sample);
	return rc < 0 ? bench_fail(argv[0], &err) : 0;
}

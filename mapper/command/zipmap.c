/* SPDX-License-Identifier: BSD-3-Clause */
/* zipmap: finds the subcommand and calls it. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "mapper/command/commands.h"

static const struct command {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *help;
} commands[] = {
	{"map", map_command, "decide which rank of a job runs where"},
	{"draw", map_draw_command, "draw a map: clusters, nodes, ranks, traffic"},
	{"model", model_command, "predict the traffic on every link of a network"},
	{"plot", plot_command, "draw what \"zipmap model --csv\" wrote"},
	{"show", show_command, "print or draw a recorded communication graph"},
	{"convert", convert_command, "communication graphs to and from METIS and Matrix Market"},
	{NULL, NULL, NULL},
};

static void usage(FILE *f)
{
	fprintf(f, "usage: zipmap COMMAND [OPTION ...]\n"
		   "       zipmap -f HOSTFILE -g GRAPH ... (which is zipmap map)\n");
	for (const struct command *c = commands; c->name; c++)
		fprintf(f, "  %-8s %s\n", c->name, c->help);
	fprintf(f, "zipmap COMMAND --help says more.\n");
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("zipmap (%s) %s\n", PACKAGE_NAME, PACKAGE_VERSION);
		return 0;
	}
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, argv[1]))
			return c->main(argc - 1, argv + 1);
	if (argv[1][0] == '-') /* an option without a command: zipmap map */
		return map_command(argc, argv);
	fprintf(stderr, "zipmap: \"%s\" is no command; zipmap --help lists them\n", argv[1]);
	return 2;
}

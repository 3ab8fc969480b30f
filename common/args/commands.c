/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a command and runs it; see commands.h. */
#include "common/args/commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/args.h"
#include "common/args/help.h"
#include "common/base/err.h"
#include "common/config/nearest.h"

#define NAME_WIDTH 10

static void print_help(const struct zcommands *c)
{
	printf("usage: %s\n", c->usage);
	for (const struct zcommand *one = c->list; one->name; one++)
		zargs_help_item(2, one->name, NAME_WIDTH, one->help);
	printf("\n%s COMMAND --help lists the options of a command; %s --version prints the version.\n", c->program,
		c->program);
}

/* The text of an option that holds without a command. False: it is another one. */
static bool answer(const struct zcommands *c, const char *word, int *status)
{
	struct zerr err;
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		print_help(c);
	else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		zargs_help_version(c->program);
	else
		return false;
	*status = EXIT_SUCCESS;
	if (zargs_help_finish(&err) < 0) {
		zerr_print("%s: %s\n", c->program, err.text);
		*status = EXIT_FAILURE;
	}
	return true;
}

static int refuse(const struct zcommands *c, const char *word)
{
	struct znearest near;
	if (word[0] == '-') {
		zerr_print("%s: %.64s: an option without a command; try %s --help\n", c->program, word, c->program);
		return ZARGS_EXIT_USAGE;
	}
	znearest_init(&near, word);
	for (const struct zcommand *one = c->list; one->name; one++)
		znearest_add(&near, one->name);
	if (near.best)
		zerr_print("%s: there is no command %.64s; did you mean %s?\n", c->program, word, near.best);
	else
		zerr_print("%s: there is no command %.64s; try %s --help\n", c->program, word, c->program);
	return ZARGS_EXIT_USAGE;
}

int zcommands_run(const struct zcommands *c, int argc, char **argv)
{
	int status;
	if (argc < 2) {
		zerr_print("%s: no command; try %s --help\n", c->program, c->program);
		return ZARGS_EXIT_USAGE;
	}
	if (answer(c, argv[1], &status))
		return status;
	for (const struct zcommand *one = c->list; one->name; one++)
		if (strcmp(one->name, argv[1]) == 0)
			return one->run(argc - 1, argv + 1);
	if (c->unnamed && argv[1][0] == '-')
		return c->unnamed->run(argc, argv);
	return refuse(c, argv[1]);
}

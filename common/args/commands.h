/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of a program, by table: "zipmap show ...". Start-up only; one thread. */
#ifndef ZIP_COMMON_ARGS_COMMANDS_H
#define ZIP_COMMON_ARGS_COMMANDS_H

struct zcommand {
	const char *name;		   /* the last row is followed by one with NULL */
	int (*run)(int argc, char **argv); /* argv[0] is the name. Returns the exit status */
	const char *help;
};

struct zcommands {
	const char *program;
	const char *usage; /* first lines of --help, what follows "usage: ", with all newlines */
	const struct zcommand *list;
	const struct zcommand *unnamed; /* takes a command line that begins with an option; NULL: none */
};

/* Finds the command that argv[1] names and runs it; answers --help and --version. Returns the exit status;
 * ZARGS_EXIT_USAGE after a line on stderr when there is no such command. */
int zcommands_run(const struct zcommands *, int argc, char **argv);

#endif

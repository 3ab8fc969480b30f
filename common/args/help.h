/* SPDX-License-Identifier: BSD-3-Clause */
/* The texts of --help and --version, from the table. Start-up only; to stdout. */
#ifndef ZIP_COMMON_ARGS_HELP_H
#define ZIP_COMMON_ARGS_HELP_H

#include "common/args/args.h"

/* Prints the usage and one line or more for each option, --version and --help included. */
void zargs_help_print(const struct zargs *);
/* Prints one line "  NAME  TEXT" of a list, with further lines of the text below the first, beyond a margin of `indent`
 * columns. The text begins `width` columns behind the name, or on a line of its own. */
void zargs_help_item(int indent, const char *name, int width, const char *text);
/* Prints the name of the program (the first word of it) and the version. */
void zargs_help_version(const char *program);
/* Ends the output of --help or --version. Returns 0, or a negative errno with the reason why it could not be written.
 */
int zargs_help_finish(struct zerr *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipstat drain", "resume", "end" and "set": asks a zipperd to do something. */
#ifndef ZIPSTAT_CONTROL_H
#define ZIPSTAT_CONTROL_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"

/* word[nwords]: the command, its arguments, and the address of a zipperd. */
struct control_options {
	const char *const *word;
	int nwords;
	const char *user; /* NULL: the user of this process */
};

/* Is it the name of such a command? */
bool control_is_command(const char *word);
/* NULL, or what is wrong with the words. */
const char *control_check(const struct control_options *);
/* Prints what zipperd has done. 0, or a negative errno with text. */
int control_run(const struct control_options *, FILE *, struct zerr *);

#endif

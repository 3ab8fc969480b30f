/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading rules into a tuning table (tuning.h): zipper.tuning(5) says how they are written. Start-up only; one thread.
 */
#ifndef ZIP_COMMON_CONFIG_TUNING_PARSE_H
#define ZIP_COMMON_CONFIG_TUNING_PARSE_H

#include <stdio.h>

#include "common/base/err.h"
#include "common/config/tuning.h"

/* Adds the rules of a file. Returns 0, or a negative errno with "path:line: reason". After an error the table can only
 * be freed. */
int ztuning_parse_file(struct ztuning *, const char *path, struct zerr *);
/* Adds the rules from an open stream. The path only stands in messages. Returns as ztuning_parse_file. */
int ztuning_parse(struct ztuning *, FILE *, const char *path, struct zerr *);
/* Adds rules from one text (an environment variable), separated by semicolons. Errors begin with where:number. */
int ztuning_parse_text(struct ztuning *, const char *text, const char *where, struct zerr *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The status of a zipperd as JSON. All numbers are counters or present values; the difference of two answers is a rate.
 */
#ifndef ZIPSTAT_STATUS_JSON_H
#define ZIPSTAT_STATUS_JSON_H

#include <stdio.h>

#include "zipstat/snapshot.h"

/* One object, without a line end. address: of the zipperd. */
void status_json_print(const struct snapshot *, const char *address, FILE *);
/* The same of a zipperd that does not answer: its address and the reason. */
void status_json_print_error(const char *address, const char *why, FILE *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The status of a zipperd as a table for people. */
#ifndef ZIPSTAT_STATUS_TABLE_H
#define ZIPSTAT_STATUS_TABLE_H

#include <stdio.h>

#include "zipstat/snapshot.h"

/* address: of the zipperd. */
void status_table_print(const struct snapshot *, const char *address, FILE *);

#endif

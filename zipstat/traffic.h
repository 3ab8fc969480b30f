/* SPDX-License-Identifier: BSD-3-Clause */
/* The traffic over a running zipperd, of the jobs of one user, as a plain table. Every release of zipperd tells it. */
#ifndef ZIPSTAT_TRAFFIC_H
#define ZIPSTAT_TRAFFIC_H

#include <stdbool.h>
#include <stdio.h>

#include "zipstat/ask.h"

/* Prints the table. 0, or a negative errno with text. */
int traffic_print(struct zsession *, bool csv, FILE *, struct zerr *);

#endif

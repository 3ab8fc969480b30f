/* SPDX-License-Identifier: BSD-3-Clause */
/* The status of zippers in Prometheus' text format (version 0.0.4). */
#ifndef ZIPSTAT_METRICS_H
#define ZIPSTAT_METRICS_H

#include <stdio.h>

#include "zipstat/zippers.h"

void metrics_print(const struct zippers *, FILE *);

#endif

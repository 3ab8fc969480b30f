/* SPDX-License-Identifier: BSD-3-Clause */
/* MMPI's forwarder: one process between the two groups, which passes on all that crosses. */
#ifndef ZIPBENCH_MMPI_FORWARDER_H
#define ZIPBENCH_MMPI_FORWARDER_H

#include "zipbench/mmpi/protocol.h"

/* Serves until all processes have said REQUEST_END. */
void forwarder_run(const struct mmpi *);

#endif

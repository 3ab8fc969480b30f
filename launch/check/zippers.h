/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the zippers of a job, from this machine, whether they would carry it. Start-up only. */
#ifndef ZIP_LAUNCH_ZIPPERS_H
#define ZIP_LAUNCH_ZIPPERS_H

#include <stdbool.h>

#include "common/session/session.h"
#include "common/doctor/report.h"
#include "launch/start/railset.h"

/* Prints a line for each zipper that the job would use, and for each that it would try before them and leave out. With
 * --rails 1 one zipper that answers is enough: those behind it are not asked. A zipper that is away or drained is left
 * out of the rails, as it would be left out of a job. Returns whether the job can be registered. */
bool zzippers_check(struct zreport *, struct zrailset *, const struct zsession_params *);

#endif

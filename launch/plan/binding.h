/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of -bind-to and -map-by. mpiexec answers a wrong one with a page of its own source lines. */
#ifndef ZIP_LAUNCH_BINDING_H
#define ZIP_LAUNCH_BINDING_H

#include "common/base/err.h"

/* Is this a value that mpiexec knows? 0, or -EINVAL with text, which names the option. */
int zbinding_check(const char *option, const char *value, struct zerr *);
/* Returns the value of --cpu-bind= of srun for this value of -bind-to. NULL: srun has none. */
const char *zbinding_srun(const char *value);

#endif

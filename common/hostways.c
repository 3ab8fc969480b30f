/* SPDX-License-Identifier: BSD-3-Clause */
/* Which zippers carry a job, see hostways.h. */
#include "hostways.h"

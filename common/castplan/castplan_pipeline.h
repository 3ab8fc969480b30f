/* SPDX-License-Identifier: BSD-3-Clause */
/* The binomial pipeline (castplan.h). */
#ifndef ZIP_COMMON_CASTPLAN_CASTPLAN_PIPELINE_H
#define ZIP_COMMON_CASTPLAN_CASTPLAN_PIPELINE_H

#include "common/castplan/castplan_base.h"

extern const struct zcastplan_ops zcastplan_pipeline;

#endif

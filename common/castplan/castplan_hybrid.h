/* SPDX-License-Identifier: BSD-3-Clause */
/* Hybrid plans: a chain or pipeline between the leaders of sites, and a pipeline inside each site (castplan.h). */
#ifndef ZIP_COMMON_CASTPLAN_CASTPLAN_HYBRID_H
#define ZIP_COMMON_CASTPLAN_CASTPLAN_HYBRID_H

#include "common/castplan/castplan_base.h"

extern const struct zcastplan_ops zcastplan_hybrid_chain, zcastplan_hybrid_pipeline;

#endif

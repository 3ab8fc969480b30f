/* SPDX-License-Identifier: BSD-3-Clause */
/* The three simple plans: sequential, tree and chain (castplan.h). */
#ifndef ZIP_COMMON_CASTPLAN_CASTPLAN_SIMPLE_H
#define ZIP_COMMON_CASTPLAN_CASTPLAN_SIMPLE_H

#include "common/castplan/castplan_base.h"

extern const struct zcastplan_ops zcastplan_simple_sequential, zcastplan_simple_tree, zcastplan_simple_chain;

#endif

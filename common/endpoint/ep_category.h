/* SPDX-License-Identifier: BSD-3-Clause */
/* The endpoint categories: their names, their plans (endpoint.h), and the check whether a plan can be built. */
#ifndef ZIP_COMMON_ENDPOINT_EP_CATEGORY_H
#define ZIP_COMMON_ENDPOINT_EP_CATEGORY_H

#include "common/endpoint/endpoint.h"

/* The category with this name ("2xdynamic", ...), or -EINVAL. */
int zep_category_parse(const char *text);
extern const char *const zep_category_names[ZEP_CATEGORIES + 1]; /* by enum zep_category, NULL-terminated */

/* The plan of a category, with defaults for everything else: one path and one region a thread. */
struct zep_plan zep_category_plan(enum zep_category, unsigned threads);
/* -EINVAL with text where the plan cannot be built: a child shared more widely than its parent, and so on. */
int zep_category_check(const struct zep_plan *, struct zerr *);

#endif

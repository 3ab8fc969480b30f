/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns with random partners (Table I): unstructured mesh (umesh), whose partners are near by rank number, and
 * uniform spread, whose partners are anywhere. Each rank draws the number of its partners, then the partners
 * themselves, all different, and sends a message to each. Being somebody's partner does not make that rank one's own
 * partner.
 */
#ifndef ZIP_MAPPER_PATTERN_RANDOM_H
#define ZIP_MAPPER_PATTERN_RANDOM_H

#include "mapper/traffic/pattern.h"

extern const struct pattern_ops pattern_random_umesh, pattern_random_spread;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A group of five members at two sites, for units of its end and of its barriers. One group at a time. */
#ifndef ZIP_TEST_CAST_FIVE_H
#define ZIP_TEST_CAST_FIVE_H

#include <string.h>

#include "test/unit/zipcast/fixture.h"
#include "zipcast/group.h"

#define N 5

static const uint32_t all[N] = {0, 1, 2, 3, 4}, sites[N] = {0, 1, 1, 0, 1};

static struct cast_member m[N];

static void open_group(struct cast *c, const char *transport, const char *algorithm)
{
	memset(m, 0, sizeof(m));
	cast_open(c, transport, N, ZIPCAST_HYBRID);
	cast_group(c, m, &(struct zipcast_group_config){1, N, all, algorithm, 65536, sites});
}

static void close_group(struct cast *c)
{
	cast_destroy(m, N);
	cast_close(c);
}

static void destroy_member(uint32_t i)
{
	zipcast_group_destroy(m[i].group);
	m[i].group = NULL;
}

#endif

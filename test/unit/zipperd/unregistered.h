/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations for the made-up links of tests: memory need not be registered. */
#ifndef ZIP_TEST_UNIT_UNREGISTERED_H
#define ZIP_TEST_UNIT_UNREGISTERED_H

#include "common/transport/base/transport.h"

static inline const void *unregistered_domain(const struct zlink *z, enum zlink_half half)
{
	(void)z;
	(void)half;
	return NULL;
}

static inline int unregistered_reg(struct zlink *z, enum zlink_half half, void *base, size_t len, struct zregion **out,
	struct zerr *err)
{
	(void)z;
	(void)half;
	(void)base;
	(void)len;
	(void)err;
	*out = NULL;
	return 0;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which transport implements which kind of address. Any thread. */
#include "transport.h"

#include <errno.h>

const struct ztransport *ztransport_find(enum zaddr_kind kind, struct zerr *err)
{
	switch (kind) {
	case ZADDR_TCP:
		return &ztransport_tcp;
	case ZADDR_SHM:
		return &ztransport_shm;
	case ZADDR_VERBS:
		zerr_set(err, -ENOTSUP, "the verbs transport is not part of this build");
		return NULL;
	case ZADDR_NONE:
		break;
	}
	zerr_set(err, -EINVAL, "no transport address given");
	return NULL;
}

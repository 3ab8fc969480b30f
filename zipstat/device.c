/* SPDX-License-Identifier: BSD-3-Clause */
/* See device.h. */
#include "zipstat/device.h"

#include "common/endpoint/ep_ibv.h"
#include "common/endpoint/ep_set.h"

int device_account(struct zaccount *a, const struct zep_plan *plan, const char *device, const char *who,
	struct zerr *err)
{
	struct zep_ibv ibv;
	struct zep_set set;
	zep_ibv_init(&ibv, device, IBV_ACCESS_LOCAL_WRITE);
	zaccount_init(a);
	int rc = zep_set_build(&set, plan, &zep_ibv_ops, &ibv, who, err);
	if (rc < 0)
		return rc;
	rc = zaccount_add(a, &set);
	zep_set_destroy(&set);
	return rc < 0 ? zerr_set(err, rc, "out of memory") : 0;
}

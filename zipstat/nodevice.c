/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of device.c if zipstat is built without libibverbs. */
#include <errno.h>

#include "zipstat/device.h"

int device_account(struct zaccount *a, const struct zep_plan *plan, const char *device, const char *who,
	struct zerr *err)
{
	(void)a, (void)plan, (void)who;
	return zerr_set(err, -EOPNOTSUPP, "%s: this zipstat was built without libibverbs", device);
}

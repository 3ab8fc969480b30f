/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints of links, see vendpoint.h. */
#include "common/transport/verbs/device/vendpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/transport/verbs/device/vshare.h"

int vendpoint_open(struct zendpoint **out, struct zerr *err)
{
	struct zendpoint *e = calloc(1, sizeof(*e));
	if (!e)
		return zerr_set(err, -ENOMEM, "out of memory");
	e->pid = getpid();
	*out = e;
	return 0;
}

bool vendpoint_has_regions(const struct zendpoint *e)
{
	for (const struct vshare *s = e->shares; s; s = s->next)
		if (atomic_load(&s->regions) > 0)
			return true;
	return false;
}

void vendpoint_close(struct zendpoint *e)
{
	while (e && e->shares) {
		struct vshare *s = e->shares;
		e->shares = s->next;
		vshare_destroy(s);
	}
	free(e);
}

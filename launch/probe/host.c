/* SPDX-License-Identifier: BSD-3-Clause */
/* Says what this host gives a rank, see host.h. */
#include "launch/probe/host.h"

#include <inttypes.h>
#include <stddef.h>
#include <time.h>

#include "common/doctor/limits.h"
#include "common/doctor/rdma.h"
#include "launch/probe/say.h"

static void say_port(void *ctx, const struct zrdma_port *p)
{
	(void)ctx;
	zsay("port", "%s:%d %d %d %d %s|%s|%s", p->device, p->port, p->active, p->ethernet, p->mtu, p->keys, p->state,
		p->rate);
}

void zhost_say(void)
{
	struct timespec now;
	struct zlimits l;
	clock_gettime(CLOCK_REALTIME, &now);
	zsay("clock", "%" PRId64, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
	zlimits_own(&l);
	zsay("files", "%" PRIu64 " %" PRIu64, l.files, l.files_hard);
	zsay("locked", "%" PRIu64 " %" PRIu64, l.locked, l.locked_hard);
	zrdma_visit(ZRDMA_SYSFS, say_port, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The watchdog of systemd, see watchdog.h. */
#include "zipperd/control/watchdog.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/base/log.h"
#include "zipperd/conn/crew.h"
#include "zipperd/control/notify.h"

#define ASKS 3 /* questions in the time that systemd waits */

void watchdog_init(struct daemon *d)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	if (!usec || (pid && strtol(pid, NULL, 10) != (long)getpid()))
		return;
	const long long ms = strtoll(usec, NULL, 10) / 1000 / ASKS;
	d->watchdog_ms = ms > 0 ? ms : 0;
	d->watchdog_due_ms = d->now_ms;
}

static void tell(struct daemon *d)
{
	notify_state("WATCHDOG=1");
	d->watchdog_warned = false;
}

void watchdog_pong(struct daemon *d)
{
	if (--d->nsilent == 0)
		tell(d);
}

void watchdog_turn(struct daemon *d)
{
	if (d->watchdog_ms == 0 || d->now_ms < d->watchdog_due_ms)
		return;
	d->watchdog_due_ms = d->now_ms + d->watchdog_ms;
	if (d->nsilent > 0) {
		if (!d->watchdog_warned)
			zlog(ZLOG_WARN,
				"%d workers have not answered for %lld ms: systemd will end zipperd if this goes on",
				d->nsilent, (long long)d->watchdog_ms);
		d->watchdog_warned = true;
		return;
	}
	d->nsilent = crew_ping(d);
	if (d->nsilent == 0)
		tell(d);
}

int watchdog_timeout(const struct daemon *d)
{
	if (d->watchdog_ms == 0)
		return -1;
	const int64_t left = d->watchdog_due_ms - d->now_ms;
	return left > 0 ? (int)left : 0;
}

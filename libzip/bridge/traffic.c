/* SPDX-License-Identifier: BSD-3-Clause */
/* The reports to zipperd about traffic, see traffic.h. */
#include "libzip/bridge/traffic.h"

#include <time.h>

#include "common/session/session.h"
#include "libzip/stream/channel.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

void (*ztraffic_native)(uint64_t *msgs, uint64_t *bytes);

/* Tells the difference to the last time; zipperd adds up. */
static void tell_traffic(struct zctl_to_part *parts)
{
	static struct zctl_to_part told[ZCTL_PARTS_MAX];
	struct zctl_to_part news[ZCTL_PARTS_MAX];
	struct zctl_traffic traffic = {.parts = news};
	const int rail = zrails_first();

	if (rail < 0) /* later */
		return;

	for (int p = 0; p < zworld.nparts; p++) {
		if (parts[p].msgs == told[p].msgs && parts[p].bytes == told[p].bytes)
			continue;
		news[traffic.nparts++] = (struct zctl_to_part){(uint32_t)p, parts[p].msgs - told[p].msgs,
			parts[p].bytes - told[p].bytes};
		told[p] = parts[p];
	}
	if (traffic.nparts > 0)
		zsession_traffic(zrails.rail[rail].session, &traffic);
}

/* Only the two ends of a direct link know what went over it. Not inline: the arrays are large, and the caller rarely
 * comes here. */
static __attribute__((noinline)) void tell_direct(void)
{
	struct zctl_to_part parts[ZCTL_PARTS_MAX] = {{0}};

	zchannel_add_direct(parts);
	tell_traffic(parts);
}

void ztraffic_tell_direct(void)
{
	static time_t last;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec == last)
		return;
	last = now.tv_sec;
	tell_direct();
}

void ztraffic_tell_all(void)
{
	struct zctl_to_part parts[ZCTL_PARTS_MAX] = {{0}};

	zchannel_add_direct(parts);
	if (ztraffic_native)
		ztraffic_native(&parts[zworld.part].msgs, &parts[zworld.part].bytes);
	tell_traffic(parts);
}

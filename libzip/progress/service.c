/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridge and its progress from start to end, see service.h. */
#include "libzip/progress/service.h"

#include "libzip/bridge/direct.h"
#include "libzip/bridge/failover.h"
#include "libzip/bridge/multicast.h"
#include "libzip/bridge/op_start.h"
#include "libzip/bridge/queue.h"
#include "libzip/bridge/strands.h"
#include "libzip/bridge/traffic.h"
#include "libzip/progress/ended.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/pool.h"
#include "libzip/shim/station.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/fetch.h"
#include "libzip/stream/op.h"
#include "libzip/stream/outgoing.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/transfer.h"
#include "libzip/stream/transfer_recv.h"

int zservice_init(const struct zservice_params *p)
{
	bool failed = false;

	zstations_init();
	zstation_for_each(0) {
		struct zstation *s = zstations_here();
		failed |= zchannel_init(s, p->job) != 0 || zremote_init(s) != 0 || zqueue_init(s) != 0;
		zprogress_init(s, p->oversubscribed, p->wait);
	}
	MPI_Request sent; /* once, as stations share it */
	if (failed || zreq_publish(&zop_start_sent, &sent) != MPI_SUCCESS)
		return MPI_ERR_NO_MEM;
	ztransfer_init(p->one_sided);
	zdirect_init();
	zfailover_init(!p->launched);
	zended_init(!p->launched);
	return MPI_SUCCESS;
}

static bool is_drained(const struct zstation *s)
{
	return zoutgoing_drained(s) && zchannel_idle(s) && !ztransfer_must_finish(s) && !zstrands_must_finish(s);
}

static bool drained(void *ctx)
{
	bool all = true;

	(void)ctx;
	zstation_for_each(0)
		all = all && is_drained(zstations_here());
	return all;
}

void zservice_drain(void)
{
	zprogress_wait(drained, NULL);
	/* Messages that this rank has taken must be acknowledged before it leaves or stops polling. */
	zstation_for_each(0)
		zoutgoing_ack(zstations_here(), true);
	zprogress_wait(drained, NULL);
}

static void conceal(struct zop *op, void *ctx)
{
	(void)ctx;
	ztransfer_conceal(op);
}

/* An erroneous program leaves messages that nobody has received: their memory must not be reached any more when links
 * close. */
static void conceal_rest(struct zstation *s)
{
	ztransfer_each(s, conceal, NULL);
	if (s->number == 0)
		zmulticast_conceal();
}

void zservice_abandon(void)
{
	zfailover_say();
	ztraffic_tell_all();
	zstation_for_each(0)
		zchannel_say_bye(zstations_here());
	zdirect_fini();
	zstation_for_each(0) {
		struct zstation *s = zstations_here();
		conceal_rest(s);
		zchannel_fini(s, zfetch_drop);
		zremote_fini(s);
		zoutgoing_fini(s);
		zqueue_fini(s);
		ztransfer_fini(s);
		ztransfer_recv_fini(s);
		zpool_fini();
	}
}

void zservice_fini(void)
{
	zfailover_leave();
	zservice_drain();
	zservice_abandon();
}

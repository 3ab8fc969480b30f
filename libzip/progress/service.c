/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine from its start to its end, see service.h. */
#include "libzip/progress/service.h"

#include "libzip/bridge/direct.h"
#include "libzip/bridge/failover.h"
#include "libzip/bridge/multicast.h"
#include "libzip/bridge/op_start.h"
#include "libzip/bridge/queue.h"
#include "libzip/bridge/strands.h"
#include "libzip/bridge/traffic.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/pool.h"
#include "libzip/shim/station.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/fetch.h"
#include "libzip/stream/op.h"
#include "libzip/stream/outgoing.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/transfer.h"
#include "libzip/stream/transfer_recv.h"

int zservice_init(const struct zservice_params *p)
{
	bool failed = false;
	zstation_for_each(0) {
		failed |= zchannel_init(p->job) != 0 || zremote_init() != 0 || zqueue_init() != 0;
		zprogress_init(p->oversubscribed, p->wait);
	}
	MPI_Request sent; /* once, as stations share it */
	if (failed || zreq_publish(&zop_start_sent, &sent) != MPI_SUCCESS)
		return MPI_ERR_NO_MEM;
	ztransfer_init(p->one_sided);
	zdirect_init();
	zfailover_init(!p->launched);
	return MPI_SUCCESS;
}

static bool drained(void *ctx)
{
	bool all = true;

	(void)ctx;
	zstation_for_each(0)
		all = all && zoutgoing_drained() && zchannel_idle() && !ztransfer_must_finish() &&
		      !zstrands_must_finish();
	return all;
}

void zservice_drain(void)
{
	zprogress_wait(drained, NULL);
	/* What we have taken must be acknowledged before we leave or stop polling. */
	zstation_for_each(0)
		zoutgoing_ack(true);
	zprogress_wait(drained, NULL);
}

static bool none_buffered(void *ctx)
{
	unsigned n = 0;

	(void)ctx;
	for (int e = 0; e < zstation_n; e++)
		n += zop_buffered_of[e];
	return n == 0;
}

void zservice_wait_buffered(void)
{
	zprogress_wait(none_buffered, NULL);
}

static void conceal(struct zop *op, void *ctx)
{
	(void)ctx;
	ztransfer_conceal(op);
}

/* Messages that nobody has received, of an erroneous program: their memory is not to be reached when links close. */
static void conceal_rest(void)
{
	ztransfer_each(conceal, NULL);
	if (zstation_here == 0)
		zmulticast_conceal();
}

void zservice_fini(void)
{
	zfailover_leave();
	zservice_drain();
	zfailover_say();
	ztraffic_tell_all();
	zstation_for_each(0)
		zchannel_say_bye();
	zdirect_fini();
	zstation_for_each(0) {
		conceal_rest();
		zchannel_fini(zfetch_drop);
		zremote_fini();
		zoutgoing_fini();
		zqueue_fini();
		ztransfer_fini();
		ztransfer_recv_fini();
		zpool_fini();
	}
}

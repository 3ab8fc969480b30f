/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of the control thread, see command.h. */
#include "zipperd/worker/command.h"

#include <errno.h>

#include "zipperd/lane/relay.h"
#include "zipperd/lane/stream.h"
#include "zipperd/lane/worker.h"
#include "zipperd/worker/streams.h"

/* The answers to it may be here soon. */
static void begin_stream(struct worker *w, struct source *trunk, uint32_t id)
{
	if (trunk->state == SOURCE_GONE)
		return;
	if (stream_begin(trunk->trunk, id, STREAM_WAITS) != 0)
		half_lose_source(w, trunk, -ENOMEM);
	w->freed = true; /* the trunk may wait for it */
}

/* Also of a source that is lost, and has no streams any more. */
static void end_stream(struct worker *w, const struct source *trunk, uint32_t id)
{
	struct stream_in *in = stream_find(trunk->trunk, id);
	if (in && (in->state == STREAM_TALKS || in->state == STREAM_WAITS))
		stream_end(w, in);
	w->freed = true; /* the trunk may wait for its source */
}

static void run_command(struct worker *w, const struct command *c)
{
	switch (c->kind) {
	case CMD_ADD_LANE:
		if (c->lane->circuit)
			break; /* worker_lane is not asked for it, and there may be thousands */
		c->lane->next = w->lanes;
		w->lanes = c->lane;
		break;
	case CMD_ADD_SOURCE:
		half_add_source(w, c->source);
		break;
	case CMD_ADD_TX:
		half_add_tx(w, c->dest, c->tx);
		break;
	case CMD_DROP_SOURCE:
		half_drop_source(w, c->source);
		break;
	case CMD_DROP_TX:
		half_drop_tx(w, c->tx);
		break;
	case CMD_FINISH_TX:
		half_finish_tx(w, c->tx);
		break;
	case CMD_DEST_BYE:
		dest_bye(w, lane_dest(c->lane, c->dest));
		break;
	case CMD_ADD_INBOUND:
		c->relay->inbound_next = w->inbound;
		w->inbound = c->relay;
		break;
	case CMD_ADD_RELAY:
		c->lane->relay[c->part] = c->relay;
		w->freed = true; /* a source may wait for it */
		break;
	case CMD_TRUNK_SEND:
		stream_send(c->tx->trunk, c->parcel);
		break;
	case CMD_TRUNK_LOST:
		half_lose_source(w, c->source, -EPIPE);
		break;
	case CMD_STREAM_NEW:
		begin_stream(w, c->source, c->dest);
		break;
	case CMD_STREAM_SAY:
		streams_say(c->source, c->dest, c->parcel);
		break;
	case CMD_STREAM_END:
		end_stream(w, c->source, c->dest);
		break;
	case CMD_DROP_LANE:
		half_drop_lane(w, c->lane);
		break;
	case CMD_PING:
		ports_emit(w, &(struct event){.kind = EVENT_PONG});
		break;
	case CMD_STOP:
		w->stop = true;
		break;
	}
}

bool command_run_all(struct worker *w)
{
	struct command *c;
	bool any = false;
	while ((c = command_ring_peek(&w->ports->commands))) {
		run_command(w, c);
		command_ring_drop(&w->ports->commands);
		any = true;
	}
	return any;
}

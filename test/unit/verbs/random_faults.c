/* SPDX-License-Identifier: BSD-3-Clause */
/* The failures in unit/verbs/random, and when they happen. */
#include <errno.h>

#include "test/fakeverbs/objects.h"
#include "test/unit/verbs/random_parts.h"

/* Most change nothing for links that are there. */
static const enum ibv_event_type harmless[] = {IBV_EVENT_COMM_EST, IBV_EVENT_SQ_DRAINED, IBV_EVENT_PATH_MIG,
	IBV_EVENT_PATH_MIG_ERR, IBV_EVENT_SM_CHANGE, IBV_EVENT_CLIENT_REREGISTER, IBV_EVENT_GID_CHANGE,
	IBV_EVENT_PKEY_CHANGE, IBV_EVENT_LID_CHANGE, IBV_EVENT_SRQ_LIMIT_REACHED};

static struct fake_qp *some_qp(void)
{
	struct fake_fabric *f = fake_fabric();
	for (int tries = 0; tries < 50 && f->nqps; tries++) {
		struct fake_qp *q = &f->qp[draw(f->nqps)];
		if (q->used && !q->gone && q->state == IBV_QPS_RTS)
			return q;
	}
	return NULL;
}

static void fail_calls(void)
{
	/* refused: makes links fail, or lack something; completions: fail */
	static const enum fake_point refused[] = {FAKE_POST, FAKE_POST_RECV, FAKE_POLL, FAKE_NOTIFY, FAKE_OPEN, FAKE_PD,
		FAKE_TD, FAKE_REG, FAKE_CHANNEL, FAKE_CQ, FAKE_SRQ, FAKE_QP, FAKE_MODIFY, FAKE_MW},
				     completions[] = {FAKE_SEND, FAKE_WRITE, FAKE_READ, FAKE_LOCAL, FAKE_RECV};
	const bool calls = draw(2);
	const enum fake_point p = calls ? refused[draw(sizeof(refused) / sizeof(refused[0]))]
					: completions[draw(sizeof(completions) / sizeof(completions[0]))];
	const int value = calls ? ENOMEM : IBV_WC_LOC_LEN_ERR + (int)draw(IBV_WC_GENERAL_ERR - IBV_WC_LOC_LEN_ERR + 1);
	const uint32_t times = p == FAKE_REG ? 1 + draw(20) : 1 + draw(2);
	trace("fault: %s, %d", fake_point_names[p], value);
	world.gone |= p == FAKE_POST_RECV || p == FAKE_POLL; /* completions that a queue had shown and not handed out */
	fake_fabric()->fault[p] = (struct fake_fault){.value = value, .after = draw(60), .times = times};
}

static void fail_queue(void)
{
	static const enum ibv_event_type types[] = {IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR,
		IBV_EVENT_CQ_ERR, IBV_EVENT_SRQ_ERR};
	struct fake_qp *q = some_qp();
	const enum ibv_event_type type = types[draw(5)];
	if (!q || (type == IBV_EVENT_SRQ_ERR && q->own_rq))
		return;
	trace("queue pair %u: event %d", q->number, (int)type);
	world.gone |= type == IBV_EVENT_SRQ_ERR;
	if (draw(2) || type == IBV_EVENT_QP_FATAL)
		fake_qp_error(fake_fabric(), world.sock, q);
	fake_qp_event(fake_fabric(), world.sock, q, type);
}

static void change(void)
{
	struct fake_fabric *f = fake_fabric();
	const unsigned d = draw((uint32_t)world.devices);
	switch (draw(9)) {
	case 0:
		trace("port %u down", d);
		fake_port_set(f, world.sock, d, 1, false);
		break;
	case 1:
		trace("port %u up", d);
		fake_port_set(f, world.sock, d, 1, true);
		break;
	case 2:
		trace("device %u gone", d);
		world.gone = true;
		fake_device_gone(f, world.sock, d, 0);
		break;
	case 3:
		trace("silence");
		fake_silence(f, world.sock, f->silent ? 0 : -1);
		break;
	case 4:
		trace("reads and writes stay under way");
		fake_keep(f, world.sock, f->kept ? 0 : -1);
		break;
	case 5:
		trace("port %u has another address", d);
		fake_port_renumber(f, world.sock, d, 1);
		break;
	case 6:
		fail_queue();
		break;
	default:
		fail_calls();
	}
}

void fault_step(void)
{
	fake_lock(fake_fabric());
	if (draw(3) == 0) {
		fake_event(fake_fabric(), world.sock, draw((uint32_t)world.devices), 0,
			harmless[draw(sizeof(harmless) / sizeof(harmless[0]))], 1);
	} else {
		world.hurt = true;
		change();
	}
	fake_unlock(fake_fabric());
}

void faults_end(void)
{
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	memset(f->fault, 0, sizeof(f->fault));
	fake_silence(f, world.sock, 0);
	fake_keep(f, world.sock, 0);
	for (unsigned d = 0; d < (unsigned)world.devices; d++)
		if (f->device[d].port[0].state != IBV_PORT_ACTIVE)
			fake_port_set(f, world.sock, d, 1, true);
	fake_unlock(f);
}

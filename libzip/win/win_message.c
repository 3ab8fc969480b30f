/* SPDX-License-Identifier: BSD-3-Clause */
/* Saying and hearing what members of windows say to each other. See win_message.h. */
#include "libzip/win/win_message.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/bridge/arrival.h"
#include "libzip/bridge/bridge.h"
#include "libzip/comm/commnew.h"
#include "libzip/world/error.h"
#include "common/wire/little.h"
#include "libzip/bridge/op.h"
#include "libzip/shim/pool.h"
#include "libzip/shim/shim.h"
#include "libzip/type/typecode.h"
#include "libzip/win/win_parts.h"
#include "libzip/world/world.h"

#define CARRIER_ID ((uint64_t)UINT32_MAX << 32) /* no rank makes it */
#define MESSAGES_A_TURN 64			/* then others have their turn */
#define INSIDE_BYTES 2048u

enum { /* offsets of the fields */
	AT_KIND = 0,
	AT_FLAGS = 1,
	AT_OP = 4,
	AT_NUMBER = 8,
	AT_CODE_LEN = 12,
	AT_WINDOW = 16,
	AT_DISP = 24,
	AT_COUNT = 32,
	AT_BYTES = 40,
	AT_RANK = 48,
	HEADER = 56,
};

/* What has been said natively, until native MPI has it. */
struct said {
	struct said *next;
	MPI_Request request;
	uint8_t bytes[HEADER];
};
static struct said *said;

/* What has not come at once, as it is longer than eager messages may be (zipperd.conf(5)): those behind it wait. */
static struct {
	struct zreq *coming; /* NULL: nothing is */
	uint8_t *bytes;
	uint64_t len;
	int vrank;
} late;

struct zcomm *zwin_carrier(void)
{
	static struct zcomm *carrier;

	if (carrier)
		return carrier;
	carrier = zcomm_create_whole(MPI_COMM_NULL, zworld.base, CARRIER_ID);
	if (carrier) { /* nobody finds it by its handle, and it stays until the end */
		zcomm_ref(carrier);
		zcomm_drop(carrier);
	}
	return carrier;
}

uint64_t zwin_inside_bytes(void)
{
	const uint64_t room = zworld.eager_bytes > HEADER ? (zworld.eager_bytes - HEADER) / 2 : 0;

	return room < INSIDE_BYTES ? room : INSIDE_BYTES;
}

uint32_t zwin_number(void)
{
	static uint32_t numbers;

	return numbers++ & INT32_MAX; /* more than any rank has under way */
}

/* --- saying --- */

static void encode(uint8_t out[HEADER], const struct zwin_message *m)
{
	memset(out, 0, HEADER);
	out[AT_KIND] = (uint8_t)m->kind;
	out[AT_FLAGS] = m->flags;
	put32(out + AT_OP, m->op);
	put32(out + AT_NUMBER, m->number);
	put32(out + AT_CODE_LEN, m->code_len);
	put64(out + AT_WINDOW, m->window);
	put64(out + AT_DISP, (uint64_t)m->disp);
	put64(out + AT_COUNT, m->count);
	put64(out + AT_BYTES, m->bytes);
	put32(out + AT_RANK, m->rank);
}

static int say_natively(int vrank, const struct zwin_message *m)
{
	int tag, flag = 0;
	MPI_Comm comm = zcommnew_internal_win(&tag);
	struct said *s = zpool_get(sizeof(*s));

	if (!s)
		return MPI_ERR_NO_MEM;
	encode(s->bytes, m);
	int rc = zn.Isend(s->bytes, HEADER, MPI_BYTE, (int)zworld.place[vrank].lrank, tag, comm, &s->request);
	if (rc == MPI_SUCCESS)
		rc = zn.Test(&s->request, &flag, MPI_STATUS_IGNORE);
	if (rc != MPI_SUCCESS || flag) {
		zpool_put(s);
		return zerror_class(rc);
	}
	s->next = said;
	said = s;
	return MPI_SUCCESS;
}

static int say_over_bridge(int vrank, const struct zwin_message *m, struct zreq **sent)
{
	const uint64_t data = m->flags & ZWIN_F_INSIDE ? m->bytes : 0, code = m->flags & ZWIN_F_APART ? 0 : m->code_len;
	const uint64_t len = HEADER + code + data;
	struct zcomm *carrier = zwin_carrier();
	uint8_t *bytes = zpool_get(len);
	struct zreq *unasked;

	if (!carrier || !bytes) {
		zpool_put(bytes);
		return MPI_ERR_NO_MEM;
	}
	encode(bytes, m);
	if (code > 0)
		memcpy(bytes + HEADER, m->code, code);
	if (data > 0)
		memcpy(bytes + HEADER + code, m->data, data);
	int rc = zbridge_isend(carrier, ZCOMM_PT2PT, bytes, (MPI_Count)len, MPI_BYTE, vrank, 0,
		sent ? ZSEND_COPIED : ZSEND_DETACHED, sent ? sent : &unasked);
	zpool_put(bytes);
	return rc;
}

static void take(struct zwin *, struct zwin_peer *, const struct zwin_message *);

int zwin_say(struct zwin *w, struct zwin_peer *p, const struct zwin_message *message, struct zreq **sent)
{
	const int vrank = w->comm->vrank[p->rank];
	struct zwin_message m = *message;

	m.window = w->id;
	m.rank = (uint32_t)w->comm->rank;
	if (p->rank == w->comm->rank) {
		take(w, p, &m);
		return MPI_SUCCESS;
	}
	p->said = p->said || m.kind != ZWIN_FLUSHED;
	return zworld_is_local(vrank) ? say_natively(vrank, &m) : say_over_bridge(vrank, &m, sent);
}

int zwin_tell(struct zwin *w, struct zwin_peer *p, enum zwin_kind kind, uint32_t op, uint8_t flags)
{
	const struct zwin_message m = {.kind = kind, .flags = flags, .op = op};

	return zwin_say(w, p, &m, NULL);
}

static bool look_at_said(void)
{
	bool did = false;

	for (struct said **at = &said; *at;) {
		struct said *s = *at;
		int flag = 0;
		if (zn.Test(&s->request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		zpool_put(s);
		did = true;
	}
	return did;
}

/* --- hearing --- */

/* False: it is not one. */
static bool decode(const uint8_t *in, uint64_t len, struct zwin_message *m)
{
	if (len < HEADER)
		return false;
	*m = (struct zwin_message){.kind = (enum zwin_kind)in[AT_KIND],
		.flags = in[AT_FLAGS],
		.op = get32(in + AT_OP),
		.number = get32(in + AT_NUMBER),
		.window = get64(in + AT_WINDOW),
		.disp = (int64_t)get64(in + AT_DISP),
		.count = get64(in + AT_COUNT),
		.bytes = get64(in + AT_BYTES),
		.rank = get32(in + AT_RANK),
		.code_len = get32(in + AT_CODE_LEN)};
	const bool apart = m->flags & ZWIN_F_APART;
	const uint64_t code = apart ? 0 : m->code_len;
	len -= HEADER;
	if (m->kind < ZWIN_PUT || m->kind > ZWIN_STIR || m->number > INT32_MAX || code > len ||
		m->code_len > ZTYPECODE_LEN_MAX)
		return false;
	m->code = apart ? NULL : in + HEADER;
	m->data = in + HEADER + code;
	return len - code == (m->flags & ZWIN_F_INSIDE ? m->bytes : 0);
}

static void take(struct zwin *w, struct zwin_peer *from, const struct zwin_message *m)
{
	switch (m->kind) {
	case ZWIN_FLUSH:
		zwin_answer(w, from, m->flags & ZWIN_F_RELEASE);
		break;
	case ZWIN_FLUSHED:
		from->flushed += m->count;
		from->error = from->error == MPI_SUCCESS ? (int)m->op : from->error;
		break;
	case ZWIN_ASK_LOCK:
		if (zwin_lock_asked(w, from, (int)m->op) != MPI_SUCCESS)
			zerror_fatal(1, "no memory for a window's locks");
		break;
	case ZWIN_GRANT:
		from->lock = ZWIN_HELD;
		break;
	case ZWIN_UNLOCK:
		zwin_unlocked(w, from);
		break;
	case ZWIN_POST:
		from->posts++;
		break;
	case ZWIN_COMPLETE:
		from->completes++;
		break;
	case ZWIN_STIR: /* that it has come is all */
		break;
	default:
		zwin_execute(w, from, m);
	}
}

static void hear(int vrank, const uint8_t *bytes, uint64_t len)
{
	struct zwin_message m;

	if (!decode(bytes, len, &m))
		zerror_fatal(1, "rank %d has sent a malformed message about a window", vrank);
	struct zwin *w = zwin_by_id(m.window);
	if (!w || m.rank >= (uint32_t)w->comm->size || w->comm->vrank[m.rank] != vrank)
		zerror_fatal(1, "rank %d has sent a message about a window that is not there", vrank);
	struct zwin_peer *from = zwin_peer(w, (int)m.rank);
	if (!from)
		zerror_fatal(1, "no memory for a window");
	take(w, from, &m);
}

/* False: nothing, or not all of it yet. */
static bool hear_late(void)
{
	if (!zreq_is_done(late.coming))
		return false;
	zreq_release(late.coming);
	late.coming = NULL;
	hear(late.vrank, late.bytes, late.len);
	zpool_put(late.bytes);
	return true;
}

static bool hear_over_bridge(void)
{
	struct zcomm *carrier = zwin_carrier();

	if (late.coming)
		return hear_late();
	const struct zarrival *a = carrier ? zarrival_find(carrier, MPI_ANY_SOURCE, MPI_ANY_TAG) : NULL;
	if (!a)
		return false;
	late.len = a->total;
	late.vrank = zarrival_source(a, carrier);
	late.bytes = zpool_get(late.len ? late.len : 1);
	if (!late.bytes || zbridge_irecv(carrier, ZCOMM_PT2PT, late.bytes, (MPI_Count)late.len, MPI_BYTE, late.vrank, 0,
				   &late.coming) != MPI_SUCCESS)
		zerror_fatal(1, "no memory for a message of %llu bytes about a window", (unsigned long long)late.len);
	hear_late();
	return true;
}

static bool hear_natively(void)
{
	uint8_t bytes[HEADER];
	MPI_Message message;
	MPI_Status status;
	int tag, flag = 0;
	MPI_Comm comm = zcommnew_internal_win(&tag);

	if (zn.Improbe(MPI_ANY_SOURCE, tag, comm, &flag, &message, &status) != MPI_SUCCESS || !flag)
		return false;
	if (zn.Mrecv(bytes, HEADER, MPI_BYTE, &message, &status) != MPI_SUCCESS)
		zerror_fatal(1, "cannot receive a message about a window");
	hear(zworld.my_vrank[status.MPI_SOURCE], bytes, HEADER);
	return true;
}

bool zwin_turn(void)
{
	bool did = false;

	if (zwin_n == 0 && !said)
		return false;
	for (int i = 0; i < MESSAGES_A_TURN && zwin_n > 0 && hear_over_bridge(); i++)
		did = true;
	for (int i = 0; i < MESSAGES_A_TURN && zwin_n_local > 0 && hear_natively(); i++)
		did = true;
	if (said)
		did |= look_at_said();
	return zwin_tasks_turn() || did;
}

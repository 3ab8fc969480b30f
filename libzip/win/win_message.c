/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of windows' messages, and how they are sent. See win_message.h. */
#include "libzip/win/win_message.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/abi/abi.h"
#include "libzip/bridge/bridge.h"
#include "libzip/bridge/queue.h"
#include "libzip/comm/internal/comm_internal.h"
#include "libzip/world/error.h"
#include "common/wire/little.h"
#include "libzip/shim/pool.h"
#include "libzip/shim/shim.h"
#include "libzip/type/typecode.h"
#include "libzip/world/world.h"

#define CARRIER_ID ((uint64_t)UINT32_MAX << 32) /* no rank makes it */
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
	HEADER = ZWIN_MESSAGE_HEADER,
};

/* Native messages that native MPI has not yet sent. */
struct said {
	struct said *next;
	MPI_Request request;
	uint8_t bytes[HEADER];
};
static struct said *said;

struct zcomm *zwin_message_carrier(void)
{
	static struct zcomm *carrier;

	if (carrier)
		return carrier;
	carrier = zcomm_create_whole(MPI_COMM_NULL, zworld.base, CARRIER_ID);
	if (carrier) { /* no handle leads to it, and it stays until the end */
		zcomm_ref(carrier);
		zcomm_drop(carrier);
	}
	return carrier;
}

uint64_t zwin_message_inside_bytes(void)
{
	const uint64_t room = zworld.eager_bytes > HEADER ? (zworld.eager_bytes - HEADER) / 2 : 0;

	return room < INSIDE_BYTES ? room : INSIDE_BYTES;
}

uint32_t zwin_message_number(void)
{
	static uint32_t numbers;

	return numbers++ & INT32_MAX; /* more numbers than a rank has operations under way */
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
	MPI_Comm comm = zcomm_internal_win(&tag);
	struct said *s = zpool_get(sizeof(*s));

	if (!s)
		return MPI_ERR_NO_MEM;
	encode(s->bytes, m);
	int rc = zn.Isend(s->bytes, HEADER, MPI_BYTE, (int)zworld.place[vrank].lrank, tag, comm, &s->request);
	if (rc == MPI_SUCCESS)
		rc = zerror_test_native(&s->request, &flag, MPI_STATUS_IGNORE);
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
	struct zcomm *carrier = zwin_message_carrier();
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

bool zwin_message_note(struct zwin_peer *from, const struct zwin_message *m)
{
	switch (m->kind) {
	case ZWIN_FLUSHED:
		from->flushed += m->count;
		from->error = from->error == MPI_SUCCESS ? zabi_class_of((int)m->op) : from->error;
		return true;
	case ZWIN_GRANT:
		from->lock = ZWIN_HELD;
		return true;
	case ZWIN_POST:
		from->posts++;
		return true;
	case ZWIN_COMPLETE:
		from->completes++;
		return true;
	case ZWIN_STIR: /* its arrival is all that it is for */
		return true;
	default:
		return false;
	}
}

int zwin_message_say(struct zwin *w, struct zwin_peer *p, const struct zwin_message *message, struct zreq **sent)
{
	const int vrank = w->comm->vrank[p->rank];
	struct zwin_message m = *message;

	m.window = w->id;
	m.rank = (uint32_t)w->comm->rank;
	if (p->rank == w->comm->rank) {
		if (!zwin_message_note(p, &m)) /* a lost message would make this rank wait for ever */
			zerror_fatal(MPI_ERR_INTERN,
				"a window's message of kind %u from this rank to itself has no place", m.kind);
		return MPI_SUCCESS;
	}
	p->said = p->said || m.kind != ZWIN_FLUSHED;
	return zworld_is_local(vrank) ? say_natively(vrank, &m) : say_over_bridge(vrank, &m, sent);
}

int zwin_message_tell(struct zwin *w, struct zwin_peer *p, enum zwin_kind kind, uint32_t op, uint8_t flags)
{
	const struct zwin_message m = {.kind = kind, .flags = flags, .op = op};

	return zwin_message_say(w, p, &m, NULL);
}

bool zwin_message_is_pending(void)
{
	return said != NULL;
}

bool zwin_message_turn(void)
{
	bool did = false;

	for (struct said **at = &said; *at;) {
		struct said *s = *at;
		int flag = 0;
		const int rc = zerror_test_native(&s->request, &flag, MPI_STATUS_IGNORE);
		if (rc != MPI_SUCCESS) /* the receiver would wait for the message for ever */
			zerror_fatal(EXIT_FAILURE, "native MPI cannot send a message about a window (error class %d)",
				zerror_class(rc));
		if (!flag) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		zpool_put(s);
		did = true;
	}
	return did;
}

bool zwin_message_decode(const uint8_t *in, uint64_t len, struct zwin_message *m)
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
	if (m->kind == ZWIN_ASK_LOCK && m->op != ZWIN_EXCLUSIVE && m->op != ZWIN_SHARED)
		return false;
	m->code = apart ? NULL : in + HEADER;
	m->data = in + HEADER + code;
	return len - code == (m->flags & ZWIN_F_INSIDE ? m->bytes : 0);
}

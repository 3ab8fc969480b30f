/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages to bytes and back. Each message is described once, by a list of fields; the encoder and the decoder
 * both walk that list, so they cannot disagree. Set-up only, never on the data path. */
#include "common/control/ctl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/control/ctl_check.h"
#include "common/control/ctl_name.h"
#include "config.h"

enum field_kind {
	F_END,
	F_U8,
	F_U32,
	F_U64,
	F_BYTES,
	F_NAME,
	F_NAME_OR_EMPTY,
	F_TEXT,
	F_STRING,
	F_SIZES,
	F_COUNTS,
	F_LIST
};

struct field {
	enum field_kind kind;
	size_t offset; /* in the struct */
	size_t size; /* BYTES: their number; NAME, TEXT, STRING: room with the zero; COUNTS: of the array of u64; LIST:
			of one element in memory */
	size_t pointer; /* LIST: offset of the pointer to the elements (`offset` is that of the u32 count) */
	size_t wire;  /* LIST: the least bytes of one element on the wire, which bounds the memory that a peer can make
			 us allocate */
	uint32_t max; /* LIST: the largest number of elements */
	const struct field *element;
	uint32_t since; /* the first protocol that has it; 0: all have */
};

#define AT(type, member) offsetof(struct type, member)
#define ROOM(type, member) sizeof(((struct type *)0)->member)
#define FIELD(k, type, member)                                                                                         \
	{                                                                                                              \
		.kind = k, .offset = AT(type, member), .size = ROOM(type, member)                                      \
	}
#define SINCE(protocol, k, type, member)                                                                               \
	{                                                                                                              \
		.kind = k, .offset = AT(type, member), .size = ROOM(type, member), .since = protocol                   \
	}
/* of elements of type e; w: the field wire */
#define LIST(type, n, list, e, w, most, fields)                                                                        \
	{                                                                                                              \
		.kind = F_LIST, .offset = AT(type, n), .size = sizeof(struct e), .pointer = AT(type, list), .wire = w, \
		.max = most, .element = fields                                                                         \
	}
#define END                                                                                                            \
	{                                                                                                              \
		.kind = F_END                                                                                          \
	}

static const struct field f_none[] = {END};
/* the same in all protocols */
static const struct field f_hello_head[] = {FIELD(F_U32, zctl_hello, protocol), FIELD(F_NAME, zctl_hello, release),
	END};
static const struct field f_hello[] = {FIELD(F_U8, zctl_hello, service), FIELD(F_NAME_OR_EMPTY, zctl_hello, user),
	FIELD(F_NAME_OR_EMPTY, zctl_hello, job), FIELD(F_U64, zctl_hello, expires_s), FIELD(F_BYTES, zctl_hello, nonce),
	SINCE(2, F_U8, zctl_hello, method), SINCE(2, F_U8, zctl_hello, seal), END};
static const struct field f_challenge[] = {FIELD(F_BYTES, zctl_challenge, nonce), SINCE(2, F_U8, zctl_challenge, seal),
	END};
static const struct field f_proof[] = {FIELD(F_BYTES, zctl_proof, mac), SINCE(2, F_TEXT, zctl_proof, munge), END};
static const struct field f_join[] = {FIELD(F_NAME, zctl_join, part), FIELD(F_U32, zctl_join, rank),
	FIELD(F_U32, zctl_join, size), FIELD(F_U8, zctl_join, mixed), FIELD(F_TEXT, zctl_join, parts),
	FIELD(F_TEXT, zctl_join, entries), FIELD(F_NAME, zctl_join, host), FIELD(F_U64, zctl_join, abi),
	FIELD(F_U32, zctl_join, vrank), FIELD(F_U8, zctl_join, direct), FIELD(F_TEXT, zctl_join, ports),
	FIELD(F_TEXT, zctl_join, local), FIELD(F_U64, zctl_join, node), FIELD(F_U64, zctl_join, tuning),
	FIELD(F_U32, zctl_join, endpoints), FIELD(F_U8, zctl_join, records), FIELD(F_U32, zctl_join, rail),
	FIELD(F_U32, zctl_join, nrails), FIELD(F_U32, zctl_join, age_ms), FIELD(F_U32, zctl_join, universe),
	FIELD(F_U32, zctl_join, tag_ub), SINCE(2, F_U32, zctl_join, incarnation), SINCE(3, F_U64, zctl_join, run),
	SINCE(3, F_U8, zctl_join, waits), SINCE(4, F_U32, zctl_join, tracks), END};
static const struct field f_part[] = {FIELD(F_NAME, zctl_part, name), FIELD(F_U32, zctl_part, size), END};
static const struct field f_run[] = {FIELD(F_U32, zctl_run, vrank), FIELD(F_U32, zctl_run, count),
	FIELD(F_U32, zctl_run, part), FIELD(F_U32, zctl_run, lrank), END};
static const struct field f_attached[] = {FIELD(F_U32, zctl_attached, vrank), FIELD(F_U32, zctl_attached, count),
	FIELD(F_U64, zctl_attached, fabrics), END};
static const struct field f_world[] = {FIELD(F_U32, zctl_world, vrank), FIELD(F_U8, zctl_world, external32),
	FIELD(F_U32, zctl_world, eager_bytes), FIELD(F_U32, zctl_world, frag_bytes),
	FIELD(F_U32, zctl_world, rdv_window), FIELD(F_U32, zctl_world, universe), FIELD(F_U32, zctl_world, tag_ub),
	SINCE(2, F_U32, zctl_world, incarnation), SINCE(3, F_U64, zctl_world, run), SINCE(4, F_U32, zctl_world, tracks),
	LIST(zctl_world, nparts, parts, zctl_part, 2 + 1 + 4, ZCTL_PARTS_MAX, f_part),
	LIST(zctl_world, nruns, runs, zctl_run, 16, ZCTL_RANKS_MAX, f_run),
	LIST(zctl_world, nattached, attached, zctl_attached, 16, ZCTL_RANKS_MAX, f_attached), END};
static const struct field f_attach[] = {FIELD(F_BYTES, zctl_attach, ticket), FIELD(F_BYTES, zctl_attach, nonce),
	FIELD(F_U32, zctl_attach, vrank), FIELD(F_U32, zctl_attach, part), FIELD(F_U32, zctl_attach, endpoint),
	SINCE(2, F_U8, zctl_attach, seal), SINCE(4, F_U32, zctl_attach, track), END};
static const struct field f_create[] = {FIELD(F_TEXT, zctl_create, parts), FIELD(F_TEXT, zctl_create, entries),
	FIELD(F_SIZES, zctl_create, sizes), FIELD(F_U32, zctl_create, join_timeout_ms),
	SINCE(3, F_U8, zctl_create, again), SINCE(4, F_U64, zctl_create, shares),
	LIST(zctl_create, nruns, runs, zctl_run, 16, ZCTL_RANKS_MAX, f_run), END};
static const struct field f_event[] = {FIELD(F_U8, zctl_event, kind), FIELD(F_U32, zctl_event, number),
	FIELD(F_TEXT, zctl_event, text), END};
static const struct field f_open[] = {FIELD(F_U32, zctl_open, part), FIELD(F_U32, zctl_open, endpoint),
	SINCE(4, F_U32, zctl_open, track), END};
static const struct field f_dead[] = {FIELD(F_U32, zctl_dead, code), FIELD(F_U32, zctl_dead, part),
	FIELD(F_TEXT, zctl_dead, text), END};
static const struct field f_dirstat[] = {FIELD(F_NAME, zctl_dirstat, from), FIELD(F_NAME, zctl_dirstat, to),
	FIELD(F_U64, zctl_dirstat, msgs), FIELD(F_U64, zctl_dirstat, bytes), FIELD(F_U64, zctl_dirstat, envelopes),
	FIELD(F_U64, zctl_dirstat, copied_bytes), FIELD(F_U64, zctl_dirstat, naks),
	FIELD(F_U64, zctl_dirstat, queue_high_bytes), FIELD(F_U64, zctl_dirstat, direct_msgs),
	FIELD(F_U64, zctl_dirstat, direct_bytes), FIELD(F_U64, zctl_dirstat, shared_bytes), END};
static const struct field f_stats[] = {LIST(zctl_stats_reply, ndirs, dirs, zctl_dirstat, 2 * (2 + 1) + 9 * 8,
					       ZCTL_PARTS_MAX *(ZCTL_PARTS_MAX - 1), f_dirstat),
	END};
static const struct field f_direct[] = {FIELD(F_U8, zctl_direct, what), FIELD(F_U32, zctl_direct, vrank),
	FIELD(F_U32, zctl_direct, endpoint), FIELD(F_BYTES, zctl_direct, nonce), FIELD(F_BYTES, zctl_direct, masked),
	FIELD(F_TEXT, zctl_direct, addresses), SINCE(2, F_U8, zctl_direct, seal),
	SINCE(2, F_BYTES, zctl_direct, masked_key), END};
static const struct field f_to_part[] = {FIELD(F_U32, zctl_to_part, part), FIELD(F_U64, zctl_to_part, msgs),
	FIELD(F_U64, zctl_to_part, bytes), END};
static const struct field f_traffic[] = {LIST(zctl_traffic, nparts, parts, zctl_to_part, 20, ZCTL_PARTS_MAX, f_to_part),
	END};
static const struct field f_meet[] = {FIELD(F_NAME, zctl_meet, name), FIELD(F_NAME, zctl_meet, from),
	FIELD(F_NAME, zctl_meet, to), END};
static const struct field f_reach[] = {FIELD(F_NAME, zctl_reach, from), FIELD(F_NAME, zctl_reach, to),
	FIELD(F_TEXT, zctl_reach, address), FIELD(F_BYTES, zctl_reach, pass), FIELD(F_BYTES, zctl_reach, mac),
	SINCE(4, F_U32, zctl_reach, share), END};
static const struct field f_trunk[] = {FIELD(F_NAME, zctl_trunk, from), FIELD(F_U32, zctl_trunk, share), END};
static const struct field f_reached[] = {FIELD(F_BYTES, zctl_reached, pass), END};
static const struct field f_naming[] = {FIELD(F_U8, zctl_naming, what), FIELD(F_U8, zctl_naming, answer),
	FIELD(F_U32, zctl_naming, number), FIELD(F_U32, zctl_naming, vrank), FIELD(F_STRING, zctl_naming, service),
	FIELD(F_STRING, zctl_naming, port), END};
static const struct field f_state[] = {FIELD(F_U8, zctl_state, what), FIELD(F_U32, zctl_state, vrank),
	FIELD(F_U32, zctl_state, code), END};
static const struct field f_status[] = {FIELD(F_U8, zctl_place, ended), FIELD(F_U32, zctl_place, job),
	FIELD(F_U32, zctl_place, lane), END};
static const struct field f_worker_status[] = {FIELD(F_NAME, zctl_worker_status, from),
	FIELD(F_NAME, zctl_worker_status, to), FIELD(F_U8, zctl_worker_status, shares),
	FIELD(F_U64, zctl_worker_status, cpu_ns), SINCE(4, F_U32, zctl_worker_status, number),
	SINCE(4, F_U64, zctl_worker_status, msgs), SINCE(4, F_U64, zctl_worker_status, bytes), END};
static const struct field f_job_status[] = {FIELD(F_U32, zctl_job_status, number), FIELD(F_NAME, zctl_job_status, user),
	FIELD(F_NAME, zctl_job_status, id), FIELD(F_U8, zctl_job_status, phase), FIELD(F_U64, zctl_job_status, age_ms),
	FIELD(F_U64, zctl_job_status, ended_ms), FIELD(F_U32, zctl_job_status, total),
	FIELD(F_U32, zctl_job_status, joined), FIELD(F_U32, zctl_job_status, done),
	FIELD(F_U32, zctl_job_status, endpoints), FIELD(F_U32, zctl_job_status, rail),
	FIELD(F_U32, zctl_job_status, nrails), FIELD(F_U32, zctl_job_status, incarnation),
	FIELD(F_U32, zctl_job_status, channels), FIELD(F_U32, zctl_job_status, nparts),
	FIELD(F_U32, zctl_job_status, nlanes), FIELD(F_TEXT, zctl_job_status, text), END};
static const struct field f_part_status[] = {FIELD(F_NAME, zctl_part_status, name),
	FIELD(F_NAME, zctl_part_status, fabric), FIELD(F_U32, zctl_part_status, size),
	FIELD(F_U32, zctl_part_status, joined), END};
static const struct field f_lane_status[] = {FIELD(F_U32, zctl_lane_status, from), FIELD(F_U32, zctl_lane_status, to),
	FIELD(F_U64, zctl_lane_status, msgs), FIELD(F_U64, zctl_lane_status, bytes),
	FIELD(F_U64, zctl_lane_status, envelopes), FIELD(F_U64, zctl_lane_status, copied_bytes),
	FIELD(F_U64, zctl_lane_status, naks), FIELD(F_U64, zctl_lane_status, queue_high_bytes),
	FIELD(F_U64, zctl_lane_status, shared_bytes), FIELD(F_U64, zctl_lane_status, direct_msgs),
	FIELD(F_U64, zctl_lane_status, direct_bytes), FIELD(F_U64, zctl_lane_status, queue_bytes),
	FIELD(F_U64, zctl_lane_status, stalls), FIELD(F_U64, zctl_lane_status, latency_ns),
	FIELD(F_COUNTS, zctl_lane_status, latency), END};
static const struct field f_status_reply[] = {FIELD(F_U8, zctl_status_reply, all),
	FIELD(F_U8, zctl_status_reply, draining), FIELD(F_U8, zctl_status_reply, more.ended),
	FIELD(F_U32, zctl_status_reply, more.job), FIELD(F_U32, zctl_status_reply, more.lane),
	FIELD(F_U64, zctl_status_reply, uptime_ms), FIELD(F_NAME, zctl_status_reply, release),
	FIELD(F_U32, zctl_status_reply, connections), FIELD(F_U32, zctl_status_reply, max_connections),
	FIELD(F_U32, zctl_status_reply, strangers), FIELD(F_U32, zctl_status_reply, jobs),
	FIELD(F_U32, zctl_status_reply, max_jobs), FIELD(F_U32, zctl_status_reply, circuits),
	FIELD(F_U64, zctl_status_reply, refused), FIELD(F_U64, zctl_status_reply, memory_used),
	FIELD(F_U64, zctl_status_reply, memory),
	LIST(zctl_status_reply, nworkers, worker, zctl_worker_status, 2 * (2 + 1) + 9, ZCTL_WORKERS_MAX,
		f_worker_status),
	LIST(zctl_status_reply, njobs, job, zctl_job_status, 2 * (2 + 1) + 12 * 4, ZCTL_STATUS_JOBS, f_job_status),
	LIST(zctl_status_reply, nparts, part, zctl_part_status, 2 * (2 + 1) + 8, ZCTL_STATUS_JOBS *ZCTL_PARTS_MAX,
		f_part_status),
	LIST(zctl_status_reply, nlanes, lane, zctl_lane_status, 12 + 12 * 8, ZCTL_STATUS_LANES, f_lane_status), END};
static const struct field f_control[] = {FIELD(F_U8, zctl_control, what), FIELD(F_NAME_OR_EMPTY, zctl_control, user),
	FIELD(F_NAME_OR_EMPTY, zctl_control, name), FIELD(F_TEXT, zctl_control, value), END};
static const struct field f_controlled[] = {FIELD(F_TEXT, zctl_controlled, text), END};
static const struct field f_error[] = {FIELD(F_U32, zctl_error, code), FIELD(F_TEXT, zctl_error, text), END};

static const struct field *const fields_of[] = {
	[ZCTL_HELLO] = f_hello,
	[ZCTL_CHALLENGE] = f_challenge,
	[ZCTL_PROOF] = f_proof,
	[ZCTL_JOIN] = f_join,
	[ZCTL_WORLD] = f_world,
	[ZCTL_ATTACH] = f_attach,
	[ZCTL_CREATE] = f_create,
	[ZCTL_CREATED] = f_none,
	[ZCTL_EVENT] = f_event,
	[ZCTL_OPEN] = f_open,
	[ZCTL_DEAD] = f_dead,
	[ZCTL_ABORT] = f_dead,
	[ZCTL_STATS] = f_none,
	[ZCTL_STATS_REPLY] = f_stats,
	[ZCTL_ERROR] = f_error,
	[ZCTL_DIRECT] = f_direct,
	[ZCTL_TRAFFIC] = f_traffic,
	[ZCTL_QUIT] = f_dead,
	[ZCTL_PING] = f_none,
	[ZCTL_MEET] = f_meet,
	[ZCTL_MET] = f_none,
	[ZCTL_REACH] = f_reach,
	[ZCTL_REACHED] = f_reached,
	[ZCTL_NAMING] = f_naming,
	[ZCTL_STATE] = f_state,
	[ZCTL_STATUS] = f_status,
	[ZCTL_STATUS_REPLY] = f_status_reply,
	[ZCTL_CONTROL] = f_control,
	[ZCTL_CONTROLLED] = f_controlled,
	[ZCTL_TRUNK] = f_trunk,
	[ZCTL_TRUNKED] = f_none,
};
#define NTYPES (sizeof(fields_of) / sizeof(fields_of[0]))

static bool has_type(uint32_t protocol, uint16_t type)
{
	const uint32_t since = type >= ZCTL_TRUNK    ? ZCTL_PROTOCOL_TRUNKS
			       : type >= ZCTL_STATUS ? ZCTL_PROTOCOL_STATUS
						     : 0;
	return type < NTYPES && fields_of[type] && protocol >= since;
}

static bool text_char(unsigned char c)
{
	return c >= ' ' && c < 0x7f;
}

/* --- encoding --- */

struct writer {
	uint8_t *p;
	size_t left;
	uint32_t protocol;
	bool full;
};

static void put(struct writer *w, const void *data, size_t len)
{
	if (len > w->left) {
		w->full = true;
		return;
	}
	memcpy(w->p, data, len);
	w->p += len;
	w->left -= len;
}

static void put_uint(struct writer *w, uint64_t v, int bytes)
{
	uint8_t b[8];
	for (int i = 0; i < bytes; i++)
		b[i] = (uint8_t)(v >> (8 * i));
	put(w, b, (size_t)bytes);
}

static void put_text(struct writer *w, const char *text, size_t room)
{
	size_t len = strnlen(text, room - 1);
	put_uint(w, len, 2);
	for (size_t i = 0; i < len; i++)
		put_uint(w, text_char((unsigned char)text[i]) ? (uint8_t)text[i] : '?', 1);
}

/* The program's own bytes, which are not changed. */
static void put_string(struct writer *w, const char *bytes, size_t room)
{
	size_t len = strnlen(bytes, room - 1);
	put_uint(w, len, 2);
	put(w, bytes, len);
}

/* As many as there are up to the last one that is not 0. */
static void put_counts(struct writer *w, const char *at, size_t size)
{
	uint64_t v;
	uint32_t n = (uint32_t)(size / sizeof(v));
	for (; n > 0; n--) {
		memcpy(&v, at + (n - 1) * sizeof(v), sizeof(v));
		if (v != 0)
			break;
	}
	put_uint(w, n, 4);
	for (uint32_t i = 0; i < n; i++) {
		memcpy(&v, at + i * sizeof(v), sizeof(v));
		put_uint(w, v, 8);
	}
}

static void put_fields(struct writer *w, const struct field *f, const void *base)
{
	for (; f->kind != F_END; f++) {
		const char *at = (const char *)base + f->offset;
		uint32_t n;
		uint64_t u64;
		if (f->since > w->protocol)
			continue;
		switch (f->kind) {
		case F_U8:
			put_uint(w, *(const uint8_t *)at, 1);
			break;
		case F_U32:
			memcpy(&n, at, sizeof(n));
			put_uint(w, n, 4);
			break;
		case F_U64:
			memcpy(&u64, at, sizeof(u64));
			put_uint(w, u64, 8);
			break;
		case F_BYTES:
			put(w, at, f->size);
			break;
		case F_NAME:
		case F_NAME_OR_EMPTY:
		case F_TEXT:
			put_text(w, at, f->size);
			break;
		case F_STRING:
			put_string(w, at, f->size);
			break;
		case F_SIZES: { /* one size for each of the names before it */
			const struct zctl_create *c = base;
			int parts = zctl_name_split_parts(c->parts, NULL, ZCTL_PARTS_MAX);
			n = parts < 0 ? 0 : (uint32_t)parts;
			put_uint(w, n, 4);
			for (uint32_t i = 0; i < n; i++)
				put_uint(w, c->sizes[i], 4);
			break;
		}
		case F_COUNTS:
			put_counts(w, at, f->size);
			break;
		case F_LIST: {
			memcpy(&n, at, sizeof(n));
			const char *list;
			memcpy(&list, (const char *)base + f->pointer, sizeof(list));
			put_uint(w, n, 4);
			for (uint32_t i = 0; i < n && !w->full; i++)
				put_fields(w, f->element, list + i * f->size);
			break;
		}
		case F_END:
			break;
		}
	}
}

int zctl_encode_as(uint8_t *buf, size_t cap, uint32_t protocol, const struct zctl_msg *msg)
{
	struct writer w = {.p = buf, .left = cap, .protocol = protocol ? protocol : ZCTL_PROTOCOL};
	if (!has_type(w.protocol, msg->type))
		return -EINVAL;
	put_uint(&w, msg->type, 2);
	if (msg->type == ZCTL_HELLO) {
		struct zctl_hello head = {.protocol = w.protocol, .release = PACKAGE_VERSION};
		if (msg->u.hello.release[0])
			memcpy(head.release, msg->u.hello.release, sizeof(head.release));
		put_fields(&w, f_hello_head, &head);
	}
	put_fields(&w, fields_of[msg->type], &msg->u);
	return w.full ? -EMSGSIZE : (int)(cap - w.left);
}

int zctl_encode(uint8_t *buf, size_t cap, const struct zctl_msg *msg)
{
	return zctl_encode_as(buf, cap, msg->type == ZCTL_HELLO ? msg->u.hello.protocol : 0, msg);
}

/* --- decoding --- */

struct reader {
	const uint8_t *p;
	size_t left;
	uint32_t protocol;
	const char *bad; /* the first error */
	bool no_memory;
};

static const uint8_t *get(struct reader *r, size_t len)
{
	if (r->bad)
		return NULL;
	if (len > r->left) {
		r->bad = "it is cut short";
		return NULL;
	}
	const uint8_t *p = r->p;
	r->p += len;
	r->left -= len;
	return p;
}

static uint64_t get_uint(struct reader *r, int bytes)
{
	const uint8_t *b = get(r, (size_t)bytes);
	uint64_t v = 0;
	for (int i = 0; b && i < bytes; i++)
		v |= (uint64_t)b[i] << (8 * i);
	return v;
}

static bool char_belongs(uint8_t c, enum field_kind kind)
{
	return kind == F_STRING ? c != 0 : kind == F_TEXT ? text_char(c) : zctl_name_has_char(c);
}

static void get_text(struct reader *r, char *out, size_t room, enum field_kind kind)
{
	size_t len = get_uint(r, 2);
	if (!r->bad && len >= room)
		r->bad = "a text is too long";
	const uint8_t *b = get(r, len);
	if (!b)
		return;
	memcpy(out, b, len); /* before the check: over shm the peer can still write there */
	out[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (!char_belongs((uint8_t)out[i], kind)) {
			r->bad = "a text holds bytes that do not belong there";
			return;
		}
	if (kind == F_NAME && len == 0)
		r->bad = "a name is empty";
}

static void get_fields(struct reader *r, const struct field *f, void *base);

static void get_sizes(struct reader *r, struct zctl_create *c)
{
	uint32_t n = (uint32_t)get_uint(r, 4);
	int parts = zctl_name_split_parts(c->parts, NULL, ZCTL_PARTS_MAX);
	if (r->bad)
		return;
	if (parts < 0 || n != (uint32_t)parts) {
		r->bad = "parts and their sizes do not fit together";
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		c->sizes[i] = (uint32_t)get_uint(r, 4);
}

static void get_counts(struct reader *r, char *at, size_t size)
{
	uint32_t n = (uint32_t)get_uint(r, 4);
	if (!r->bad && n > size / 8)
		r->bad = "there are too many counts";
	for (uint32_t i = 0; i < n && !r->bad; i++)
		memcpy(at + 8 * i, &(uint64_t){get_uint(r, 8)}, 8);
}

static void get_list(struct reader *r, const struct field *f, void *base)
{
	uint32_t n = (uint32_t)get_uint(r, 4);
	if (r->bad)
		return;
	if (n > f->max || n > r->left / f->wire) {
		r->bad = "a list is too long";
		return;
	}
	if (n == 0)
		return;
	char *list = calloc(n, f->size);
	if (!list) {
		r->bad = "out of memory";
		r->no_memory = true;
		return;
	}
	memcpy((char *)base + f->pointer, &list, sizeof(list));
	memcpy((char *)base + f->offset, &n, sizeof(n));
	for (uint32_t i = 0; i < n && !r->bad; i++)
		get_fields(r, f->element, list + i * f->size);
}

static void get_fields(struct reader *r, const struct field *f, void *base)
{
	for (; f->kind != F_END && !r->bad; f++) {
		char *at = (char *)base + f->offset;
		if (f->since > r->protocol)
			continue;
		switch (f->kind) {
		case F_U8:
			*(uint8_t *)at = (uint8_t)get_uint(r, 1);
			break;
		case F_U32:
			memcpy(at, &(uint32_t){(uint32_t)get_uint(r, 4)}, 4);
			break;
		case F_U64:
			memcpy(at, &(uint64_t){get_uint(r, 8)}, 8);
			break;
		case F_BYTES: {
			const uint8_t *b = get(r, f->size);
			if (b)
				memcpy(at, b, f->size);
			break;
		}
		case F_NAME:
		case F_NAME_OR_EMPTY:
		case F_TEXT:
		case F_STRING:
			get_text(r, at, f->size, f->kind);
			break;
		case F_SIZES:
			get_sizes(r, base);
			break;
		case F_COUNTS:
			get_counts(r, at, f->size);
			break;
		case F_LIST:
			get_list(r, f, base);
			break;
		case F_END:
			break;
		}
	}
}

static bool is_spoken(uint32_t protocol)
{
	return protocol >= ZCTL_PROTOCOL_OLDEST && protocol <= ZCTL_PROTOCOL;
}

bool zctl_is_foreign(const struct zctl_hello *hello, struct zerr *err)
{
	if (is_spoken(hello->protocol))
		return false;
	zerr_set(err, -EPROTONOSUPPORT, "it speaks protocol %d to %d (%s), and this is protocol %u (%s)",
		ZCTL_PROTOCOL_OLDEST, ZCTL_PROTOCOL, PACKAGE_VERSION, hello->protocol, hello->release);
	return true;
}

int zctl_decode_as(struct zctl_msg *msg, const uint8_t *buf, size_t len, uint32_t protocol, struct zerr *err)
{
	struct reader r = {.p = buf, .left = len, .protocol = protocol ? protocol : ZCTL_PROTOCOL};
	memset(msg, 0, sizeof(*msg));
	uint16_t type = (uint16_t)get_uint(&r, 2);
	if (!r.bad && !has_type(r.protocol, type))
		r.bad = "there is no such type";
	if (!r.bad) {
		msg->type = type;
		if (type == ZCTL_HELLO)
			get_fields(&r, f_hello_head, &msg->u);
		if (type == ZCTL_HELLO && !r.bad && !is_spoken(msg->u.hello.protocol))
			return 0;
		if (type == ZCTL_HELLO)
			r.protocol = msg->u.hello.protocol;
		get_fields(&r, fields_of[type], &msg->u);
	}
	if (!r.bad && r.left > 0)
		r.bad = "something is left over at its end";
	if (!r.bad)
		r.bad = zctl_check(msg);
	if (!r.bad)
		return 0;
	zctl_free(msg);
	return zerr_set(err, r.no_memory ? -ENOMEM : -EPROTO, "bad control message (type %u): %s", type, r.bad);
}

int zctl_decode(struct zctl_msg *msg, const uint8_t *buf, size_t len, struct zerr *err)
{
	return zctl_decode_as(msg, buf, len, 0, err);
}

void zctl_world_free(struct zctl_world *world)
{
	free(world->parts);
	free(world->runs);
	free(world->attached);
	world->parts = NULL;
	world->runs = NULL;
	world->attached = NULL;
	world->nparts = world->nruns = world->nattached = 0;
}

void zctl_stats_free(struct zctl_stats_reply *stats)
{
	free(stats->dirs);
	stats->dirs = NULL;
	stats->ndirs = 0;
}

void zctl_status_free(struct zctl_status_reply *s)
{
	free(s->worker);
	free(s->job);
	free(s->part);
	free(s->lane);
	s->worker = NULL;
	s->job = NULL;
	s->part = NULL;
	s->lane = NULL;
	s->nworkers = s->njobs = s->nparts = s->nlanes = 0;
}

void zctl_free(struct zctl_msg *msg)
{
	if (msg->type == ZCTL_WORLD)
		zctl_world_free(&msg->u.world);
	else if (msg->type == ZCTL_STATS_REPLY)
		zctl_stats_free(&msg->u.stats);
	else if (msg->type == ZCTL_STATUS_REPLY)
		zctl_status_free(&msg->u.status_reply);
	else if (msg->type == ZCTL_CREATE)
		free(msg->u.create.runs);
	else if (msg->type == ZCTL_TRAFFIC)
		free(msg->u.traffic.parts);
	memset(msg, 0, sizeof(*msg));
}

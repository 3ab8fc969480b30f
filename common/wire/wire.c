/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding and strict decoding of the envelope. Little-endian at fixed offsets, see wire.h. Any thread. */
#include "common/wire/wire.h"

#include <errno.h>
#include <string.h>

#include "common/wire/little.h"

enum { /* offsets of the fields */
	AT_VERSION = 0,
	AT_KIND = 1,
	AT_FLAGS = 2,
	AT_JOB = 4,
	AT_SRC = 8,
	AT_DST = 12,
	AT_COMM = 16,
	AT_TAG = 24,
	AT_LEN = 28,
	AT_SEQ = 32,
	AT_ACK = 40,
	AT_XFER = 48,
	AT_OFFSET = 56,
};
_Static_assert(AT_OFFSET + 8 == ZWIRE_ENV_BYTES, "the last field ends the envelope");

void zwire_encode(uint8_t out[ZWIRE_ENV_BYTES], const struct zwire_env *env)
{
	out[AT_VERSION] = ZWIRE_VERSION;
	out[AT_KIND] = env->kind;
	put16(out + AT_FLAGS, env->flags);
	put32(out + AT_JOB, env->job);
	put32(out + AT_SRC, env->src);
	put32(out + AT_DST, env->dst);
	put64(out + AT_COMM, env->comm);
	put32(out + AT_TAG, (uint32_t)env->tag);
	put32(out + AT_LEN, env->len);
	put64(out + AT_SEQ, env->seq);
	put64(out + AT_ACK, env->ack);
	put64(out + AT_XFER, env->xfer);
	put64(out + AT_OFFSET, env->offset);
}

int zwire_decode(struct zwire_env *env, const uint8_t in[ZWIRE_ENV_BYTES])
{
	env->kind = in[AT_KIND];
	env->flags = get16(in + AT_FLAGS);
	env->job = get32(in + AT_JOB);
	env->src = get32(in + AT_SRC);
	env->dst = get32(in + AT_DST);
	env->comm = get64(in + AT_COMM);
	env->tag = (int32_t)get32(in + AT_TAG);
	env->len = get32(in + AT_LEN);
	env->seq = get64(in + AT_SEQ);
	env->ack = get64(in + AT_ACK);
	env->xfer = get64(in + AT_XFER);
	env->offset = get64(in + AT_OFFSET);
	if (in[AT_VERSION] != ZWIRE_VERSION || env->kind == 0 || env->kind > ZWIRE_KIND_MAX ||
		(env->flags & ~ZWIRE_F_ALL) || env->len > ZWIRE_MAX_PAYLOAD)
		return -EPROTO;
	return 0;
}

void zwire_put_receiver(uint8_t out[ZWIRE_RECEIVER_BYTES], const struct zwire_receiver *r)
{
	put32(out, r->dst);
	put32(out + 4, 0);
	put64(out + 8, r->seq);
	put64(out + 16, r->ack);
	put64(out + 24, r->xfer);
}

int zwire_get_receiver(struct zwire_receiver *r, const uint8_t in[ZWIRE_RECEIVER_BYTES])
{
	r->dst = get32(in);
	r->seq = get64(in + 8);
	r->ack = get64(in + 16);
	r->xfer = get64(in + 24);
	return get32(in + 4) == 0 ? 0 : -EPROTO;
}

#define RAILS_PER_FIELD 6

void zwire_put_rails(struct zwire_env *env, const uint16_t *least, int n)
{
	uint64_t *const field[] = {&env->comm, &env->xfer, &env->offset};
	for (int i = 0; i < ZWIRE_RAILS_MAX / RAILS_PER_FIELD; i++)
		*field[i] = 0;
	for (int i = 0; i < n; i++)
		*field[i / RAILS_PER_FIELD] |= (uint64_t)least[i] << (i % RAILS_PER_FIELD * ZWIRE_INCARNATION_BITS);
}

void zwire_get_rails(uint16_t *least, int n, const struct zwire_env *env)
{
	const uint64_t field[] = {env->comm, env->xfer, env->offset};
	for (int i = 0; i < n; i++)
		least[i] = (uint16_t)(field[i / RAILS_PER_FIELD] >> (i % RAILS_PER_FIELD * ZWIRE_INCARNATION_BITS) &
				      ((1u << ZWIRE_INCARNATION_BITS) - 1));
}

const char *zwire_kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[ZWIRE_CTRL] = "CTRL",
		[ZWIRE_EAGER] = "EAGER",
		[ZWIRE_RTS] = "RTS",
		[ZWIRE_CTS] = "CTS",
		[ZWIRE_DATA] = "DATA",
		[ZWIRE_DONE] = "DONE",
		[ZWIRE_ACK] = "ACK",
		[ZWIRE_NAK] = "NAK",
		[ZWIRE_RESUME] = "RESUME",
		[ZWIRE_BYE] = "BYE",
		[ZWIRE_MOVED] = "MOVED",
		[ZWIRE_BLOCK] = "BLOCK",
		[ZWIRE_READY] = "READY",
		[ZWIRE_FAIL] = "FAIL",
		[ZWIRE_RECEIVERS] = "RECEIVERS",
		[ZWIRE_LEAVE] = "LEAVE",
		[ZWIRE_WRITTEN] = "WRITTEN",
		[ZWIRE_RAILS] = "RAILS",
		[ZWIRE_ASK] = "ASK",
		[ZWIRE_CREDIT] = "CREDIT",
		[ZWIRE_CLOSE] = "CLOSE",
	};
	_Static_assert(sizeof(names) / sizeof(names[0]) == ZWIRE_KIND_MAX + 1, "a name for every kind");
	return kind <= ZWIRE_KIND_MAX && names[kind] ? names[kind] : "?";
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope: offsets as documented, every field survives, strict decoding. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/wire/wire.h"

static const struct zwire_env sample = {
	.kind = ZWIRE_EAGER,
	.flags = ZWIRE_F_SYNC | ZWIRE_F_EXT32,
	.job = 0x04050607,
	.src = 0x08090a0b,
	.dst = 0x0c0d0e0f,
	.comm = 0x1011121314151617,
	.tag = -2,
	.len = 0x000d1e1f,
	.seq = 0x2021222324252627,
	.ack = 0x28292a2b2c2d2e2f,
	.xfer = 0x3031323334353637,
	.offset = 0xf8393a3b3c3d3e3f,
};

/* Written by hand from the table in wire.h. */
static const uint8_t sample_bytes[ZWIRE_ENV_BYTES] = {
	2,
	2,
	3,
	0,
	0x07,
	0x06,
	0x05,
	0x04,
	0x0b,
	0x0a,
	0x09,
	0x08,
	0x0f,
	0x0e,
	0x0d,
	0x0c,
	0x17,
	0x16,
	0x15,
	0x14,
	0x13,
	0x12,
	0x11,
	0x10,
	0xfe,
	0xff,
	0xff,
	0xff,
	0x1f,
	0x1e,
	0x0d,
	0x00,
	0x27,
	0x26,
	0x25,
	0x24,
	0x23,
	0x22,
	0x21,
	0x20,
	0x2f,
	0x2e,
	0x2d,
	0x2c,
	0x2b,
	0x2a,
	0x29,
	0x28,
	0x37,
	0x36,
	0x35,
	0x34,
	0x33,
	0x32,
	0x31,
	0x30,
	0x3f,
	0x3e,
	0x3d,
	0x3c,
	0x3b,
	0x3a,
	0x39,
	0xf8,
};

static void encodes_at_documented_offsets(void **state)
{
	(void)state;
	uint8_t raw[ZWIRE_ENV_BYTES];
	memset(raw, 0xee, sizeof(raw));
	zwire_encode(raw, &sample);
	assert_memory_equal(raw, sample_bytes, sizeof(raw));
}

static void decodes_what_was_encoded(void **state)
{
	(void)state;
	struct zwire_env env;
	memset(&env, 0xee, sizeof(env));
	assert_int_equal(zwire_decode(&env, sample_bytes), 0);
	assert_int_equal(env.kind, sample.kind);
	assert_int_equal(env.flags, sample.flags);
	assert_int_equal(env.job, sample.job);
	assert_int_equal(env.src, sample.src);
	assert_int_equal(env.dst, sample.dst);
	assert_true(env.comm == sample.comm);
	assert_int_equal(env.tag, sample.tag);
	assert_int_equal(env.len, sample.len);
	assert_true(env.seq == sample.seq);
	assert_true(env.ack == sample.ack);
	assert_true(env.xfer == sample.xfer);
	assert_true(env.offset == sample.offset);
}

static void decodes_at_any_alignment(void **state)
{
	(void)state;
	uint8_t room[ZWIRE_ENV_BYTES + 8];
	for (int shift = 0; shift < 8; shift++) {
		struct zwire_env env;
		memcpy(room + shift, sample_bytes, ZWIRE_ENV_BYTES);
		assert_int_equal(zwire_decode(&env, room + shift), 0);
		assert_true(env.offset == sample.offset);
	}
}

static int decode_with(size_t at, uint8_t value)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	struct zwire_env env;
	memcpy(raw, sample_bytes, sizeof(raw));
	raw[at] = value;
	return zwire_decode(&env, raw);
}

static void refuses_bad_fields(void **state)
{
	(void)state;
	for (int version = 0; version < 256; version++)
		assert_int_equal(decode_with(0, (uint8_t)version), version == ZWIRE_VERSION ? 0 : -EPROTO);
	for (int kind = 0; kind < 256; kind++)
		assert_int_equal(decode_with(1, (uint8_t)kind),
			kind >= ZWIRE_CTRL && kind <= ZWIRE_KIND_MAX ? 0 : -EPROTO);
	for (int flags = 0; flags < 256; flags++)
		assert_int_equal(decode_with(2, (uint8_t)flags), flags & ~0x1f ? -EPROTO : 0);
	assert_int_equal(decode_with(3, 0x01), -EPROTO);
	assert_int_equal(decode_with(3, 0x80), -EPROTO);
	assert_int_equal(decode_with(31, 0x01), -EPROTO); /* len above 16 MiB */
	assert_int_equal(decode_with(31, 0xff), -EPROTO);
}

static void refuses_one_byte_too_many(void **state)
{
	(void)state;
	struct zwire_env env = sample;
	uint8_t raw[ZWIRE_ENV_BYTES];
	env.len = ZWIRE_MAX_PAYLOAD;
	zwire_encode(raw, &env);
	assert_int_equal(zwire_decode(&env, raw), 0);
	env.len = ZWIRE_MAX_PAYLOAD + 1;
	zwire_encode(raw, &env);
	assert_int_equal(zwire_decode(&env, raw), -EPROTO);
}

static void names_every_kind(void **state)
{
	(void)state;
	for (int kind = ZWIRE_CTRL; kind <= ZWIRE_KIND_MAX; kind++)
		assert_string_not_equal(zwire_kind_name((uint8_t)kind), "?");
	assert_string_equal(zwire_kind_name(ZWIRE_RTS), "RTS");
	assert_string_equal(zwire_kind_name(0), "?");
	assert_string_equal(zwire_kind_name(ZWIRE_KIND_MAX + 1), "?");
	assert_string_equal(zwire_kind_name(255), "?");
}

static void receivers_are_encoded_as_documented(void **state)
{
	static const struct zwire_receiver r = {.dst = 0x01020304,
		.seq = 0x1112131415161718,
		.ack = 0x2122232425262728,
		.xfer = 0x3132333435363738};
	static const uint8_t bytes[ZWIRE_RECEIVER_BYTES] = {4, 3, 2, 1, 0, 0, 0, 0, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13,
		0x12, 0x11, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, 0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32,
		0x31};
	uint8_t raw[ZWIRE_RECEIVER_BYTES];
	struct zwire_receiver back;
	(void)state;
	memset(raw, 0xee, sizeof(raw));
	zwire_put_receiver(raw, &r);
	assert_memory_equal(raw, bytes, sizeof(raw));
	assert_int_equal(zwire_get_receiver(&back, raw), 0);
	assert_int_equal(back.dst, r.dst);
	assert_true(back.seq == r.seq && back.ack == r.ack && back.xfer == r.xfer);
	for (int i = 4; i < 8; i++) {
		raw[i] = 1;
		assert_int_equal(zwire_get_receiver(&back, raw), -EPROTO);
		raw[i] = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encodes_at_documented_offsets),
		cmocka_unit_test(decodes_what_was_encoded),
		cmocka_unit_test(decodes_at_any_alignment),
		cmocka_unit_test(refuses_bad_fields),
		cmocka_unit_test(refuses_one_byte_too_many),
		cmocka_unit_test(names_every_kind),
		cmocka_unit_test(receivers_are_encoded_as_documented),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Envelopes and lists of receivers (common/wire/wire.h): one that is accepted comes out as it came in. */
#include <string.h>

#include "common/wire/crc32.h"
#include "common/wire/wire.h"
#include "test/fuzz/target.h"

static void envelope(const uint8_t *data)
{
	uint8_t out[ZWIRE_ENV_BYTES];
	struct zwire_env env;
	if (zwire_decode(&env, data) != 0)
		return;
	CHECK(env.kind >= 1 && env.kind <= ZWIRE_KIND_MAX && env.len <= ZWIRE_MAX_PAYLOAD);
	CHECK(zwire_kind_name(env.kind)[0] != '?');
	zwire_encode(out, &env);
	CHECK(memcmp(out, data, sizeof(out)) == 0);
}

static void receiver(const uint8_t *data)
{
	uint8_t out[ZWIRE_RECEIVER_BYTES];
	struct zwire_receiver r;
	if (zwire_get_receiver(&r, data) != 0)
		return;
	zwire_put_receiver(out, &r);
	CHECK(memcmp(out, data, sizeof(out)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CHECK(zcrc32(zcrc32(0, data, size / 3), data + size / 3, size - size / 3) == zcrc32(0, data, size));
	if (size >= ZWIRE_ENV_BYTES) {
		envelope(data);
		for (size_t at = ZWIRE_ENV_BYTES; size - at >= ZWIRE_RECEIVER_BYTES; at += ZWIRE_RECEIVER_BYTES)
			receiver(data + at);
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages (common/control/ctl.h): a message that is accepted comes out of the encoder as it came in. */
#include <stdlib.h>
#include <string.h>

#include "common/control/ctl.h"
#include "common/wire/wire.h"
#include "test/fuzz/target.h"

#define SPARE 1024 /* HELLO is written with our own release, which may be longer */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zctl_msg msg, again;
	struct zerr err = {{0}};
	if (size > ZWIRE_MAX_PAYLOAD)
		return 0;
	if (zctl_decode(&msg, data, size, &err) != 0) {
		CHECK(err.text[0]);
		return 0;
	}
	uint8_t *out = malloc(size + SPARE), *out2 = malloc(size + SPARE);
	CHECK(out && out2);
	const int len = zctl_encode(out, size + SPARE, &msg);
	CHECK(len > 0);
	if (msg.type == ZCTL_HELLO && zctl_is_foreign(&msg.u.hello, &err)) {
		CHECK(err.text[0]); /* the rest of it is not known */
	} else if (msg.type == ZCTL_HELLO) {
		CHECK(zctl_decode(&again, out, (size_t)len, &err) == 0);
		CHECK(zctl_encode(out2, size + SPARE, &again) == len && memcmp(out, out2, (size_t)len) == 0);
		zctl_free(&again);
	} else {
		CHECK((size_t)len == size && memcmp(out, data, size) == 0);
		CHECK(zctl_encode(out, size - 1, &msg) < 0);
	}
	free(out);
	free(out2);
	zctl_free(&msg);
	return 0;
}

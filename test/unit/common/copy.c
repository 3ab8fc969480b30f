/* SPDX-License-Identifier: BSD-3-Clause */
/* zcopy: copies as memcpy does, whatever the pieces, and not a byte more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/copy.h"

#define MARGIN 64
#define MOST ((size_t)40000)

static void copies_every_length_at_every_place(void **state)
{
	const size_t lengths[] = {0, 1, 63, 64, 2047, 2048, 2049, 4095, 4096, 4097, 6144, 6145, 32768, MOST - 1, MOST};
	const size_t places[] = {0, 1, 8, 16, 63};
	uint8_t *from = malloc(MOST + MARGIN), *to = malloc(MOST + 2 * MARGIN), *expected = malloc(MOST + 2 * MARGIN);
	(void)state;
	assert_true(from && to && expected);
	for (size_t i = 0; i < MOST + MARGIN; i++)
		from[i] = (uint8_t)(i * 7 + (i >> 8) + (i >> 11));
	for (size_t n = 0; n < sizeof(lengths) / sizeof(*lengths); n++)
		for (size_t f = 0; f < sizeof(places) / sizeof(*places); f++)
			for (size_t t = 0; t < sizeof(places) / sizeof(*places); t++) {
				uint8_t *at = to + MARGIN / 2 + places[t];
				memset(to, 0xee, MOST + 2 * MARGIN);
				memset(expected, 0xee, MOST + 2 * MARGIN);
				memcpy(expected + MARGIN / 2 + places[t], from + places[f], lengths[n]);
				assert_ptr_equal(zcopy(at, from + places[f], lengths[n]), at);
				assert_memory_equal(to, expected, MOST + 2 * MARGIN);
			}
	free(from);
	free(to);
	free(expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(copies_every_length_at_every_place)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

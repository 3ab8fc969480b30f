/* SPDX-License-Identifier: BSD-3-Clause */
/* Tuning tables (common/config/tuning.h): read as a file and as text, and asked about calls of all sizes. */
#include <stdlib.h>
#include <string.h>

#include "common/config/tuning.h"
#include "common/config/tuning_parse.h"
#include "test/fuzz/target.h"

static void ask(const struct ztuning *t)
{
	static const int64_t size[] = {0, 1, 8, 4096, 65536, 1 << 20, INT64_MAX};
	ztuning_digest(t);
	for (int c = 0; c < ZTUNING_COLLECTIVES; c++)
		for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
			const struct ztuning_case k = {.bytes = size[i],
				.ranks = 2 + (int64_t)i,
				.clusters = 2,
				.members = 1,
				.members_max = 1 + (int64_t)i};
			const struct ztuning_settings s = ztuning_choose(t, (enum ztuning_collective)c, &k);
			CHECK(s.depth >= 0 && s.depth <= ZTUNING_DEPTH_MAX && s.segment >= 0 && s.segments >= 0);
			CHECK(s.leaders >= 0 && s.window >= 0 && s.patience >= 0);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ztuning table;
	struct zerr err = {{0}};
	CHECK(ztuning_init(&table, &err) == 0);
	FILE *f = target_stream(data, size);
	if (ztuning_parse(&table, f, "table", &err) == 0)
		ask(&table);
	else
		CHECK(strncmp(err.text, "table:", 6) == 0);
	fclose(f);
	ztuning_free(&table);
	char *text = target_text(data, size);
	CHECK(ztuning_init(&table, &err) == 0);
	if (ztuning_parse_text(&table, text, "text", &err) == 0)
		ask(&table);
	ztuning_free(&table);
	free(text);
	return 0;
}

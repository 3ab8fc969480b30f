/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of key files, and days (common/control/keyfile.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/lines.h"
#include "common/control/keyfile.h"
#include "test/fuzz/target.h"

static int take(void *arg, char *line, int number, struct zerr *err)
{
	struct zkeyfile_key k;
	(void)arg;
	(void)number;
	int rc = zkeyfile_parse(&zauth_module, &k, line, err);
	CHECK(rc <= 1);
	if (rc < 0)
		CHECK(err->text[0]);
	if (rc == 1)
		CHECK(zkeyfile_user_ok(k.user) && strlen(k.user) <= ZCTL_NAME_MAX);
	return 0; /* all lines have their turn */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zerr err = {{0}};
	uint64_t until_s;
	FILE *f = target_stream(data, size);
	zlines_read(f, "keys", take, NULL, &err);
	fclose(f);
	char *day = target_text(data, size);
	if (zkeyfile_parse_day(&until_s, day, &err) == 0)
		CHECK(until_s % 86400 == 0);
	free(day);
	return 0;
}

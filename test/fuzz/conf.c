/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration files (common/config/conf.h), with zipperd's own table and checks: the printed form of settings that
 * are accepted is accepted, too, and is printed the same. */
#include <stdlib.h>
#include <string.h>

#include "test/fuzz/target.h"
#include "zipperd/settings/settings.h"

static char *print(const struct settings *s)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	CHECK(f);
	settings_print(s, f);
	fclose(f);
	CHECK(text && strlen(text) == len);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct settings s, again;
	struct zerr err = {{0}};
	const char *path = target_file(data, size);
	const struct settings_source source = {.path = path};
	int rc = settings_load(&s, &source, &err);
	if (rc == 0) {
		char *text = print(&s);
		rc = settings_load(&again,
			&(struct settings_source){.path = target_file((uint8_t *)text, strlen(text))}, &err);
		if (rc != 0)
			fprintf(stderr, "%s\n%s", err.text, text);
		CHECK(rc == 0);
		char *text2 = print(&again);
		CHECK(strcmp(text, text2) == 0);
		settings_fini(&again);
		free(text);
		free(text2);
	} else {
		CHECK(err.text[0]);
	}
	settings_fini(&s);
	return 0;
}

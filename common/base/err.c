/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of error text for a person, beside a negative errno. */
#include "common/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int zerr_set(struct zerr *err, int code, const char *fmt, ...)
{
	if (err) {
		va_list ap;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return code;
}

/* Text that does not fit is cut. */
static void append(struct zerr *err, size_t len, const char *text)
{
	const char *parts[] = {": ", text};
	for (int i = 0; i < 2; i++) {
		size_t room = sizeof(err->text) - 1 - len, n = strnlen(parts[i], room);
		memcpy(err->text + len, parts[i], n);
		len += n;
	}
	err->text[len] = '\0';
}

int zerr_prefix(struct zerr *err, int code, const char *fmt, ...)
{
	if (err) {
		char old[sizeof(err->text)];
		memcpy(old, err->text, sizeof(old));
		va_list ap;
		va_start(ap, fmt);
		int n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		if (n >= 0 && (size_t)n < sizeof(err->text))
			append(err, (size_t)n, old);
	}
	return code;
}

void zerr_print(const char *fmt, ...)
{
	int saved = errno;
	char line[4096];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(line)) {
		n = sizeof(line) - 1;
		line[n - 1] = '\n';
	}
	if (n > 0)
		fwrite(line, 1, (size_t)n, stderr);
	errno = saved;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of error text for a person, beside a negative errno. */
#include "err.h"

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
			snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", old);
	}
	return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the lines of a check, see report.h. */
#include "common/doctor/report.h"

#include <stdarg.h>
#include <string.h>

#define LINE_BYTES 2048

void zreport_add(struct zreport *r, enum zreport_level level, const char *advice, const char *fmt, ...)
{
	static const char *const words[ZREPORT_LEVELS] = {"ok", "warn", "bad"};
	char text[LINE_BYTES];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';
	fprintf(r->out, "%-4s  %s%s%s\n", words[level], text, advice ? ": " : "", advice ? advice : "");
	fflush(r->out);
	r->count[level]++;
}

int zreport_end(struct zreport *r, const char *well)
{
	const int bad = r->count[ZREPORT_BAD], warn = r->count[ZREPORT_WARN];
	if (bad > 0)
		fprintf(r->out, "A job would not run: %d thing%s to mend.\n", bad, bad == 1 ? "" : "s");
	else if (warn > 0)
		fprintf(r->out, "%s. %d thing%s not as %s should be.\n", well, warn, warn == 1 ? " is" : "s are",
			warn == 1 ? "it" : "they");
	else
		fprintf(r->out, "%s.\n", well);
	return bad > 0;
}

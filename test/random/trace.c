/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums of what was received. See trace.h. */
#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Thread_local struct trace *trace_here;
struct trace *trace_main;
int trace_verbose;

uint64_t trace_hash(const void *bytes, size_t len, uint64_t start)
{
	const unsigned char *p = bytes;
	uint64_t h = start ^ 14695981039346656037u, word;
	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		h = (h ^ word) * 1099511628211u;
		h ^= h >> 29;
	}
	for (; len; p++, len--)
		h = (h ^ *p) * 1099511628211u;
	return h ^ h >> 32;
}

static void entry(const char *what, long long number)
{
	if (trace_verbose)
		printf("%s: %s %lld\n", trace_here->what, what, number);
}

void trace_number(int64_t number, const char *what)
{
	entry(what, number);
	trace_here->hash = trace_hash(&number, sizeof number, trace_here->hash * 3 + 1);
}

/* so many in a line */
#define LINE 32
static void print_bytes(const unsigned char *bytes, size_t at, size_t n, const char *what)
{
	char text[3 * LINE + 1] = "";
	for (size_t i = 0; i < n; i++)
		sprintf(text + 2 * i + i / 4, "%02x%s", bytes[i], i % 4 == 3 ? " " : "");
	printf("%s: %s %6zu  %s\n", trace_here->what, what, at, text);
}

void trace_bytes(const void *bytes, size_t len, const char *what)
{
	uint64_t h = trace_hash(bytes, len, len);
	for (size_t i = 0; trace_verbose > 1 && i < len; i += LINE)
		print_bytes((const unsigned char *)bytes + i, i, len - i < LINE ? len - i : LINE, what);
	trace_number((int64_t)h, what);
}

void trace_loose(uint64_t number, const char *what)
{
	entry(what, (long long)number);
	trace_here->sum += trace_hash(&number, sizeof number, 7);
}

uint64_t trace_value(const struct trace *trace)
{
	return trace_hash(&trace->sum, sizeof trace->sum, trace->hash);
}

void trace_problem(const char *format, ...)
{
	char text[400];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	fprintf(stderr, "%s: %s\n", trace_here->what, text);
	trace_here->problems++;
}

int trace_class(int rc, const char *what)
{
	int class = rc;
	if (rc != MPI_SUCCESS)
		MPI_Error_class(rc, &class);
	trace_number(class, what);
	return class;
}

int trace_try(int rc, const char *call)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int len, class;
	if (rc == MPI_SUCCESS)
		return 0;
	MPI_Error_string(rc, text, &len);
	trace_problem("%.100s: %.250s", call, text);
	class = trace_class(rc, "error");
	return class ? class : MPI_ERR_UNKNOWN;
}

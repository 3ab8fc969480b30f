/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the labels of launchers. See label.h. */
#include "launch/io/label.h"

#include <ctype.h>
#include <string.h>

#define DIGITS_MAX 8

/* Reads a number at *at. False: there is none. */
static bool scan_number(const char *line, size_t len, size_t *at, long *number)
{
	const size_t begin = *at;
	*number = 0;
	for (; *at < len && *at < begin + DIGITS_MAX && isdigit((unsigned char)line[*at]); ++*at)
		*number = *number * 10 + (line[*at] - '0');
	return *at > begin;
}

/* Steps over text. False: something else is there. */
static bool scan_text(const char *line, size_t len, size_t *at, const char *text)
{
	const size_t n = strlen(text);
	if (len - *at < n || memcmp(line + *at, text, n) != 0)
		return false;
	*at += n;
	return true;
}

static size_t scan_ompi(const char *line, size_t len, bool blank, long *lrank)
{
	size_t at = 0;
	long job;
	if (!scan_text(line, len, &at, "[") || !scan_number(line, len, &at, &job) || !scan_text(line, len, &at, ",") ||
		!scan_number(line, len, &at, lrank) || !scan_text(line, len, &at, "]<"))
		return 0;
	if (!scan_text(line, len, &at, "stdout>:") && !scan_text(line, len, &at, "stderr>:"))
		return 0;
	return !blank || scan_text(line, len, &at, " ") ? at : 0;
}

size_t zlabel_scan(enum zlabel kind, const char *line, size_t len, long *lrank)
{
	size_t at = 0;
	if (kind == ZLABEL_OMPI || kind == ZLABEL_OMPI_BLANK)
		return scan_ompi(line, len, kind == ZLABEL_OMPI_BLANK, lrank);
	if (kind == ZLABEL_SRUN)
		while (at < len && at < DIGITS_MAX && line[at] == ' ')
			at++;
	else if (!scan_text(line, len, &at, "["))
		return 0;
	if (!scan_number(line, len, &at, lrank) || !scan_text(line, len, &at, kind == ZLABEL_SRUN ? ": " : "] "))
		return 0;
	return at;
}

bool zlabel_may_go_on(enum zlabel kind, const char *line, size_t len)
{
	if (kind == ZLABEL_SRUN)
		return !memchr(line, ':', len);
	return len == 0 || (*line == '[' && !memchr(line, kind == ZLABEL_OMPI ? ':' : ' ', len));
}

const char *zlabel_skip(const char *line, size_t *len)
{
	static const enum zlabel kinds[] = {ZLABEL_HYDRA, ZLABEL_OMPI_BLANK, ZLABEL_OMPI};
	size_t n = 0;
	long lrank;
	for (size_t i = 0; n == 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		n = zlabel_scan(kinds[i], line, *len, &lrank);
	*len -= n;
	return line + n;
}

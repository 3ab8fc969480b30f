/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognises the help texts of Open MPI's mpirun. See helptext.h. */
#include "launch/io/helptext.h"

#include <string.h>

/* Behind the first line; the longest of these texts has 25. Without its second rule all is shown then. */
#define LINES_MAX 40

static const char rule[] = "--------------------------------------------------------------------------\n";

/* Parts of the first line of a text. mpirun has its own name in front. Since Open MPI 5 that name is prterun. */
static const char *const ends[] = {"MPI_ABORT was invoked on rank ", " has exited due to process rank ",
	" noticed that process rank ", " detected that one or more processes exited with non-zero status",
	"Primary job  terminated normally, but "};
/* mpirun prints these two lines when several ranks abort. */
static const char again[] = " sent help message help-mpi-api.txt / mpi-abort\n", hint[] = "] Set MCA parameter ";

static bool contains_any(const char *line, size_t len, const char *const *what, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memmem(line, len, what[i], strlen(what[i])))
			return true;
	return false;
}

static bool is_rule(const char *line, size_t len)
{
	return len == sizeof(rule) - 1 && memcmp(line, rule, len) == 0;
}

const char *zhelptext_release(struct zhelptext *h)
{
	if (h->state != ZHELPTEXT_RULE)
		return "";
	h->state = ZHELPTEXT_NONE;
	return rule;
}

static bool take_line(struct zhelptext *h, const char *line, size_t len)
{
	if (h->state == ZHELPTEXT_INSIDE) {
		h->state = is_rule(line, len)	    ? ZHELPTEXT_BEHIND
			   : ++h->lines < LINES_MAX ? ZHELPTEXT_INSIDE
						    : ZHELPTEXT_NONE;
		return true;
	}
	if (h->state == ZHELPTEXT_RULE && contains_any(line, len, ends, sizeof(ends) / sizeof(ends[0]))) {
		h->state = ZHELPTEXT_INSIDE;
		h->lines = 0;
		return true;
	}
	return false;
}

/* mpirun of Open MPI 5 prints a zero byte behind a text, which may have been shown. */
static bool begins_with_zero(const struct zhelptext *h, const char *line, size_t len)
{
	return len > 0 && line[0] == '\0' &&
	       (h->state == ZHELPTEXT_BEHIND || h->state == ZHELPTEXT_RULE || is_rule(line + 1, len - 1));
}

/* The lines about other ranks that abort, too. */
static bool is_again(struct zhelptext *h, const char *line, size_t len)
{
	const bool begins = len > 0 && line[0] == '[',
		   again_now = begins && memmem(line, len, again, sizeof(again) - 1),
		   hint_now = begins && h->again && memmem(line, len, hint, sizeof(hint) - 1);
	h->again = again_now;
	return again_now || hint_now;
}

size_t zhelptext_take(struct zhelptext *h, const char *line, size_t len, const char **before)
{
	const size_t zero = begins_with_zero(h, line, len);
	*before = "";
	if (h->state == ZHELPTEXT_BEHIND)
		h->state = ZHELPTEXT_NONE;
	line += zero;
	len -= zero;
	if (take_line(h, line, len))
		return zero + len;
	*before = zhelptext_release(h);
	if (is_rule(line, len)) {
		h->state = ZHELPTEXT_RULE;
		return zero + len;
	}
	return is_again(h, line, len) ? zero + len : zero;
}

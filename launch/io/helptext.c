/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognises the help texts of Open MPI's mpirun. See helptext.h. */
#include "launch/io/helptext.h"

#include <string.h>

#define LINES_MAX 40 /* the longest of these texts has 25: behind a lost rule all is shown again */

static const char rule[] = "--------------------------------------------------------------------------\n";

/* Parts of the first line of a text. mpirun has its own name in front, which is prterun since Open MPI 5. */
static const char *const ends[] = {"MPI_ABORT was invoked on rank ", " has exited due to process rank ",
	" noticed that process rank ", " detected that one or more processes exited with non-zero status",
	"Primary job  terminated normally, but "};
/* Of lines about texts that other ranks have sent, too. */
static const char *const repeats[] = {" sent help message help-", "base_help_aggregate\" to 0 to see all help"};

static bool contains_any(const char *line, size_t len, const char *const *what, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memmem(line, len, what[i], strlen(what[i])))
			return true;
	return false;
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
	const bool is_rule = len == sizeof(rule) - 1 && memcmp(line, rule, len) == 0;
	if (h->state == ZHELPTEXT_INSIDE) {
		h->state = is_rule ? ZHELPTEXT_BEHIND : ++h->lines < LINES_MAX ? ZHELPTEXT_INSIDE : ZHELPTEXT_NONE;
		return true;
	}
	if (h->state == ZHELPTEXT_RULE && contains_any(line, len, ends, sizeof(ends) / sizeof(ends[0]))) {
		h->state = ZHELPTEXT_INSIDE;
		h->lines = 0;
		return true;
	}
	return false;
}

size_t zhelptext_take(struct zhelptext *h, const char *line, size_t len, const char **before)
{
	const size_t zero = h->state == ZHELPTEXT_BEHIND && len > 0 && line[0] == '\0';
	*before = "";
	if (h->state == ZHELPTEXT_BEHIND)
		h->state = ZHELPTEXT_NONE;
	line += zero;
	len -= zero;
	if (take_line(h, line, len))
		return zero + len;
	*before = zhelptext_release(h);
	if (len == sizeof(rule) - 1 && memcmp(line, rule, len) == 0) {
		h->state = ZHELPTEXT_RULE;
		return zero + len;
	}
	const bool repeated = len > 0 && line[0] == '[' && line[len - 1] == '\n' &&
			      contains_any(line, len, repeats, sizeof(repeats) / sizeof(repeats[0]));
	return repeated ? zero + len : zero;
}

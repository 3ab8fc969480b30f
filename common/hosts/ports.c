/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports to text and back, see ports.h. */
#include "common/control/ctl_name.h"
#include "common/hosts/ports.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\n";

static int add_port(struct zports *p, char *word, struct zerr *err)
{
	char *address = strchr(word, '=');
	if (!address)
		return zerr_set(err, -EINVAL, "'%.64s' is not of the form FABRIC=ADDRESS", word);
	*address++ = '\0';
	if (!zctl_name_ok(word))
		return zerr_set(err, -EINVAL, "'%.80s' is no name of a fabric", word);
	for (int i = 0; i < p->n; i++)
		if (strcmp(p->port[i].fabric, word) == 0)
			return zerr_set(err, -EINVAL, "fabric %s is given twice", word);
	if (p->n == ZCTL_PARTS_MAX)
		return zerr_set(err, -EINVAL, "more than %d fabrics", ZCTL_PARTS_MAX);
	strcpy(p->port[p->n].fabric, word);
	int rc = zaddr_parse(&p->port[p->n].addr, address, err);
	if (rc == 0 && p->port[p->n].addr.seal)
		rc = zerr_set(err, -EINVAL, "fabric %s: integrity and encrypt are words for addresses of zipperds",
			word);
	if (rc == 0)
		p->n++;
	return rc;
}

/* Reads one port. Modifies the text. */
static int parse_words(struct zports *p, char *text, struct zerr *err)
{
	char *rest;
	int rc = 0;
	p->n = 0;
	for (char *word = strtok_r(text, blanks, &rest); rc == 0 && word; word = strtok_r(NULL, blanks, &rest))
		rc = add_port(p, word, err);
	return rc;
}

int zports_parse(struct zports *p, const char *text, struct zerr *err)
{
	char *copy = strdup(text);
	int rc = copy ? parse_words(p, copy, err) : zerr_set(err, -ENOMEM, "out of memory");
	free(copy);
	return rc;
}

/* Reads "3 ", "3-5 ", or nothing; *text moves behind it. */
static int scan_ranks(char **text, uint32_t lrank, bool *ours, struct zerr *err)
{
	char *p = *text + strspn(*text, blanks), *end;
	*text = p;
	*ours = true;
	if (!isdigit((unsigned char)*p))
		return 0;
	unsigned long first = strtoul(p, &end, 10), last = first;
	if (*end == '-' && isdigit((unsigned char)end[1]))
		last = strtoul(end + 1, &end, 10);
	if (last < first || last >= ZCTL_RANKS_MAX || !*end || !strchr(blanks, *end))
		return zerr_set(err, -EINVAL, "'%.32s' does not begin with a rank or range of ranks", p);
	*ours = lrank >= first && lrank <= last;
	*text = end;
	return 0;
}

int zports_find(struct zports *p, const char *text, uint32_t lrank, struct zerr *err)
{
	char *copy = strdup(text), *rest;
	int rc = copy ? 0 : zerr_set(err, -ENOMEM, "out of memory");
	bool found = false;
	p->n = 0;
	for (char *clause = copy ? strtok_r(copy, ";", &rest) : NULL; rc == 0 && !found && clause;
		clause = strtok_r(NULL, ";", &rest)) {
		rc = scan_ranks(&clause, lrank, &found, err);
		if (rc == 0 && found)
			rc = parse_words(p, clause, err);
	}
	free(copy);
	return rc;
}

int zports_format(const struct zports *p, char *buf, size_t cap)
{
	size_t len = 0;
	buf[0] = '\0';
	for (int i = 0; i < p->n; i++) {
		char text[320];
		zaddr_format(&p->port[i].addr, text, sizeof(text));
		int n = snprintf(buf + len, cap - len, "%s%s=%s", len ? " " : "", p->port[i].fabric, text);
		if (n < 0 || (size_t)n >= cap - len)
			return -EMSGSIZE;
		len += (size_t)n;
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the rows of a picture from outcomes, or reads them from CSV. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/lines.h"
#include "mapper/draw/plot.h"

#define COLUMNS_MAX (64 + LINK_STATS_BINS_MAX)

static struct plot_row *row_new(struct plot *p)
{
	if (p->n == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 64;
		struct plot_row *rows = realloc(p->rows, cap * sizeof(*rows));

		if (!rows)
			return NULL;
		p->rows = rows;
		p->cap = cap;
	}
	memset(&p->rows[p->n], 0, sizeof(p->rows[p->n]));
	return &p->rows[p->n++];
}

int plot_add(struct plot *p, const struct outcome *o)
{
	for (int k = 0; k < LINK_STATS_KINDS; k++) {
		const struct link_stats *s = &o->stats[k];
		struct plot_row *r;

		if (!s->count)
			continue;
		r = row_new(p);
		if (!r)
			return -ENOMEM;
		snprintf(r->placement, sizeof(r->placement), "%s", o->placement);
		snprintf(r->routing, sizeof(r->routing), "%s", o->routing);
		snprintf(r->links, sizeof(r->links), "%s", link_stats_kinds[k].name);
		r->min = s->min;
		r->q1 = s->q1;
		r->median = s->median;
		r->average = s->mean;
		r->q3 = s->q3;
		r->max = s->max;
		r->bin = malloc(s->bins * sizeof(*r->bin));
		if (!r->bin)
			return -ENOMEM;
		r->bins = s->bins;
		for (unsigned i = 0; i < s->bins; i++)
			r->bin[i] = (double)s->bin[i];
	}
	return 0;
}

void plot_free(struct plot *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->rows[i].bin);
	free(p->rows);
	memset(p, 0, sizeof(*p));
}

/* --- from CSV --- */

struct reader {
	FILE *f;
	char *text, *line; /* a record, without its end; one line of the file */
	size_t text_cap, line_cap;
	unsigned first, lines; /* line of the file where the record begins; lines read so far */
};

static int record_append(struct reader *r, size_t used, size_t len)
{
	if (used + len + 1 > r->text_cap) {
		size_t cap = 2 * (used + len + 1);
		char *more = realloc(r->text, cap);

		if (!more)
			return -ENOMEM;
		r->text = more;
		r->text_cap = cap;
	}
	memcpy(r->text + used, r->line, len + 1);
	return 0;
}

/* Reads the next record: a line, and the following ones as long as a quote is open. 0, 1 at the end, -ENOMEM. */
static int record_read(struct reader *r)
{
	size_t used = 0;
	bool open = false;
	ssize_t len;

	r->first = r->lines + 1;
	while ((len = getline(&r->line, &r->line_cap, r->f)) > 0) {
		r->lines++;
		if (record_append(r, used, (size_t)len))
			return -ENOMEM;
		used += (size_t)len;
		for (const char *at = r->line; *at; at++)
			open ^= *at == '"';
		if (!open)
			break;
	}
	while (used && strchr("\r\n", r->text[used - 1]))
		r->text[--used] = '\0';
	return r->lines < r->first;
}

/* Cuts a record into fields in place, and takes quotes off. Returns their number; 0 if it is no CSV. */
static size_t fields_cut(char *line, char **field)
{
	size_t n = 0;
	char *to = line;

	for (char *at = line; n < COLUMNS_MAX; at++) {
		field[n++] = to;
		if (*at == '"') {
			for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
				at += *at == '"';
				*to++ = *at;
			}
			if (*at++ != '"')
				return 0;
		} else {
			while (*at && *at != ',')
				*to++ = *at++;
		}
		if (*at && *at != ',')
			return 0;
		if (!*at) {
			*to = '\0';
			return n;
		}
		*to++ = '\0';
	}
	return 0;
}

/* The columns that are drawn. */
struct columns {
	size_t n, placement, routing, links, first; /* first: min, followed by q1, median, average, q3, max */
	size_t bin0, bins;
};

static int column_find(char **field, size_t n, const char *name, size_t *at)
{
	for (*at = 0; *at < n; ++*at)
		if (!strcmp(field[*at], name))
			return 0;
	return -EINVAL;
}

static int columns_find(struct columns *c, char **field, size_t n)
{
	*c = (struct columns){.n = n};
	if (column_find(field, n, "placement", &c->placement) || column_find(field, n, "routing", &c->routing) ||
		column_find(field, n, "links", &c->links) || column_find(field, n, "min", &c->first) ||
		c->first + 6 > n || strcmp(field[c->first + 5], "max"))
		return -EINVAL;
	if (!column_find(field, n, "bin0", &c->bin0))
		c->bins = n - c->bin0;
	return 0;
}

static int number_parse(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end == text || *end || !(*out >= 0) || !isfinite(*out) ? -EINVAL : 0;
}

static int row_parse(struct plot *p, const struct columns *c, char **field)
{
	struct plot_row *r = row_new(p);
	double *value[] = {&r->min, &r->q1, &r->median, &r->average, &r->q3, &r->max};

	if (!r)
		return -ENOMEM;
	snprintf(r->placement, sizeof(r->placement), "%s", field[c->placement]);
	snprintf(r->routing, sizeof(r->routing), "%s", field[c->routing]);
	snprintf(r->links, sizeof(r->links), "%s", field[c->links]);
	for (size_t i = 0; i < 6; i++)
		if (number_parse(field[c->first + i], value[i]))
			return -EINVAL;
	r->bin = malloc((c->bins ? c->bins : 1) * sizeof(*r->bin));
	if (!r->bin)
		return -ENOMEM;
	for (size_t i = 0; i < c->bins; i++)
		if (number_parse(field[c->bin0 + i], &r->bin[i]))
			return -EINVAL;
	r->bins = (unsigned)c->bins;
	return 0;
}

int plot_read(struct plot *p, const char *path, struct zerr *err)
{
	struct reader r = {.f = fopen(path, "r")};
	char **field = calloc(COLUMNS_MAX, sizeof(*field));
	struct columns c = {0};
	int rc = 0;

	if (!r.f || !field) {
		rc = zerr_set(err, r.f ? -ENOMEM : -errno, "%s: %s", path, strerror(r.f ? ENOMEM : errno));
		goto out;
	}
	while (!rc && !(rc = record_read(&r))) {
		size_t n = fields_cut(r.first == 1 ? zlines_skip_mark(r.text) : r.text, field);

		if (r.first == 1 || !strcmp(field[0], "network")) /* several files may have been put together */
			rc = n ? columns_find(&c, field, n) : -EINVAL;
		else
			rc = n == c.n ? row_parse(p, &c, field) : -EINVAL;
	}
	if (rc == -EINVAL)
		zerr_set(err, rc, "%s:%u: not a line of \"zipmap model --csv\"", path, r.first);
	else if (rc < 0)
		zerr_set(err, rc, "%s: %s", path, strerror(-rc));
	else
		rc = ferror(r.f) || !r.lines ? zerr_set(err, -EIO, "%s: cannot be read, or empty", path) : 0;
out:
	if (r.f)
		fclose(r.f);
	free(r.line);
	free(r.text);
	free(field);
	return rc;
}

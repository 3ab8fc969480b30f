/* SPDX-License-Identifier: BSD-3-Clause */
/* See sheet.h. */
#include "zipbench/endpoints/sheet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/endpoint/ep_set.h"
#include "zipbench/base/sort.h"
#include "common/endpoint/uarmodel.h"

struct sheet_row *sheet_add(struct sheet *s, const char *group, const char *line, const char *x)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct sheet_row *row = realloc(s->row, cap * sizeof(*row));
		if (!row)
			return NULL;
		s->row = row;
		s->cap = cap;
	}
	struct sheet_row *r = &s->row[s->n];
	memset(r, 0, sizeof(*r));
	snprintf(r->group, sizeof(r->group), "%s", group);
	snprintf(r->line, sizeof(r->line), "%s", line);
	snprintf(r->x, sizeof(r->x), "%s", x);
	r->rate = calloc(2 * s->rounds, sizeof(*r->rate));
	if (!r->rate)
		return NULL;
	r->seconds = r->rate + s->rounds;
	s->n++;
	return r;
}

void sheet_note(struct sheet_row *r, uint64_t messages, double rate, double seconds)
{
	r->messages = messages;
	r->rate[r->rounds] = rate;
	r->seconds[r->rounds++] = seconds;
}

static double median(const double *v, unsigned n)
{
	double sorted[SHEET_ROUNDS_MAX];
	if (n == 0)
		return 0;
	memcpy(sorted, v, n * sizeof(*v));
	sort_samples(sorted, n);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double sheet_rate(const struct sheet_row *r)
{
	return median(r->rate, r->rounds);
}

int sheet_predict(struct sheet_row *r, const struct zep_plan *plan, unsigned processes, struct zerr *err)
{
	zaccount_init(&r->account);
	for (unsigned i = 0; i < processes; i++) {
		struct uarmodel model;
		struct zep_set set;
		int rc = uarmodel_init(&model, getenv("MLX5_TOTAL_UUARS"), getenv("MLX5_NUM_LOW_LAT_UUARS"), err);
		if (rc == 0)
			rc = zep_set_build(&set, plan, &uarmodel_ops, &model, NULL, err);
		if (rc < 0)
			return rc;
		rc = zaccount_add(&r->account, &set);
		zep_set_destroy(&set);
		if (rc < 0)
			return zerr_set(err, rc, "out of memory");
	}
	return 0;
}

int sheet_write(const struct sheet *s, const char *path, struct zerr *err)
{
	FILE *f = path ? fopen(path, "we") : stdout;
	if (!f)
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	fputs("sweep,line,x,processes,threads,size,messages,seconds,messages_per_s,qps,cqs,uars,uuars,uuars_used,"
	      "bytes\n",
		f);
	for (size_t i = 0; i < s->n; i++) {
		const struct sheet_row *r = &s->row[i];
		const struct zaccount *a = &r->account;
		fprintf(f, "%s,%s,%s,%u,%u,%u,%" PRIu64 ",%.6g,%.6g", r->group, r->line, r->x, r->processes, r->threads,
			r->size, r->messages, median(r->seconds, r->rounds), sheet_rate(r));
		fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
			a->objects[ZEP_QP], a->objects[ZEP_CQ], a->pages, a->uuars, a->used_uuars, a->bytes);
	}
	bool bad = fflush(f) != 0 || ferror(f);
	if (path)
		bad = fclose(f) != 0 || bad;
	return bad ? zerr_set(err, -EIO, "%s: cannot be written", path ? path : "standard output") : 0;
}

/* Does the line take another number of uUARs anywhere than the first line? */
static bool has_own_uuars(const struct sheet *s, const char *group, const char *line, const char *first)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t j = 0; j < s->n; j++) {
			const struct sheet_row *a = &s->row[i], *b = &s->row[j];
			if (strcmp(a->group, group) == 0 && strcmp(b->group, group) == 0 && strcmp(a->x, b->x) == 0 &&
				strcmp(a->line, line) == 0 && strcmp(b->line, first) == 0 &&
				a->account.uuars != b->account.uuars)
				return true;
		}
	return false;
}

int sheet_draw(const struct sheet *s, const char *group, const char *base, const char *title, bool bars,
	struct zerr *err)
{
	struct figure_panel p[2];
	const char *first = NULL;
	char path[4096], name[FIGURE_NAME_MAX];
	figure_panel_init(&p[0], "Message rate", title, "million messages/s");
	figure_panel_init(&p[1], "Resources on mlx5", title, "number");
	p[0].bars = p[1].bars = bars;
	p[1].log = true;
	p[1].low = 0.5;
	for (size_t i = 0; i < s->n; i++) {
		const struct sheet_row *r = &s->row[i];
		if (strcmp(r->group, group) != 0)
			continue;
		figure_put(&p[0], r->line, r->x, sheet_rate(r) / 1e6);
		first = first ? first : r->line;
		if (strcmp(first, r->line) != 0) {
			snprintf(name, sizeof(name), "uUARs, %.32s", r->line);
			if (has_own_uuars(s, group, r->line, first))
				figure_put(&p[1], name, r->x, (double)r->account.uuars);
			continue;
		}
		figure_put(&p[1], "QPs", r->x, (double)r->account.objects[ZEP_QP]);
		figure_put(&p[1], "CQs", r->x, (double)r->account.objects[ZEP_CQ]);
		figure_put(&p[1], "UARs", r->x, (double)r->account.pages);
		figure_put(&p[1], "uUARs", r->x, (double)r->account.uuars);
	}
	snprintf(path, sizeof(path), "%s-%s", base, group);
	return figure_draw(path, p, 2, err);
}

void sheet_free(struct sheet *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->row[i].rate);
	free(s->row);
	*s = (struct sheet){.n = 0};
}

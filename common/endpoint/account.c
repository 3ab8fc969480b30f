/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the resources that endpoints take, see account.h. */
#include "common/endpoint/account.h"
#include "common/endpoint/ep_set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct zep_place *x = a, *y = b;
	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return x->uuar < y->uuar ? -1 : x->uuar > y->uuar;
}

/* The places from..to - 1 of the sorted list, which lie on one page. */
static void count_page(struct zaccount *a, const struct zep_place *place, size_t from, size_t to)
{
	a->used_pages++;
	for (size_t i = from, next; i < to; i = next) {
		for (next = i + 1; next < to && place[next].uuar == place[i].uuar; next++)
			;
		a->used_uuars++;
		if (next - i > 1)
			a->level[ZACCOUNT_UUAR_SHARED] += next - i;
		else
			a->level[to - from > 1 ? ZACCOUNT_PAGE_SHARED : ZACCOUNT_PAGE_ALONE]++;
	}
}

static int count_places(struct zaccount *a, const struct zep_set *s)
{
	const size_t n = zep_set_used_qps(s);
	struct zep_place *place = calloc(n + 1, sizeof(*place));
	if (!place)
		return -ENOMEM;
	for (size_t i = 0; i < n && a->knows_used; i++)
		a->knows_used = s->kept.ops->locate(s->kept.to, zep_set_used_qp(s, i), &place[i]) == 0;
	if (a->knows_used) {
		struct zaccount here = {.pages = 0};
		qsort(place, n, sizeof(*place), compare);
		for (size_t i = 0, next; i < n; i = next) {
			for (next = i + 1; next < n && place[next].page == place[i].page; next++)
				;
			count_page(&here, place, i, next);
		}
		a->used_pages += here.used_pages;
		a->used_uuars += here.used_uuars;
		for (int l = 0; l < ZACCOUNT_LEVELS && s->plan.qp_ways == 1; l++)
			a->level[l] += here.level[l];
		if (s->plan.qp_ways > 1)
			a->level[ZACCOUNT_QP_SHARED] += n;
	}
	free(place);
	return 0;
}

void zaccount_init(struct zaccount *a)
{
	*a = (struct zaccount){.knows_used = true, .knows_allotted = true, .knows_bytes = true};
}

int zaccount_add(struct zaccount *a, const struct zep_set *s)
{
	uint64_t pages = 0, uuars = 0, bytes = 0;
	for (int k = 0; k < ZEP_KINDS; k++)
		a->objects[k] += s->kept.objects[k].n;
	a->knows_allotted = a->knows_allotted && s->kept.ops->allocated(s->kept.to, &pages, &uuars) == 0;
	a->knows_bytes = a->knows_bytes && s->kept.ops->bytes(s->kept.to, &bytes) == 0;
	a->pages += pages;
	a->uuars += uuars;
	a->bytes += bytes;
	return count_places(a, s);
}

uint64_t zaccount_wasted(const struct zaccount *a)
{
	return a->knows_allotted && a->knows_used && a->uuars > a->used_uuars ? a->uuars - a->used_uuars : 0;
}

/* --- printing */
enum { NAME_WIDTH = 16 };
static const struct {
	const char *head, *name; /* in the table; in the CSV file */
	int width;
} columns[] = {
	{"CTXs", "contexts", 5},
	{"PDs", "pds", 5},
	{"TDs", "tds", 5},
	{"MRs", "mrs", 5},
	{"CQs", "cqs", 5},
	{"QPs", "qps", 5},
	{"bytes", "bytes", 12},
	{"UARs", "uars", 7},
	{"used", "uars_used", 5},
	{"uUARs", "uuars", 7},
	{"used", "uuars_used", 5},
	{"wasted", "uuars_wasted", 7},
	{"", "waste_percent", 7},
	{"of all", "uuars_percent", 8},
	{"alone", "qps_alone", 7},
	{"page", "qps_page_shared", 5},
	{"uUAR", "qps_uuar_shared", 5},
	{"QP", "qps_shared", 4},
};

void zaccount_print_head(FILE *out, bool csv)
{
	if (csv)
		fprintf(out, "category");
	else
		fprintf(out, "%-*s", NAME_WIDTH, "");
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		csv ? fprintf(out, ",%s", columns[i].name) : fprintf(out, "%*s", columns[i].width, columns[i].head);
	fputc('\n', out);
}

struct line {
	FILE *out;
	bool csv;
	int column;
};

static void put_text(struct line *l, const char *text)
{
	if (l->csv)
		fprintf(l->out, ",%s", text);
	else
		fprintf(l->out, " %*s", columns[l->column].width - 1, *text ? text : "-");
	l->column++;
}

static void put(struct line *l, bool known, uint64_t n)
{
	char text[24] = "";
	if (known)
		snprintf(text, sizeof(text), "%" PRIu64, n);
	put_text(l, text);
}

static void put_share(struct line *l, bool known, uint64_t n, uint64_t of)
{
	char text[24] = "";
	if (known && of)
		snprintf(text, sizeof(text), l->csv ? "%.4g" : "%.4g%%", 100.0 * (double)n / (double)of);
	put_text(l, text);
}

void zaccount_print(FILE *out, bool csv, const char *name, const struct zaccount *a, const struct zaccount *whole)
{
	static const enum zep_kind order[] = {ZEP_CTX, ZEP_PD, ZEP_TD, ZEP_MR, ZEP_CQ, ZEP_QP};
	struct line l = {.out = out, .csv = csv};
	const bool both = a->knows_used && a->knows_allotted;
	fprintf(out, "%-*s", csv ? 0 : NAME_WIDTH, name);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		put(&l, true, a->objects[order[i]]);
	put(&l, a->knows_bytes, a->bytes);
	put(&l, a->knows_allotted, a->pages);
	put(&l, a->knows_used, a->used_pages);
	put(&l, a->knows_allotted, a->uuars);
	put(&l, a->knows_used, a->used_uuars);
	put(&l, both, zaccount_wasted(a));
	put_share(&l, both, zaccount_wasted(a), a->uuars);
	put_share(&l, whole && a->knows_allotted && whole->knows_allotted, a->uuars, whole ? whole->uuars : 0);
	for (int i = 0; i < ZACCOUNT_LEVELS; i++)
		put(&l, a->knows_used, a->level[i]);
	fputc('\n', out);
}

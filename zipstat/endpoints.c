/* SPDX-License-Identifier: BSD-3-Clause */
/* The account of the endpoint categories, and of the naive one they improve on; see endpoints.h. */
#include "zipstat/endpoints.h"

#include <errno.h>
#include <stdlib.h>

#include "zipstat/device.h"
#include "common/endpoint/account.h"
#include "common/endpoint/uarmodel.h"
#include "common/endpoint/ep_category.h"
#include "common/endpoint/ep_set.h"

/* NAIVE is no category: the paper begins with it. Each thread has a context, and in it queue pairs with thread domains.
 */
enum { NAIVE = ZEP_CATEGORIES, ROWS };

static const char *name_of(int row)
{
	return row == NAIVE ? "naive" : zep_category_names[row];
}

static struct zep_plan plan_of(const struct endpoints_options *o, int row)
{
	struct zep_plan plan = zep_category_plan(row == NAIVE ? ZEP_DYNAMIC : (enum zep_category)row, o->threads);
	if (row == NAIVE)
		plan.ctx_ways = plan.pd_ways = 1;
	plan.paths = o->paths;
	return plan;
}

static int predict(const struct endpoints_options *o, int row, struct zaccount *a, struct zerr *err)
{
	struct zep_plan plan = plan_of(o, row);
	struct uarmodel model;
	struct zep_set set;
	zaccount_init(a);
	int rc = uarmodel_init(&model, getenv("MLX5_TOTAL_UUARS"), getenv("MLX5_NUM_LOW_LAT_UUARS"), err);
	if (rc == 0)
		rc = zep_set_build(&set, &plan, &uarmodel_ops, &model, name_of(row), err);
	if (rc < 0)
		return zerr_prefix(err, rc, "%s", name_of(row));
	rc = zaccount_add(a, &set);
	zep_set_destroy(&set);
	return rc < 0 ? zerr_set(err, rc, "out of memory") : 0;
}

static int measure(const struct endpoints_options *o, int row, struct zaccount *a, struct zerr *err)
{
	struct zep_plan plan = plan_of(o, row);
	char who[96];
	snprintf(who, sizeof(who), "%.60s, %s", o->device, name_of(row));
	return device_account(a, &plan, o->device, who, err);
}

static void print_title(const struct endpoints_options *o, FILE *out)
{
	fprintf(out, "%s %s: %u thread%s with %u queue pair%s each.\n\n", o->device ? "Built on" : "Predicted for",
		o->device ? o->device : "mlx5 devices", o->threads, o->threads == 1 ? "" : "s", o->paths,
		o->paths == 1 ? "" : "s");
}

/* A category that does not fit on the device does not keep the others out: the table tells the reason. A CSV file lacks
 * the line, and then that is the error. */
int endpoints_print(const struct endpoints_options *o, FILE *out, struct zerr *err)
{
	int (*account)(const struct endpoints_options *, int row, struct zaccount *, struct zerr *) =
		o->device ? measure : predict;
	struct zaccount whole, a;
	struct zerr why[ROWS];
	const bool compares = account(o, ZEP_MPI_EVERYWHERE, &whole, &why[0]) == 0;
	int printed = 0, failed = 0, first = 0;
	for (int row = 0; row < ROWS; row++) {
		why[failed].text[0] = '\0';
		if (o->category >= 0 && o->category != row)
			continue;
		int rc = account(o, row, &a, &why[failed]);
		if (rc < 0) {
			first = failed++ == 0 ? rc : first;
			continue;
		}
		if (printed == 0 && !o->csv)
			print_title(o, out);
		if (printed++ == 0)
			zaccount_print_head(out, o->csv);
		zaccount_print(out, o->csv, name_of(row), &a, compares ? &whole : NULL);
	}
	if (failed > 0 && (printed == 0 || o->csv))
		return zerr_set(err, first, "%s", why[0].text);
	for (int i = 0; i < failed; i++)
		fprintf(out, "%s%s\n", i == 0 ? "\n" : "", why[i].text);
	return 0;
}

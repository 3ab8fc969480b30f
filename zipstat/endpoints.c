/* SPDX-License-Identifier: BSD-3-Clause */
/* The account of the endpoint categories, see endpoints.h. */
#include "endpoints.h"

#include <errno.h>
#include <stdlib.h>

#include "device.h"
#include "verbs/account.h"
#include "verbs/uarmodel.h"

static int predict(const struct endpoints_options *o, enum zep_category c, struct zaccount *a, struct zerr *err)
{
	struct zep_plan plan = zep_plan_category(c, o->threads);
	struct uarmodel model;
	struct zep_set set;
	plan.paths = o->paths;
	zaccount_init(a);
	int rc = uarmodel_init(&model, getenv("MLX5_TOTAL_UUARS"), getenv("MLX5_NUM_LOW_LAT_UUARS"), err);
	if (rc == 0)
		rc = zep_build(&set, &plan, &uarmodel_ops, &model, zep_category_names[c], err);
	if (rc < 0)
		return zerr_prefix(err, rc, "%s", zep_category_names[c]);
	rc = zaccount_add(a, &set);
	zep_destroy(&set);
	return rc < 0 ? zerr_set(err, rc, "out of memory") : 0;
}

static int measure(const struct endpoints_options *o, enum zep_category c, struct zaccount *a, struct zerr *err)
{
	struct zep_plan plan = zep_plan_category(c, o->threads);
	char who[96];
	plan.paths = o->paths;
	snprintf(who, sizeof(who), "%.60s, %s", o->device, zep_category_names[c]);
	return device_account(a, &plan, o->device, who, err);
}

static void print_title(const struct endpoints_options *o, FILE *out)
{
	fprintf(out, "%s %s: %u thread%s with %u queue pair%s each.\n\n", o->device ? "Built on" : "Predicted for",
		o->device ? o->device : "mlx5 devices", o->threads, o->threads == 1 ? "" : "s", o->paths,
		o->paths == 1 ? "" : "s");
}

int endpoints_print(const struct endpoints_options *o, FILE *out, struct zerr *err)
{
	int (*account)(const struct endpoints_options *, enum zep_category, struct zaccount *, struct zerr *) =
		o->device ? measure : predict;
	struct zaccount first, a;
	int rc = account(o, ZEP_MPI_EVERYWHERE, &first, err);
	if (rc == 0 && !o->csv)
		print_title(o, out);
	if (rc == 0)
		zaccount_print_head(out, o->csv);
	for (int c = 0; c < ZEP_CATEGORIES && rc == 0; c++) {
		if (o->category >= 0 && o->category != c)
			continue;
		rc = account(o, (enum zep_category)c, &a, err);
		if (rc == 0)
			zaccount_print(out, o->csv, zep_category_names[c], &a, &first);
	}
	return rc;
}

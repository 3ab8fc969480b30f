/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's tuning table. */
#include "libzip/coll/base/tune.h"

#include "common/config/tuning_parse.h"

static struct ztuning table;

int ztune_init(const char *file, const char *rules, struct zerr *err)
{
	int rc = ztuning_init(&table, err);
	if (rc == 0 && file && *file) {
		rc = ztuning_parse_file(&table, file, err);
		if (rc != 0)
			zerr_prefix(err, rc, "ZIPPER_TUNING");
	}
	if (rc == 0 && rules)
		rc = ztuning_parse_text(&table, rules, "ZIPPER_TUNE", err);
	return rc;
}

void ztune_fini(void)
{
	ztuning_free(&table);
}

uint64_t ztune_digest(void)
{
	return ztuning_digest(&table);
}

struct ztuning_settings ztune_choose(const struct zcomm *c, enum ztuning_collective collective, MPI_Count bytes)
{
	return ztuning_choose(&table, collective,
		&(struct ztuning_case){.bytes = bytes,
			.ranks = c->size,
			.clusters = c->nparts,
			.members = c->members_min,
			.members_max = c->members_max});
}

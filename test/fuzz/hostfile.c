/* SPDX-License-Identifier: BSD-3-Clause */
/* Zipper hostfiles, questions about them, and the ways of a job over their zippers (common/hosts/). */
#include <stdlib.h>
#include <string.h>

#include "common/hosts/hostfile.h"
#include "common/hosts/hostfile_find.h"
#include "common/hosts/hostways.h"
#include "test/fuzz/target.h"

static void look(const struct zhostfile *f)
{
	for (int c = 0; c < f->nclusters; c++) {
		CHECK(zhostfile_find_cluster(f, f->clusters[c].name) == c);
		for (int i = 0; i < f->clusters[c].nhosts; i++) {
			CHECK(zhostfile_find_host(f, f->clusters[c].hosts[i].name) >= 0);
			CHECK(f->clusters[c].hosts[i].node < f->nnodes);
		}
	}
	for (int z = 0; z < f->nzippers; z++) {
		CHECK(zhostfile_find_zipper(f, f->zippers[z].host) >= 0);
		zhostfile_find_joining(f, zhostfile_find_clusters(f, z), 0);
		for (int p = 0; p < f->zippers[z].nports; p++)
			CHECK(zhostfile_find_port(f, z, f->zippers[z].ports[p].fabric));
	}
}

static void ways(const struct zhostfile *f)
{
	static char parts[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	char entries[ZCTL_ENTRIES_MAX];
	struct zhostways w;
	struct zerr err = {{0}};
	int n = f->nclusters < ZCTL_PARTS_MAX ? f->nclusters : ZCTL_PARTS_MAX;
	for (int i = 0; i < n; i++)
		snprintf(parts[i], sizeof(parts[i]), "%.*s", ZCTL_NAME_MAX, f->clusters[i].name);
	if (n < 2)
		return;
	if (zhostways_find(&w, f, parts, n, ZCTL_RAILS_MAX, NULL, &err) != 0) {
		CHECK(err.text[0]);
		return;
	}
	CHECK(w.nzippers > 0 && w.nzippers <= ZCTL_RAILS_MAX);
	for (int r = 0; r < w.nzippers; r++)
		zhostways_entries(&w, r, entries, &err);
	zhostways_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zhostfile file;
	struct zerr err = {{0}};
	FILE *f = target_stream(data, size);
	if (zhostfile_parse(&file, f, "hosts", &err) == 0) {
		look(&file);
		ways(&file);
		zhostfile_free(&file);
	} else {
		CHECK(strncmp(err.text, "hosts:", 6) == 0);
	}
	fclose(f);
	return 0;
}

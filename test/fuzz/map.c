/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement maps, and their places in a hostfile (common/hosts/map.h). */
#include <stdlib.h>
#include <string.h>

#include "common/control/ctl.h"
#include "common/hosts/map.h"
#include "test/fuzz/target.h"

static const char hosts_text[] = "#ZIP cluster a\nn0:4\nn1:4\nz0:2\n#ZIP cluster b\nm0:4\nm1:100\n"
				 "#ZIP zipper z0 a=tcp:10.0.0.1:1 b=tcp:10.0.0.2:1\n";

static void look(const struct zmap *m)
{
	static struct zhostfile hosts;
	struct zerr err = {{0}};
	char cpus[64];
	CHECK(m->nranks > 0 && m->nranks <= ZCTL_RANKS_MAX);
	for (uint32_t i = 0; i < m->nranks; i++) {
		const struct zmap_place *p = &m->places[i];
		CHECK(p->node < m->nnames && (p->cluster == ZMAP_NONE || p->cluster < m->nnames));
		CHECK(p->cpus == ZMAP_NONE || p->cpus < m->nnames);
		if (p->cpus != ZMAP_NONE && i < 64)
			CHECK(zmap_format_cpus(m->names[p->cpus], cpus, sizeof(cpus)) > 0);
	}
	for (uint32_t i = 0; i < m->nkept; i++)
		CHECK(zmap_find_kept(m, m->names[m->kept[i].node]));
	if (!hosts.path) {
		FILE *f = target_stream((const uint8_t *)hosts_text, sizeof(hosts_text) - 1);
		CHECK(zhostfile_parse(&hosts, f, "hosts", &err) == 0);
		fclose(f);
	}
	struct zmap_target *to = calloc(m->nranks, sizeof(*to));
	CHECK(to);
	if (zmap_resolve(m, &hosts, m->nranks % 2, to, &err) == 0)
		for (uint32_t i = 0; i < m->nranks; i++)
			CHECK(to[i].cluster < 2 && to[i].of < 2 && (int)to[i].host < hosts.clusters[to[i].of].nhosts);
	else
		CHECK(strncmp(err.text, "map:", 4) == 0);
	free(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zmap map;
	struct zerr err = {{0}};
	FILE *f = target_stream(data, size);
	if (zmap_parse(&map, f, "map", &err) == 0) {
		look(&map);
		zmap_free(&map);
	} else {
		CHECK(strncmp(err.text, "map:", 4) == 0);
	}
	fclose(f);
	return 0;
}

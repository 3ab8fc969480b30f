/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads graph files, see graph_lines.h. */
#include <errno.h>
#include <string.h>

#include "mapper/base/spec.h"
#include "mapper/netfile/graph_lines.h"

static int router_read(struct cabling *c, struct spec *spec, struct zerr *err)
{
	const char *name = spec->words[0].value;
	uint32_t nodes;
	int rc;

	if (!name || !*name || strlen(name) > CABLING_NAME_MAX || strpbrk(name, ":=>\""))
		return zerr_set(err, -EINVAL, "%s: not \"router:NAME node:N\" with a name of at most %d characters",
			spec->where, CABLING_NAME_MAX);
	rc = spec_u32(spec, "node", 0, 0, 65535, &nodes, err);
	if (rc)
		return rc;
	rc = cabling_add_router(c, name, nodes, NULL, err);
	return rc ? zerr_prefix(err, rc, "%s", spec->where) : spec_finish(spec, err);
}

static int link_read(struct cabling *c, struct spec *spec, uint64_t preset, struct zerr *err)
{
	const char *name[2] = {spec->words[0].value, spec_string(spec, "to")};
	struct cabling_link link;
	uint32_t end[2];
	uint64_t bandwidth;
	int rc;

	for (int i = 0; i < 2; i++) {
		if (!name[i] || !*name[i])
			return zerr_set(err, -EINVAL, "%s: not \"link:NAME to:NAME\"", spec->where);
		end[i] = names_find(&c->routers, name[i]);
		if (end[i] == NAMES_NONE)
			return zerr_set(err, -EINVAL, "%s: there is no router \"%s\"", spec->where, name[i]);
	}
	if (end[0] == end[1])
		return zerr_set(err, -EINVAL, "%s: a link from \"%s\" to itself", spec->where, name[0]);
	link = (struct cabling_link){.from = end[0], .to = end[1]};
	if ((rc = spec_u32(spec, "cables", 1, 1, 4096, &link.cables, err)) ||
		(rc = spec_u64(spec, "bandwidth", preset, 1, UINT64_MAX, &bandwidth, err)) ||
		(rc = spec_finish(spec, err)))
		return rc;
	link.bandwidth = (double)bandwidth;
	rc = cabling_add_link(c, &link, err);
	return rc ? zerr_prefix(err, rc, "%s", spec->where) : 0;
}

static int routers_read(struct cabling *c, const struct spec_list *list, const char *path, struct zerr *err)
{
	int rc = 0;

	for (size_t i = 0; i < list->n && !rc; i++) {
		struct spec *spec = &list->specs[i];

		if (!strcmp(spec->words[0].key, "router"))
			rc = router_read(c, spec, err);
		else if (strcmp(spec->words[0].key, "link"))
			rc = zerr_set(err, -EINVAL, "%s: \"%s\" is neither router nor link", spec->where,
				spec->words[0].key);
	}
	for (uint32_t i = 0; i < c->routers.n && !rc; i++)
		if (c->count[i])
			return 0;
	return rc ? rc : zerr_set(err, -EINVAL, "%s: no router has nodes", path);
}

int graph_lines_read(struct cabling *c, const char *path, uint64_t bandwidth, struct zerr *err)
{
	struct spec_list list;
	int rc = spec_read(&list, path, err);

	if (!rc)
		rc = routers_read(c, &list, path, err);
	for (size_t i = 0; i < list.n && !rc; i++)
		if (!strcmp(list.specs[i].words[0].key, "link"))
			rc = link_read(c, &list.specs[i], bandwidth, err);
	if (!rc && !c->links)
		rc = zerr_set(err, -EINVAL, "%s: no link", path);
	spec_free(&list);
	return rc;
}

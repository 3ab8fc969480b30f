/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts' entries to the zippers. See entries.h. */
#include "libzip/world/entries.h"
#include "common/control/ctl_name.h"

#include <errno.h>
#include <string.h>

#define BLANKS " \t"

struct entries { /* the entries of one rail */
	char fabric[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	uint32_t hops[ZCTL_PARTS_MAX];
};

int zentries_parse(char (*entries)[ZCTL_ENTRIES_MAX], int n, const char *text, struct zerr *err)
{
	int has = 0;

	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
		size_t len = strcspn(text, BLANKS);
		if (len >= ZCTL_ENTRIES_MAX)
			return zerr_set(err, -EINVAL, "what it has for one zipper is longer than %d characters",
				ZCTL_ENTRIES_MAX - 1);
		if (has < n) {
			memcpy(entries[has], text, len);
			entries[has][len] = '\0';
		}
		has++;
		text += len;
	}
	return has == n ? 0 : zerr_set(err, -EINVAL, "it is for %d zippers, and the job has %d", has, n);
}

/* Returns the number of parts, or -EINVAL with the reason. */
static int split(struct entries *e, const char *entries, const char *parts, struct zerr *err)
{
	int n = zctl_name_split_entries(entries, parts, e->fabric, e->hops);

	return n > 0 ? n
		     : zerr_set(err, -EINVAL, "\"%.64s\" is not the names of fabrics, one for each of the parts %.128s",
			       entries, parts);
}

int zentries_check(const char (*entries)[ZCTL_ENTRIES_MAX], const struct zhops *ways, int n,
	const struct zctl_join *join, struct zerr *err)
{
	static char part[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	static struct entries e; /* both are large */
	int own = 0, nparts = zctl_name_split_parts(join->parts, part, ZCTL_PARTS_MAX);

	while (own < nparts && strcmp(part[own], join->part) != 0)
		own++;
	for (int i = 0; i < n; i++) {
		char address[ZCTL_ADDR_MAX + 1];
		int rc = split(&e, entries[i], join->parts, err);
		if (rc < 0)
			return rc;
		/* zipperd has the best text for a part that is not among them */
		if (own >= nparts || e.hops[own] == (uint32_t)ways[i].n)
			continue;
		zaddr_format(zhops_last(&ways[i]), address, sizeof(address));
		return zerr_set(err, -EINVAL,
			"rail %d, by the zipper at %s: our way there has %d hops, but its entries say %u of part %s", i,
			address, ways[i].n, e.hops[own], join->part);
	}
	return 0;
}

struct carried { /* the rails between two parts */
	uint32_t rails, hops;
};

/* Adds a rail to those of two parts; a rail with fewer hops replaces them. */
static void add_rail(struct carried *c, int rail, uint32_t hops)
{
	if (c->rails == 0 || hops < c->hops)
		*c = (struct carried){.hops = hops};
	if (hops == c->hops)
		c->rails |= 1u << rail;
}

/* Adds the rail to every pair of parts that it joins. */
static void add_pairs(struct carried (*carried)[ZCTL_PARTS_MAX], int nparts, int rail, const struct entries *e)
{
	for (int p = 0; p < nparts; p++)
		for (int q = 0; q < p; q++)
			if (strcmp(e->fabric[p], e->fabric[q]) != 0)
				add_rail(&carried[p][q], rail, e->hops[p] + e->hops[q]);
}

int zentries_find_rails(const char (*entries)[ZCTL_ENTRIES_MAX], int n, const char *parts,
	uint32_t (*rails)[ZCTL_PARTS_MAX], struct zerr *err)
{
	static struct carried carried[ZCTL_PARTS_MAX][ZCTL_PARTS_MAX];
	static char part[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	static struct entries e; /* all are large */
	int nparts = zctl_name_split_parts(parts, part, ZCTL_PARTS_MAX);

	memset(carried, 0, sizeof(carried));
	for (int i = 0; i < n; i++) {
		int rc = split(&e, entries[i], parts, err);
		if (rc < 0)
			return rc;
		add_pairs(carried, nparts, i, &e);
	}
	for (int p = 0; p < nparts; p++) {
		rails[p][p] = (1u << n) - 1;
		for (int q = 0; q < p; q++) {
			rails[p][q] = rails[q][p] = carried[p][q].rails;
			if (rails[p][q] == 0)
				return zerr_set(err, -ENETUNREACH,
					"no zipper carries between the parts %.64s and %.64s", part[q], part[p]);
		}
	}
	return nparts;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of routers, nodes and cables, see cabling.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/netfile/cabling.h"

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory");
}

/* Has the array with one entry for each name room for one more? It grows whenever the number is a power of two. */
static int entry_room(uint32_t **array, uint32_t n)
{
	uint32_t *more;

	if (n & (n - 1))
		return 0;
	more = realloc(*array, 2 * ((size_t)n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	*array = more;
	return 0;
}

int cabling_add_router(struct cabling *c, const char *name, uint32_t nodes, uint32_t *router, struct zerr *err)
{
	uint32_t number;
	int rc;

	if (!*name || strlen(name) > CABLING_NAME_MAX || strpbrk(name, ":=>\"; \t,"))
		return zerr_set(err, -EINVAL,
			"\"%.80s\" is no name of a router: at most %d characters, none of them :=>\";, or a blank",
			name, CABLING_NAME_MAX);
	rc = entry_room(&c->count, c->routers.n) ? -ENOMEM : names_add(&c->routers, name, &number);
	if (rc == -EEXIST)
		return zerr_set(err, -EINVAL, "a second router \"%s\"", name);
	if (rc)
		return rc == -E2BIG ? zerr_set(err, rc, "more than %u routers", NAMES_MAX) : no_memory(err);
	c->count[number] = nodes;
	if (router)
		*router = number;
	return 0;
}

int cabling_add_node(struct cabling *c, const char *name, uint32_t router, struct zerr *err)
{
	uint32_t number;
	int rc;

	c->nodes.fold = true;
	rc = entry_room(&c->place, c->nodes.n) ? -ENOMEM : names_add(&c->nodes, name, &number);
	if (rc == -EEXIST)
		return zerr_set(err, -EINVAL, "node %.64s is at \"%s\" already", name,
			c->routers.name[c->place[number]]);
	if (rc)
		return rc == -E2BIG ? zerr_set(err, rc, "more than %u nodes", NAMES_MAX) : no_memory(err);
	c->place[number] = router;
	c->count[router]++;
	return 0;
}

int cabling_add_link(struct cabling *c, const struct cabling_link *link, struct zerr *err)
{
	if (c->cables + link->cables > CABLING_CABLES_MAX)
		return zerr_set(err, -E2BIG, "a network of that size is out of range");
	if (c->links == c->room) {
		size_t room = c->room ? 2 * c->room : 256;
		struct cabling_link *more = realloc(c->link, room * sizeof(*more));

		if (!more)
			return no_memory(err);
		c->link = more;
		c->room = room;
	}
	c->link[c->links++] = *link;
	c->cables += link->cables;
	return 0;
}

void cabling_free(struct cabling *c)
{
	names_free(&c->routers);
	names_free(&c->nodes);
	free(c->count);
	free(c->place);
	free(c->link);
	*c = (struct cabling){0};
}

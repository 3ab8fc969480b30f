/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the points by the names of clusters and zippers, see map_points.h. */
#include <errno.h>
#include <string.h>

#include "mapper/map/map_points.h"
#include "mapper/net/joined.h"

static int member_find(const struct joined *j, const char *name)
{
	for (uint32_t p = 0; p < j->nmembers; p++)
		if (!strcmp(j->member[p].name, name))
			return (int)p;
	return -1;
}

/* The point of a zipper node is that of its zipper in the member of the node's own cluster; or else in any member that
 * the zipper is attached to. */
static int zipper_point(const struct joined *j, const struct map_site *s, const struct map_node *n, uint32_t *point,
	struct zerr *err)
{
	for (uint32_t z = 0; z < j->nzippers; z++) {
		const struct zipper *zip = &j->zipper[z];
		int own = member_find(j, s->hosts->clusters[n->cluster].name);

		if (strcmp(zip->name, n->name))
			continue;
		for (uint32_t p = 0; p < j->nmembers; p++) {
			uint32_t member = own < 0 ? p : ((uint32_t)own + p) % j->nmembers;

			if (zip->point[member] != JOINED_NONE) {
				*point = j->member[member].first_point + zip->point[member];
				return 0;
			}
		}
	}
	return zerr_set(err, -EINVAL, "%s: there is no zipper:%s, which is a zipper node in %s", j->net.where, n->name,
		s->hosts->path);
}

/* Where points are nodes, a host and a zipper at the same node are found out. */
static int clash_check(const struct joined *j, uint32_t member, uint32_t node, const struct map_node *n,
	struct zerr *err)
{
	if (j->member[member].net->points != j->member[member].net->nodes)
		return 0;
	for (uint32_t z = 0; z < j->nzippers; z++)
		if (j->zipper[z].point[member] == node)
			return zerr_set(err, -EINVAL,
				"%s: node %u of part %s is zipper %s and host %s: zippers stand behind the hosts",
				j->net.where, node, j->member[member].name, j->zipper[z].name, n->name);
	return 0;
}

/* The node of a network that has the name of a host, or its name up to the first dot. */
static uint32_t named_node(const struct net *net, const char *host)
{
	uint32_t at = net->ops->node_find(net, host);
	size_t len = strcspn(host, ".");
	char name[256];

	if (at != NET_NO_NODE || !host[len] || len >= sizeof(name))
		return at;
	memcpy(name, host, len);
	name[len] = '\0';
	return net->ops->node_find(net, name);
}

/* The node of the network that a host is: by its name, or the next one of its cluster. */
static int host_node(const char *where, const struct net *net, const struct map_site *s, const struct map_node *n,
	uint32_t *next, uint32_t *at, struct zerr *err)
{
	*at = net->ops->node_find ? named_node(net, n->name) : (*next)++;
	if (net->ops->node_find && *at == NET_NO_NODE)
		return zerr_set(err, -EINVAL, "%s: no node of the network is called %s, as a host of cluster %s in %s",
			where, n->name, s->hosts->clusters[n->cluster].name, s->hosts->path);
	if (*at >= net->nodes)
		return zerr_set(err, -EINVAL, "%s: %u nodes are too few for the hosts of cluster %s", where, net->nodes,
			s->hosts->clusters[n->cluster].name);
	return 0;
}

int map_points_find(const struct net *whole, const struct map_site *s, uint32_t *point, struct zerr *err)
{
	const struct joined *j = whole->ops == &joined_ops ? (const struct joined *)whole : NULL;
	uint32_t next[64] = {0};

	if (!j && s->nclusters > 1)
		return zerr_set(err, -EINVAL, "%s: several clusters need a part:NAME each", whole->where);
	for (uint32_t i = 0; i < s->nnodes; i++) {
		const struct map_node *n = &s->nodes[i];
		const char *cluster = s->hosts->clusters[n->cluster].name;
		const struct net *net = whole;
		uint32_t first = 0, at;
		int member = 0, rc;

		if (j && n->zipper) {
			rc = zipper_point(j, s, n, &point[i], err);
			if (rc)
				return rc;
			continue;
		}
		if (j) {
			member = member_find(j, cluster);
			if (member < 0)
				return zerr_set(err, -EINVAL, "%s: there is no part:%s", whole->where, cluster);
			net = j->member[member].net;
			first = j->member[member].first_node;
		}
		rc = host_node(whole->where, net, s, n, &next[n->cluster], &at, err);
		if (rc)
			return rc;
		rc = j ? clash_check(j, (uint32_t)member, at, n, err) : 0;
		if (rc)
			return rc;
		point[i] = whole->ops->point(whole, first + at);
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Networks joined by zipper nodes. Each of these networks is a member (a "part" in descriptions). A zipper is a node of
 * each member that it joins. A message to another member goes over its own member to a zipper, in at that port, over
 * the zipper's forwarding link for this pair of ports, out at the other port, and on. Where no zipper joins the two
 * members, it goes over several zippers.
 *
 * The choice of a path includes the zipper. Static routings use all zippers, in proportion to the number of paths; or
 * those that carry a job, evenly. Adaptive routings go by the bandwidth that is left. Inside the members the ways to
 * and from zippers are direct.
 *
 * A rank on a zipper node is attached to all fabrics of the zipper. Its messages to other members leave at the port
 * there without being forwarded. This holds where points are nodes; where points are routers, such ranks cannot be told
 * from others.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/net/joined.h"
#include "mapper/net/joined_load.h"
#include "mapper/net/joined_path.h"

static void joined_destroy(struct net *net)
{
	struct joined *j = (struct joined *)net;

	net_fini(net);
	for (uint32_t i = 0; i < j->nmembers; i++) {
		net_destroy(j->member[i].net);
		free(j->names[i]);
	}
	for (uint32_t i = 0; i < j->nzippers; i++)
		free(j->zipper[i].name);
	free(j->zipper);
	free(j);
}

/* --- description --- */

static int member_read(struct joined *j, const struct net_ops *const *table, struct spec *spec, struct zerr *err)
{
	struct joined_member *p = &j->member[j->nmembers];
	struct spec inner = {spec->words + 1, spec->nwords - 1, spec->where};
	struct spec_list one = {&inner, 1, spec->where};
	const char *name = spec->words[0].value;

	if (!name || !*name || spec->nwords < 2)
		return zerr_set(err, -EINVAL, "%s: not \"part:NAME TOPOLOGY ...\"", spec->where);
	if (j->nmembers == JOINED_MEMBERS_MAX)
		return zerr_set(err, -EINVAL, "%s: more than %d parts", spec->where, JOINED_MEMBERS_MAX);
	for (uint32_t i = 0; i < j->nmembers; i++)
		if (!strcmp(j->member[i].name, name))
			return zerr_set(err, -EINVAL, "%s: a second part \"%s\"", spec->where, name);
	if (!strcmp(name, "port") || !strcmp(name, "forward"))
		return zerr_set(err, -EINVAL, "%s: a part cannot be called \"%s\"", spec->where, name);
	inner.words[0].used = true;
	p->name = j->names[j->nmembers++] = strdup(name);
	if (!p->name)
		return zerr_set(err, -ENOMEM, "not enough memory");
	return net_create_list(&one, table, &p->net, err);
}

struct capacity {
	uint64_t port, forward;
};

/* Reads the node of a part that a zipper stands on: a number; or a name, in a part whose nodes have names. */
static int zipper_node(const struct joined_member *p, struct spec *spec, uint32_t *node, struct zerr *err)
{
	const char *text = p->net->ops->node_find ? spec_string(spec, p->name) : NULL;

	*node = text ? p->net->ops->node_find(p->net, text) : NET_NO_NODE;
	if (*node != NET_NO_NODE)
		return 0;
	if (text && text[strspn(text, "0123456789")])
		return zerr_set(err, -EINVAL, "%s: part %s has no node \"%s\"", spec->where, p->name, text);
	return spec_u32(spec, p->name, JOINED_NONE, 0, p->net->nodes - 1, node, err);
}

static int zipper_read(struct joined *j, struct spec *spec, struct capacity *capacity, struct zerr *err)
{
	struct zipper *z = &j->zipper[j->nzippers];
	uint32_t ports = 0, node;
	int rc;

	if (!spec->words[0].value || !*spec->words[0].value)
		return zerr_set(err, -EINVAL, "%s: not \"zipper:NAME PART:NODE PART:NODE ...\"", spec->where);
	for (uint32_t i = 0; i < j->nzippers; i++)
		if (!strcmp(j->zipper[i].name, spec->words[0].value))
			return zerr_set(err, -EINVAL, "%s: a second zipper \"%s\"", spec->where, spec->words[0].value);
	z->name = strdup(spec->words[0].value);
	if (!z->name)
		return zerr_set(err, -ENOMEM, "not enough memory");
	j->nzippers++;
	for (uint32_t p = 0; p < j->nmembers; p++) {
		const struct net *net = j->member[p].net;

		rc = zipper_node(&j->member[p], spec, &node, err);
		if (rc)
			return rc;
		z->point[p] = node == JOINED_NONE ? JOINED_NONE : net->ops->point(net, node);
		ports += node != JOINED_NONE;
	}
	if (ports < 2)
		return zerr_set(err, -EINVAL, "%s: a zipper joins two parts or more", spec->where);
	if ((rc = spec_u64(spec, "port", 5120ull << 20, 1, UINT64_MAX, &capacity->port, err)) ||
		(rc = spec_u64(spec, "forward", 5120ull << 20, 1, UINT64_MAX, &capacity->forward, err)))
		return rc;
	return spec_finish(spec, err);
}

/* --- shape --- */

/* Finds the next member on the way with the fewest zippers, for all pairs, by a search from each destination. Returns
 * the length of the longest way, or 0 if some pair has no way. */
static uint32_t routes_find(struct joined *j)
{
	uint32_t longest = 0;

	for (uint32_t to = 0; to < j->nmembers; to++) {
		uint32_t far[JOINED_MEMBERS_MAX], queue[JOINED_MEMBERS_MAX], n = 1;

		memset(far, 0xff, sizeof(far));
		far[to] = 0;
		queue[0] = to;
		for (uint32_t at = 0; at < n; at++)
			for (uint32_t p = 0; p < j->nmembers; p++)
				for (uint32_t z = 0; z < j->nzippers && far[p] == JOINED_NONE; z++)
					if (zipper_joins(&j->zipper[z], p, queue[at])) {
						far[p] = far[queue[at]] + 1;
						j->next[p][to] = queue[at];
						queue[n++] = p;
					}
		if (n < j->nmembers)
			return 0;
		longest = far[queue[n - 1]] > longest ? far[queue[n - 1]] : longest;
	}
	return longest;
}

static int members_add_up(struct joined *j, uint64_t *links, const char *where, struct zerr *err)
{
	struct net *net = &j->net;

	for (uint32_t i = 0; i < j->nmembers; i++) {
		struct joined_member *p = &j->member[i];

		p->first_node = net->nodes;
		p->first_point = net->points;
		p->first_link = (uint32_t)*links;
		net->nodes += p->net->nodes;
		net->points += p->net->points;
		*links += p->net->links;
		if (net->nodes > UINT32_MAX / 4 || *links > UINT32_MAX / 4)
			return zerr_set(err, -EINVAL, "%s: the parts together are too large", where);
		if (p->net->cores != j->member[0].net->cores)
			return zerr_set(err, -EINVAL, "%s: parts %s and %s have different cores a node", where,
				j->member[0].name, p->name);
		for (int c = 0; c < NET_CLASSES; c++)
			if (p->net->cables[c] != j->member[0].net->cables[c])
				return zerr_set(err, -EINVAL, "%s: parts %s and %s have different cables a link", where,
					j->member[0].name, p->name);
		net->direct_slots = p->net->direct_slots > net->direct_slots ? p->net->direct_slots : net->direct_slots;
		net->indirect_slots =
			p->net->indirect_slots > net->indirect_slots ? p->net->indirect_slots : net->indirect_slots;
	}
	return 0;
}

static int shape_fill(struct joined *j, const struct capacity *capacity, const char *where, struct zerr *err)
{
	struct net *net = &j->net;
	uint32_t crossings = routes_find(j);
	uint64_t links = 0;
	int rc;

	if (!crossings)
		return zerr_set(err, -EINVAL, "%s: the zippers do not join all parts", where);
	rc = members_add_up(j, &links, where, err);
	if (rc)
		return rc;
	net->direct_slots = (crossings + 1) * net->direct_slots + crossings * ZIPPER_SLOTS;
	net->indirect_slots = net->direct_slots > net->indirect_slots ? net->direct_slots : net->indirect_slots;
	if (net->indirect_slots > NET_SLOTS_MAX)
		return zerr_set(err, -EINVAL, "%s: paths over %u zippers are too long", where, crossings);
	for (uint32_t z = 0; z < j->nzippers; z++) {
		j->zipper[z].link = (uint32_t)links;
		links += (uint64_t)j->nmembers * j->nmembers;
		j->zipper[z].out = (uint32_t)links;
		links += j->nmembers;
	}
	rc = net_init(net, &joined_ops, (uint32_t)links, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < j->nmembers; i++) {
		const struct joined_member *p = &j->member[i];

		for (uint32_t l = 0; l < p->net->links; l++)
			net_set_link(net, p->first_link + l, p->net->link_class[l], (double)p->net->capacity[l]);
	}
	for (uint32_t z = 0; z < j->nzippers; z++)
		for (uint32_t a = 0; a < j->nmembers; a++) {
			const struct zipper *zip = &j->zipper[z];

			if (zip->point[a] == JOINED_NONE)
				continue;
			net_set_link(net, zip->out + a, NET_PORT, (double)capacity[z].port);
			for (uint32_t b = 0; b < j->nmembers; b++)
				if (zip->point[b] != JOINED_NONE)
					net_set_link(net, zip->link + a * j->nmembers + b,
						a == b ? NET_PORT : NET_FORWARD,
						(double)(a == b ? capacity[z].port : capacity[z].forward));
		}
	net->own_slot = j->member[0].net->own_slot;
	for (uint32_t i = 1; i < j->nmembers; i++)
		if (j->member[i].net->own_slot != net->own_slot)
			net->own_slot = NET_OWN_DIFFER;
	memcpy(net->cables, j->member[0].net->cables, sizeof(net->cables));
	net->cores = j->member[0].net->cores;
	for (int l = 0; l < NET_LEVELS; l++)
		net->level[l] = 1;
	return 0;
}

static int joined_create(struct spec_list *l, const struct net_ops *const *table, struct net **out, struct zerr *err)
{
	struct joined *j = calloc(1, sizeof(*j));
	struct capacity *capacity = calloc(l->n, sizeof(*capacity));
	int rc = 0;

	*out = NULL;
	if (!j || !capacity || !(j->zipper = calloc(l->n, sizeof(*j->zipper)))) {
		free(j);
		free(capacity);
		return zerr_set(err, -ENOMEM, "not enough memory");
	}
	for (size_t i = 0; i < l->n && !rc; i++) {
		struct spec *spec = &l->specs[i];

		if (!strcmp(spec->words[0].key, "part"))
			rc = member_read(j, table, spec, err);
		else if (strcmp(spec->words[0].key, "zipper"))
			rc = zerr_set(err, -EINVAL, "%s: \"%s\" is neither part nor zipper", spec->where,
				spec->words[0].key);
	}
	for (size_t i = 0; i < l->n && !rc; i++)
		if (!strcmp(l->specs[i].words[0].key, "zipper"))
			rc = zipper_read(j, &l->specs[i], &capacity[j->nzippers], err);
	if (!rc && j->nmembers < 2)
		rc = zerr_set(err, -EINVAL, "%s: one part has nothing to be joined with", l->where);
	if (!rc)
		rc = shape_fill(j, capacity, l->where, err);
	free(capacity);
	if (rc)
		joined_destroy(&j->net);
	else
		*out = &j->net;
	return rc;
}

/* --- points and links --- */

int joined_forward_by(struct joined *j, const char *zipper)
{
	bool found = !zipper;

	for (uint32_t z = 0; z < j->nzippers; z++) {
		bool same = zipper && !strcmp(j->zipper[z].name, zipper);

		j->zipper[z].carries = same || (zipper && j->zipper[z].carries);
		found |= same;
	}
	j->some_carry = zipper && (found || j->some_carry);
	return found ? 0 : -ENOENT;
}

static uint32_t joined_point(const struct net *net, uint32_t node)
{
	const struct joined *j = (const struct joined *)net;
	uint32_t p = j->nmembers - 1;

	while (node < j->member[p].first_node)
		p--;
	return j->member[p].first_point +
	       j->member[p].net->ops->point(j->member[p].net, node - j->member[p].first_node);
}

static void joined_link_name(const struct net *net, uint32_t link, char *buf, size_t size)
{
	const struct joined *j = (const struct joined *)net;
	const struct zipper *z = j->zipper;
	uint32_t p = j->nmembers - 1, n, a, b;
	char inner[NET_LINK_NAME_SIZE];

	if (link < z->link) {
		while (link < j->member[p].first_link)
			p--;
		j->member[p].net->ops->link_name(j->member[p].net, link - j->member[p].first_link, inner,
			sizeof(inner));
		snprintf(buf, size, "%s:%s", j->member[p].name, inner);
		return;
	}
	while (z + 1 < j->zipper + j->nzippers && link >= z[1].link)
		z++;
	if (link >= z->out) {
		snprintf(buf, size, "%s>%s", z->name, j->member[link - z->out].name);
		return;
	}
	n = link - z->link;
	a = n / j->nmembers;
	b = n % j->nmembers;
	if (a == b)
		snprintf(buf, size, "%s>%s", j->member[a].name, z->name);
	else
		snprintf(buf, size, "%s:%s>%s", z->name, j->member[a].name, j->member[b].name);
}

const struct net_ops joined_ops = {
	.name = "part",
	.help = "part:NAME TOPOLOGY ...; part:NAME TOPOLOGY ...; zipper:NAME PART:NODE PART:NODE [port:5120M]\n"
		"[forward:5120M]; ... (statements are separated by ';' or lines)",
	.joins = true,
	.takes_value = true,
	.create = joined_create,
	.destroy = joined_destroy,
	.point = joined_point,
	.direct_count = joined_path_direct_count,
	.direct = joined_path_direct,
	.single = joined_path_single,
	.indirect = joined_path_indirect,
	.load_direct = joined_load_direct,
	.load_indirect = joined_load_indirect,
	.link_name = joined_link_name,
};

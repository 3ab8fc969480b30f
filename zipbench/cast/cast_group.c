/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups and timed multicasts; see cast_group.h. */
#include "zipbench/cast/cast_group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipbench/base/bench.h"

struct cast_member {
	struct cast_net *net;
	struct zipcast_group *group;
	uint32_t node, slot;
	bool root;
};

/* --- callbacks, in the contexts' threads --- */

static void *incoming(void *arg, uint64_t bytes)
{
	struct cast_member *m = arg;
	return bytes <= m->net->memory_bytes ? m->net->memory[m->slot * m->net->n + m->node] : NULL;
}

static void complete(void *arg, void *data, uint64_t bytes)
{
	struct cast_member *m = arg;
	struct cast_net *net = m->net;
	const double now = bench_now();
	(void)data;
	(void)bytes;
	pthread_mutex_lock(&net->lock);
	if (!m->root && --net->left_receivers == 0)
		net->last = now;
	if (--net->left == 0)
		pthread_cond_signal(&net->changed);
	pthread_mutex_unlock(&net->lock);
}

static void failed(void *arg, const char *why)
{
	struct cast_member *m = arg;
	pthread_mutex_lock(&m->net->lock);
	if (!m->net->why[0])
		snprintf(m->net->why, sizeof(m->net->why), "node %u: %s", m->node, why);
	pthread_cond_signal(&m->net->changed);
	pthread_mutex_unlock(&m->net->lock);
}

/* --- groups --- */

int cast_group_open(struct cast_group *g, struct cast_net *net, uint32_t slot, const uint32_t *members, uint32_t n,
	const char *algorithm, uint32_t block_bytes, const uint8_t *data, struct zerr *err)
{
	char why[ZIPCAST_WHY_BYTES] = "";
	*g = (struct cast_group){.net = net,
		.n = n,
		.slot = slot,
		.data = data,
		.member = calloc(n, sizeof(*g->member))};
	if (!g->member)
		return zerr_set(err, -ENOMEM, "out of memory");
	uint32_t site[CAST_MEMBERS_MAX];
	for (uint32_t i = 0; i < n; i++)
		site[i] = net->sites ? net->sites->of[members[i]] : 0;
	struct zipcast_group_config c = {.number = net->next_group++,
		.nmembers = n,
		.members = members,
		.algorithm = algorithm,
		.block_bytes = block_bytes,
		.site = site};
	int rc = 0;
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		struct cast_member *m = &g->member[i];
		*m = (struct cast_member){.net = net, .node = members[i], .slot = slot, .root = i == 0};
		struct zipcast_events events = {i == 0 ? NULL : incoming, complete, failed, m};
		rc = cast_sites_enter(cast_sites_place(net->sites, members[i]),
			err); /* connects to others from there */
		if (rc == 0 && (rc = zipcast_group_create(&m->group, net->zc[members[i]], &c, &events, why)) < 0)
			zerr_set(err, rc, "%s", why);
	}
	return rc;
}

void cast_group_close(struct cast_group *g)
{
	for (uint32_t i = 0; i < g->n && g->member; i++)
		if (g->member[i].group)
			zipcast_group_destroy(g->member[i].group);
	free(g->member);
	g->member = NULL;
}

int cast_group_send(struct cast_net *net, struct cast_group *g, uint32_t ngroups, uint64_t bytes, uint32_t messages,
	double *seconds, struct zerr *err)
{
	uint64_t members = 0;
	int rc = 0;
	for (uint32_t i = 0; i < ngroups; i++)
		members += g[i].n;
	pthread_mutex_lock(&net->lock);
	net->left = members * messages;
	net->left_receivers = (members - ngroups) * messages;
	pthread_mutex_unlock(&net->lock);
	const double start = bench_now();
	for (uint32_t m = 0; m < messages && rc == 0; m++)
		for (uint32_t i = 0; i < ngroups && rc == 0; i++)
			rc = zipcast_send(g[i].member[0].group, g[i].data, bytes);
	pthread_mutex_lock(&net->lock);
	while (rc == 0 && net->left > 0 && !net->why[0])
		pthread_cond_wait(&net->changed, &net->lock);
	*seconds = net->last - start;
	if (net->why[0])
		rc = zerr_set(err, -EIO, "%s", net->why);
	else if (rc < 0)
		zerr_set(err, rc, "zipcast_send: %s", strerror(-rc));
	pthread_mutex_unlock(&net->lock);
	return rc;
}

int cast_group_verify(const struct cast_group *g, uint64_t bytes, struct zerr *err)
{
	for (uint32_t i = 1; i < g->n; i++)
		if (memcmp(g->net->memory[g->slot * g->net->n + g->member[i].node], g->data, bytes) != 0)
			return zerr_set(err, -EBADMSG, "node %u has not received what node %u has sent",
				g->member[i].node, g->member[0].node);
	return 0;
}

void cast_group_crossed(const struct cast_group *g, uint64_t *blocks, uint64_t *bytes)
{
	for (uint32_t i = 0; i < g->n && g->net->sites; i++)
		for (uint32_t j = 0; j < g->n; j++) {
			const uint32_t *of = g->net->sites->of;
			uint64_t some_blocks, some_bytes;
			if (!g->member[i].group || of[g->member[i].node] == of[g->member[j].node])
				continue;
			zipcast_group_sent(g->member[i].group, j, &some_blocks, &some_bytes);
			*blocks += some_blocks;
			*bytes += some_bytes;
		}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing nodes; see cast_net.h. */
#include "zipbench/cast/cast_net.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_node(struct cast_net *net, uint32_t i, const char *transport, enum zipcast_waiting waiting,
	struct zerr *err)
{
	static const uint8_t key[ZIPCAST_KEY_BYTES] = "zipbench cast: nodes of itself"; /* nobody else joins */
	const struct cast_place *place = cast_sites_place(net->sites, i);
	char why[ZIPCAST_WHY_BYTES] = "", listen[128];
	if (place)
		snprintf(listen, sizeof(listen), "tcp:%s:0", place->host);
	else if (strcmp(transport, "tcp") == 0)
		snprintf(listen, sizeof(listen), "tcp:127.0.0.1:0");
	else if (strchr(transport, ':'))
		snprintf(listen, sizeof(listen), "%s", transport);
	else
		snprintf(listen, sizeof(listen), "shm:%s/%u", net->dir, i);
	struct zipcast_config c =
		{.me = i, .listen = listen, .session = "bench", .key = key, .waiting = waiting, .timeout_ms = 120000};
	if (place && place->zipper[0]) {
		c.fabric = place->fabric;
		c.zipper = place->zipper;
		c.user = place->user;
		c.user_key = place->key;
	}
	int rc = cast_sites_enter(place, err);
	if (rc < 0)
		return rc;
	rc = zipcast_open(&net->zc[i], &c, why);
	return rc == 0 ? 0 : zerr_set(err, rc, "%s", why);
}

static int open_nodes(struct cast_net *net, const char *transport, enum zipcast_waiting waiting, struct zerr *err)
{
	char why[ZIPCAST_WHY_BYTES] = "";
	const char **address = calloc(net->n, sizeof(*address));
	int rc = address ? 0 : zerr_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < net->n && rc == 0; i++) {
		rc = open_node(net, i, transport, waiting, err);
		if (rc == 0)
			address[i] = zipcast_address(net->zc[i]);
	}
	for (uint32_t i = 0; i < net->n && rc == 0; i++) {
		rc = zipcast_meet(net->zc[i], address, net->n, why);
		if (rc < 0)
			zerr_set(err, rc, "%s", why);
	}
	free(address);
	return rc;
}

int cast_net_open(struct cast_net *net, const char *transport, uint32_t n, uint32_t slots, enum zipcast_waiting waiting,
	uint64_t message_bytes, const struct cast_sites *sites, struct zerr *err)
{
	*net = (struct cast_net){.sites = sites, .n = n, .slots = slots, .memory_bytes = message_bytes};
	pthread_mutex_init(&net->lock, NULL);
	pthread_cond_init(&net->changed, NULL);
	const char *tmp = getenv("TMPDIR");
	/* the paths of sockets are short */
	snprintf(net->dir, sizeof(net->dir), "%s/zipbench.XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	if (!mkdtemp(net->dir)) {
		int rc = zerr_set(err, -errno, "%s: %s", net->dir, strerror(errno));
		net->dir[0] = 0;
		return rc;
	}
	net->zc = calloc(n, sizeof(*net->zc));
	net->memory = calloc((size_t)n * slots, sizeof(*net->memory));
	for (uint32_t i = 0; i < n * slots && net->zc && net->memory; i++) {
		net->memory[i] = malloc(message_bytes);
		if (!net->memory[i])
			return zerr_set(err, -ENOMEM,
				"no memory for messages of %llu bytes of %u groups in %u nodes (see --scale)",
				(unsigned long long)message_bytes, slots, n);
		memset(net->memory[i], 0, message_bytes);
	}
	return net->zc && net->memory ? open_nodes(net, transport, waiting, err)
				      : zerr_set(err, -ENOMEM, "out of memory");
}

void cast_net_close(struct cast_net *net)
{
	for (uint32_t i = 0; i < net->n && net->zc; i++)
		if (net->zc[i])
			zipcast_close(net->zc[i]);
	for (uint32_t i = 0; i < net->n * net->slots && net->memory; i++)
		free(net->memory[i]);
	free(net->zc);
	free(net->memory);
	if (net->dir[0])
		rmdir(net->dir);
	pthread_cond_destroy(&net->changed);
	pthread_mutex_destroy(&net->lock);
}

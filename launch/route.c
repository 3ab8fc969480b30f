/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for the zippers that join the clusters of a job. */
#include "route.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct zport *find_port(const struct zzipper *zipper, const char *fabric)
{
	for (int i = 0; i < zipper->nports; i++)
		if (strcmp(zipper->ports[i].fabric, fabric) == 0)
			return &zipper->ports[i];
	return NULL;
}

static const char *tcp_host(const struct zaddr *addr)
{
	return addr->kind == ZADDR_VERBS ? addr->via : addr->host;
}

/* Is this TCP address one of this machine's? Whoever can bind to it can listen there, which is what matters. */
static bool is_local(const char *host)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list, *a;
	bool local = false;
	if (getaddrinfo(host, NULL, &hints, &list) != 0)
		return false;
	for (a = list; a && !local; a = a->ai_next) {
		int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		local = bind(fd, a->ai_addr, a->ai_addrlen) == 0;
		close(fd);
	}
	freeaddrinfo(list);
	return local;
}

/* Ours to start: possible only on this machine, at ports that the kernel chooses. */
static void prepare_start(struct zroute *route, const struct zplan *plan, const struct zzipper *zipper,
	const char *path)
{
	for (int i = 0; i < plan->nparts; i++) {
		struct zaddr *addr = &route->addr[i];
		struct zaddr there = *addr;
		char text[320];
		*(addr->kind == ZADDR_VERBS ? &addr->via_port : &addr->port) = 0;
		if (addr->kind == ZADDR_SHM || is_local(tcp_host(addr))) {
			if (addr->kind == ZADDR_VERBS && strcmp(addr->via, zipper->host) == 0)
				strcpy(addr->via, ZADDR_VIA_OWN);
			continue;
		}
		*(there.kind == ZADDR_VERBS ? &there.via_port : &there.port) = ZADDR_DEFAULT_PORT;
		zaddr_format(&there, text, sizeof(text));
		route->rc = zerr_set(&route->why, -EADDRNOTAVAIL,
			"%s:%d: %.64s is not an address of this machine: zmpirun cannot start zipperd there; write the "
			"port of one that runs (%s=%.96s)",
			path, zipper->line, tcp_host(addr), plan->parts[i].name, text);
		return;
	}
}

static void name_zipper(struct zroute *route, const struct zhostfile *hosts, const struct zzipper *zipper)
{
	int same = 0;
	for (int z = 0; z < hosts->nzippers; z++)
		same += strcmp(hosts->zippers[z].host, zipper->host) == 0;
	if (same > 1)
		snprintf(route->name, sizeof(route->name), "%.64s (line %d)", zipper->host, zipper->line);
	else
		snprintf(route->name, sizeof(route->name), "%.*s", ZROUTE_NAME_MAX, zipper->host);
}

static void take_zipper(struct zroute *route, const struct zplan *plan, const struct zhostfile *hosts,
	const struct zzipper *zipper)
{
	name_zipper(route, hosts, zipper);
	route->start = true;
	for (int i = 0; i < plan->nparts; i++) {
		const struct zport *port = find_port(zipper, plan->parts[i].name);
		route->addr[i] = port->addr;
		if (port->fixed)
			route->start = false;
	}
	if (route->start)
		prepare_start(route, plan, zipper, hosts->path);
}

static void make_own(struct zroute *routes, int n, const struct zplan *plan)
{
	for (int r = 0; r < n; r++) {
		routes[r].start = true;
		snprintf(routes[r].name, sizeof(routes[r].name), "%d", r + 1);
		for (int i = 0; i < plan->nparts; i++)
			routes[r].addr[i].kind = ZADDR_SHM;
	}
}

int zroute_find(struct zroute **routes, const struct zplan *plan, const struct zhostfile *hosts, int rails,
	struct zerr *err)
{
	int n = 0, max = hosts ? hosts->nzippers : rails > 0 ? rails : 1;
	*routes = calloc((size_t)max + 1, sizeof(**routes));
	if (!*routes)
		return zerr_set(err, -ENOMEM, "out of memory");
	if (!hosts) {
		make_own(*routes, max, plan);
		return max;
	}
	uint64_t clusters = 0;
	for (int i = 0; i < plan->nparts; i++)
		clusters |= UINT64_C(1) << zhostfile_find_cluster(hosts, plan->parts[i].name);
	for (int z = -1; (z = zhostfile_find_joining(hosts, clusters, z + 1)) >= 0; n++)
		take_zipper(&(*routes)[n], plan, hosts, &hosts->zippers[z]);
	if (n > 0 && n >= rails)
		return n;
	free(*routes);
	*routes = NULL;
	if (n == 0)
		return zerr_set(err, -ENETUNREACH, "%s: no #ZIP zipper line serves all of the clusters %.128s",
			hosts->path, plan->names);
	return zerr_set(err, -EINVAL, "%s: --rails %d, but only %d #ZIP zipper line%s all of the clusters %.128s",
		hosts->path, rails, n, n == 1 ? " serves" : "s serve", plan->names);
}

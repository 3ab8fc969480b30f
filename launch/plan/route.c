/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the zippers that join the clusters of a job, alone or several together. */
#include "launch/plan/route.h"
#include "common/hosts/hostfile_find.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Is this TCP address an address of this machine? The test is to bind to it, because zmpirun has to listen there. */
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

/* Prepares a zipperd that zmpirun starts: it can run on this machine only, at ports that the kernel chooses. */
static void prepare_start(struct zroute *route, const struct zzipper *zipper, const char *path)
{
	for (int i = 0; i < route->nports; i++) {
		struct zaddr *addr = &route->port[i].addr;
		struct zaddr there = *addr;
		char text[320];
		uint16_t *port = zaddr_tcp_port(addr);
		if (port)
			*port = 0;
		if (zaddr_traits(addr)->this_host || is_local(zaddr_tcp_host(addr))) {
			if (zaddr_traits(addr)->by_device && strcmp(addr->via, zipper->host) == 0)
				strcpy(addr->via, ZADDR_VIA_OWN);
			continue;
		}
		*zaddr_tcp_port(&there) = ZADDR_DEFAULT_PORT;
		zaddr_format(&there, text, sizeof(text));
		route->rc = zerr_set(&route->why, -EADDRNOTAVAIL,
			"%s:%d: %.64s is not an address of this machine: zmpirun cannot start zipperd there; write the "
			"port of one that runs (%s=%.96s)",
			path, zipper->line, zaddr_tcp_host(addr), route->port[i].fabric, text);
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

static void take_port(struct zroute *route, const struct zport *port)
{
	route->port[route->nports++] = (struct zroute_port){.fabric = port->fabric, .addr = port->addr};
	if (port->fixed)
		route->start = false;
}

static void take_zipper(struct zroute *route, const struct zplan *plan, const struct zhostfile *hosts, int zipper)
{
	name_zipper(route, hosts, &hosts->zippers[zipper]);
	route->zipper = zipper;
	route->start = true;
	for (int i = 0; i < plan->nparts; i++)
		take_port(route, zhostfile_find_port(hosts, zipper, plan->parts[i].name));
	if (route->start)
		prepare_start(route, &hosts->zippers[zipper], hosts->path);
}

/* Takes one of the zippers that lead from cluster to cluster together. */
static void take_rail(struct zroute *route, const struct zhostways *ways, const struct zhostfile *hosts, int rail)
{
	const struct zzipper *zipper = &hosts->zippers[ways->zipper[rail]];
	name_zipper(route, hosts, zipper);
	route->zipper = ways->zipper[rail];
	route->start = true;
	for (int p = 0; p < zipper->nports; p++)
		if (ways->ports[rail] >> p & 1)
			take_port(route, &zipper->ports[p]);
	if (route->start)
		prepare_start(route, zipper, hosts->path);
}

static void make_own(struct zroute *routes, int n, const struct zplan *plan)
{
	for (int r = 0; r < n; r++) {
		routes[r].start = true;
		routes[r].zipper = -1;
		routes[r].nports = plan->nparts;
		snprintf(routes[r].name, sizeof(routes[r].name), "%d", r + 1);
		for (int i = 0; i < plan->nparts; i++)
			routes[r].port[i] = (struct zroute_port){plan->parts[i].name, {.kind = ZADDR_SHM}};
	}
}

int zroute_find_ways(struct zhostways *ways, const struct zroute *routes, int n, const struct zplan *plan,
	const struct zhostfile *hosts, struct zerr *err)
{
	char parts[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	bool *left_out = calloc((size_t)hosts->nzippers + 1, sizeof(*left_out));
	if (!left_out)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (int i = 0; i < n; i++)
		left_out[routes[i].zipper] = routes[i].rc < 0;
	for (int i = 0; i < plan->nparts; i++)
		memcpy(parts[i], plan->parts[i].name, sizeof(parts[i]));
	int rc = zhostways_find(ways, hosts, parts, plan->nparts, ZCTL_RAILS_MAX, left_out, err);
	free(left_out);
	return rc;
}

/* Finds routes where no zipper joins all clusters. */
static int find_between(struct zroute *routes, struct zhostways *ways, const struct zplan *plan,
	const struct zhostfile *hosts, int rails, struct zerr *err)
{
	int rc = zroute_find_ways(ways, NULL, 0, plan, hosts, err);
	if (rc < 0)
		return rc;
	if (rails > 0) {
		zhostways_free(ways);
		return zerr_set(err, -EINVAL,
			"%s: --rails %d, but no #ZIP zipper line serves all of the clusters %.128s, and all "
			"zippers between them are needed",
			hosts->path, rails, plan->names);
	}
	for (int r = 0; r < ways->nzippers; r++)
		take_rail(&routes[r], ways, hosts, r);
	return ways->nzippers;
}

/* Finds the zippers that join all clusters. Returns their number, which may be 0. */
static int find_joining(struct zroute *routes, const struct zplan *plan, const struct zhostfile *hosts)
{
	uint64_t clusters = 0;
	int n = 0;
	for (int i = 0; i < plan->nparts; i++)
		clusters |= UINT64_C(1) << zhostfile_find_cluster(hosts, plan->parts[i].name);
	for (int z = -1; (z = zhostfile_find_joining(hosts, clusters, z + 1)) >= 0; n++)
		take_zipper(&routes[n], plan, hosts, z);
	return n;
}

int zroute_find(struct zroute **routes, struct zhostways *ways, const struct zplan *plan, const struct zhostfile *hosts,
	int rails, struct zerr *err)
{
	int max = hosts ? hosts->nzippers : rails > 0 ? rails : 1;
	*ways = (struct zhostways){0};
	*routes = calloc((size_t)max + 1, sizeof(**routes));
	if (!*routes)
		return zerr_set(err, -ENOMEM, "out of memory");
	if (!hosts) {
		make_own(*routes, max, plan);
		return max;
	}
	int n = find_joining(*routes, plan, hosts);
	if (n > 0 && n < rails)
		n = zerr_set(err, -EINVAL, "%s: --rails %d, but only %d #ZIP zipper line%s all of the clusters %.128s",
			hosts->path, rails, n, n == 1 ? " serves" : "s serve", plan->names);
	else if (n == 0)
		n = find_between(*routes, ways, plan, hosts, rails, err);
	if (n < 0) {
		free(*routes);
		*routes = NULL;
	}
	return n;
}

const struct zaddr *zroute_find_address(const struct zroute *route, const char *fabric)
{
	int i = 0;
	while (strcmp(route->port[i].fabric, fabric) != 0)
		i++;
	return &route->port[i].addr;
}

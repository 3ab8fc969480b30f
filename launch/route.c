/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the zipper of the job. */
#include "route.h"

#include <errno.h>
#include <netdb.h>
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
static int prepare_start(struct zroute *route, const struct zplan *plan, const struct zzipper *zipper, const char *path,
	struct zerr *err)
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
		return zerr_set(err, -EADDRNOTAVAIL,
			"%s:%d: %.64s is not an address of this machine: zmpirun cannot start zipperd there; write the "
			"port of one that runs (%s=%.96s)",
			path, zipper->line, tcp_host(addr), plan->parts[i].name, text);
	}
	return 0;
}

static int take_zipper(struct zroute *route, const struct zplan *plan, const struct zzipper *zipper, const char *path,
	struct zerr *err)
{
	route->host = zipper->host;
	route->start = true;
	for (int i = 0; i < plan->nparts; i++) {
		const struct zport *port = find_port(zipper, plan->parts[i].name);
		route->addr[i] = port->addr;
		if (port->fixed)
			route->start = false;
	}
	return route->start ? prepare_start(route, plan, zipper, path, err) : 0;
}

int zroute_find(struct zroute *route, const struct zplan *plan, const struct zhostfile *hosts, struct zerr *err)
{
	memset(route, 0, sizeof(*route));
	if (!hosts) {
		route->start = true;
		route->host = "this machine";
		for (int i = 0; i < plan->nparts; i++)
			route->addr[i].kind = ZADDR_SHM;
		return 0;
	}
	uint64_t clusters = 0;
	for (int i = 0; i < plan->nparts; i++)
		clusters |= UINT64_C(1) << zhostfile_find_cluster(hosts, plan->parts[i].name);
	int z = zhostfile_find_joining(hosts, clusters, 0);
	if (z >= 0)
		return take_zipper(route, plan, &hosts->zippers[z], hosts->path, err);
	return zerr_set(err, -ENETUNREACH, "%s: no #ZIP zipper line serves all of the clusters %.128s", hosts->path,
		plan->names);
}

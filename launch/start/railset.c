/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses and opens the rails of a job. */
#include "launch/start/railset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

static bool is_on_the_way(const struct zrailset *rails, const struct zroute *route)
{
	for (int r = 0; r < rails->ways.nzippers; r++)
		if (rails->ways.zipper[r] == route->zipper)
			return true;
	return false;
}

/* This route cannot be used. Are there ways without its zipper, and without the other zippers that cannot be used? If
 * not, the reason of this route is the error. */
static int leave_out(struct zrailset *rails, const struct zplan *plan, const struct zroute *route, struct zerr *err)
{
	zhostways_free(&rails->ways);
	int rc = zroute_find_ways(&rails->ways, rails->routes, rails->nroutes, plan, rails->hosts, NULL);
	if (rc < 0) {
		*err = route->why;
		return zerr_prefix(err, route->rc, "zipper %s", route->name);
	}
	for (int i = 0; i < rails->nroutes; i++) {
		struct zroute *other = &rails->routes[i];
		if (other->rc == 0 && !is_on_the_way(rails, other))
			other->rc =
				zerr_set(&other->why, -ENETUNREACH, "it leads nowhere without zipper %s", route->name);
	}
	return 0;
}

/* No zipper needs to be tried to see that none can be used. The reason of the first one is the error. */
static int check_any(const struct zrailset *rails, struct zerr *err)
{
	for (int i = 0; i < rails->nroutes; i++)
		if (rails->routes[i].rc == 0)
			return 0;
	*err = rails->routes[0].why;
	return rails->routes[0].rc;
}

int zrailset_find(struct zrailset *rails, const struct zplan *plan, const struct zhostfile *hosts, int wanted,
	struct zerr *err)
{
	memset(rails, 0, sizeof(*rails));
	int rc = zroute_find(&rails->routes, &rails->ways, plan, hosts, wanted, err);
	if (rc < 0)
		return rc;
	rails->nroutes = rc;
	rails->max = wanted > 0 ? wanted : ZCTL_RAILS_MAX;
	rails->hosts = hosts;
	for (int i = 0; rails->ways.hops && i < rails->nroutes; i++)
		if (rails->routes[i].rc < 0)
			return leave_out(rails, plan, &rails->routes[i], err);
	return check_any(rails, err);
}

void zrailset_free(struct zrailset *rails)
{
	zhostways_free(&rails->ways);
	free(rails->routes);
	rails->routes = NULL;
	rails->nroutes = rails->n = 0;
}

const char *zrailset_find_running(const struct zrailset *rails)
{
	int n = 0;
	for (int i = 0; i < rails->nroutes && n < rails->max; i++) {
		const struct zroute *route = &rails->routes[i];
		if (route->rc == 0 && !route->start)
			return route->name;
		n += route->rc == 0;
	}
	return NULL; /* later routes are used only if these cannot be, and zipperds of our own always can */
}

bool zrailset_is_away(int rc)
{
	static const int codes[] = {ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN, EADDRNOTAVAIL, ENOENT,
		ESHUTDOWN, ECONNRESET, ECONNABORTED, EPIPE};
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (rc == -codes[i])
			return true;
	return false;
}

/* Opens a route and adds it to those in use. */
static int open_route(struct zrailset *rails, struct zroute *route, struct zjob *job, struct zdaemon_params *daemon,
	struct zsession_params *session, const struct zplan *plan, const struct zscratch *scratch, struct zerr *err)
{
	char entries[ZCTL_ENTRIES_MAX];
	int rc = zhostways_entries(&rails->ways, rails->n, entries, err);
	if (rc == 0 && route->start) {
		daemon->number = rails->n + 1;
		daemon->cpus = zplan_kept(plan, route->zipper);
		rc = zdaemon_start(&rails->daemons[rails->n], daemon, route, scratch, err);
	}
	const struct zmunge *munge = session->munge;
	if (route->start) /* it knows the key */
		session->munge = NULL;
	if (rc == 0)
		rc = zjob_add(job, session, plan, route, entries, daemon->join_timeout_s, err);
	session->munge = munge;
	if (rc == 0)
		rails->used[rails->n++] = route;
	return rc;
}

static void tell_left_out(const struct zrailset *rails, int tried)
{
	for (int i = 0; i < tried && !rails->quiet; i++)
		if (rails->routes[i].rc < 0)
			zerr_print("zmpirun: warning: zipper %s is left out: %s\n", rails->routes[i].name,
				rails->routes[i].why.text);
}

/* The error of a route that fails where no other route will do instead. */
static int refuse(const struct zrailset *rails, const struct zroute *route, int rc, struct zerr *err)
{
	*err = route->why;
	if (rc == -EEXIST) /* nobody else's job has this name */
		zerr_set(err, rc, "%.500s: have two zippers of the hostfile the same zipperd?", route->why.text);
	return rails->nroutes > 1 ? zerr_prefix(err, rc, "zipper %s", route->name) : rc;
}

/* Leaves out the zipperds that run, or should run, and do not answer or take no new jobs. */
static int probe_all(struct zrailset *rails, struct zsession_params *session, const struct zplan *plan,
	struct zerr *err)
{
	for (int i = 0; i < rails->nroutes; i++) {
		struct zroute *route = &rails->routes[i];
		if (route->rc < 0 || route->start)
			continue;
		int rc = zjob_probe(session, route, &route->why);
		if (rc < 0 && !zrailset_is_away(rc))
			return refuse(rails, route, rc, err);
		route->rc = rc;
		if (rc < 0)
			rc = leave_out(rails, plan, route, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static struct zroute *find_route(const struct zrailset *rails, int zipper)
{
	int i = 0;
	while (rails->routes[i].zipper != zipper)
		i++;
	return &rails->routes[i];
}

/* Notes over which fabrics of the route some ways go on. */
static void find_next(const struct zhostways *ways, struct zroute *route)
{
	for (int i = 0; i < ways->nzippers * ways->nparts; i++)
		for (int h = 0; h < ways->way[i].n; h++)
			for (int p = 0; p < route->nports && ways->way[i].hop[h].zipper == route->zipper; p++)
				if (strcmp(route->port[p].fabric, ways->way[i].hop[h].to) == 0)
					route->next |= UINT64_C(1) << p;
}

/* Opens all zippers on the ways, where ranks reach zipperds over hops. The first zipperd must be told of all of them,
 * so they must be known before. */
static int open_ways(struct zrailset *rails, struct zjob *job, struct zdaemon_params *daemon,
	struct zsession_params *session, const struct zplan *plan, const struct zscratch *scratch, struct zerr *err)
{
	int rc = probe_all(rails, session, plan, err);
	if (rc < 0)
		return rc;
	job->hops = true;
	while (rails->n < rails->ways.nzippers) {
		struct zroute *route = find_route(rails, rails->ways.zipper[rails->n]);
		find_next(&rails->ways, route);
		rc = open_route(rails, route, job, daemon, session, plan, scratch, &route->why);
		if (rc < 0)
			return refuse(rails, route, rc, err);
	}
	tell_left_out(rails, rails->nroutes);
	return 0;
}

int zrailset_open(struct zrailset *rails, struct zjob *job, struct zdaemon_params *daemon,
	struct zsession_params *session, const struct zplan *plan, const struct zscratch *scratch, struct zerr *err)
{
	int i = 0;
	if (rails->ways.hops)
		return open_ways(rails, job, daemon, session, plan, scratch, err);
	for (; i < rails->nroutes && rails->n < rails->max; i++) {
		struct zroute *route = &rails->routes[i];
		if (route->rc < 0)
			continue;
		int rc = open_route(rails, route, job, daemon, session, plan, scratch, &route->why);
		if (rc == 0)
			continue;
		if (route->start || !zrailset_is_away(rc))
			return refuse(rails, route, rc, err);
		route->rc = rc;
	}
	if (rails->n == 0) {
		*err = rails->routes[0].why;
		return rails->routes[0].rc;
	}
	tell_left_out(rails, i);
	return 0;
}

static const struct zaddr *find_address(const void *ctx, int zipper, const char *fabric)
{
	return zroute_find_address(find_route(ctx, zipper), fabric);
}

const char *zrailset_format(const struct zrailset *rails, int part, char buf[ZRAILSET_TEXT_BYTES])
{
	static struct zhops ways[ZCTL_RAILS_MAX]; /* large */
	for (int i = 0; i < rails->n; i++) {
		if (rails->ways.hops)
			zhostways_hops(&rails->ways, i, part, &ways[i], find_address, rails);
		else
			ways[i] = (struct zhops){.first = rails->used[i]->port[part].addr};
	}
	zhops_format_list(ways, rails->n, buf, ZRAILSET_TEXT_BYTES);
	return buf;
}

const char *zrailset_format_entries(const struct zrailset *rails, char buf[ZRAILSET_ENTRIES_BYTES])
{
	size_t len = 0;
	for (int i = 0; i < rails->n && rails->ways.hops; i++) {
		if (i > 0)
			buf[len++] = ' ';
		if (zhostways_entries(&rails->ways, i, buf + len, NULL) ==
			0) /* the same text as the zipperds were told */
			len += strlen(buf + len);
	}
	return len > 0 ? buf : NULL;
}

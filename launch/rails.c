/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses and opens the rails of a job. */
#include "rails.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int zrails_find(struct zrails *rails, const struct zplan *plan, const struct zhostfile *hosts, int wanted,
	struct zerr *err)
{
	memset(rails, 0, sizeof(*rails));
	int rc = zroute_find(&rails->routes, plan, hosts, wanted, err);
	if (rc < 0)
		return rc;
	rails->nroutes = rc;
	rails->max = wanted > 0 ? wanted : ZCTL_RAILS_MAX;
	return 0;
}

void zrails_free(struct zrails *rails)
{
	free(rails->routes);
	rails->routes = NULL;
	rails->nroutes = rails->n = 0;
}

const char *zrails_find_running(const struct zrails *rails)
{
	int n = 0;
	for (int i = 0; i < rails->nroutes && n < rails->max; i++) {
		const struct zroute *route = &rails->routes[i];
		if (route->rc == 0 && !route->start)
			return route->name;
		n += route->rc == 0;
	}
	return NULL; /* one behind these would be used only if one of these could not, and ours always can */
}

/* It is not there, or does not answer: nothing that it has said. */
static bool is_away(int rc)
{
	static const int codes[] = {ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN, EADDRNOTAVAIL, ENOENT,
		ESHUTDOWN, ECONNRESET, ECONNABORTED, EPIPE};
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (rc == -codes[i])
			return true;
	return false;
}

/* Puts it behind those in use. */
static int open_route(struct zrails *rails, struct zroute *route, struct zjob *job, struct zdaemon_params *daemon,
	struct zsession_params *session, const struct zplan *plan, const struct zscratch *scratch, struct zerr *err)
{
	int rc = 0;
	if (route->start) {
		daemon->number = rails->n + 1;
		rc = zdaemon_start(&rails->daemons[rails->n], daemon, plan, route, scratch, err);
	}
	if (rc == 0)
		rc = zjob_add(job, session, plan, route->addr, route->name, daemon->join_timeout_s, err);
	if (rc == 0)
		rails->used[rails->n++] = route;
	return rc;
}

static void tell_left_out(const struct zrails *rails, int tried)
{
	for (int i = 0; i < tried; i++)
		if (rails->routes[i].rc < 0)
			fprintf(stderr, "zmpirun: warning: zipper %s is left out: %s\n", rails->routes[i].name,
				rails->routes[i].why.text);
}

int zrails_open(struct zrails *rails, struct zjob *job, struct zdaemon_params *daemon, struct zsession_params *session,
	const struct zplan *plan, const struct zscratch *scratch, struct zerr *err)
{
	int i = 0;
	for (; i < rails->nroutes && rails->n < rails->max; i++) {
		struct zroute *route = &rails->routes[i];
		if (route->rc < 0)
			continue;
		int rc = open_route(rails, route, job, daemon, session, plan, scratch, &route->why);
		if (rc == 0)
			continue;
		if (route->start || !is_away(rc)) {
			*err = route->why;
			if (rc == -EEXIST) /* our name for the job is nobody else's */
				zerr_set(err, rc, "%.500s: have two zippers of the hostfile the same zipperd?",
					route->why.text);
			return rails->nroutes > 1 ? zerr_prefix(err, rc, "zipper %s", route->name) : rc;
		}
		route->rc = rc;
	}
	if (rails->n == 0) {
		*err = rails->routes[0].why;
		return rails->routes[0].rc;
	}
	tell_left_out(rails, i);
	return 0;
}

const char *zrails_format(const struct zrails *rails, int part, char buf[ZRAILS_TEXT_BYTES])
{
	struct zaddr addrs[ZCTL_RAILS_MAX];
	for (int i = 0; i < rails->n; i++)
		addrs[i] = rails->used[i]->addr[part];
	zaddr_format_list(addrs, rails->n, buf, ZRAILS_TEXT_BYTES);
	return buf;
}

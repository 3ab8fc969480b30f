/* SPDX-License-Identifier: BSD-3-Clause */
/* Zippers as this machine sees them, see zippers.h. */
#include "launch/check/zippers.h"

#include <errno.h>
#include <string.h>

#include "config.h"

static void tell_away(struct zreport *r, const struct zroute *route, bool needed)
{
	zreport_add(r, needed ? ZREPORT_BAD : ZREPORT_WARN,
		needed ? "start its zipperd, see zipperd(8), or open its port" : "jobs go without it until it is back",
		"zipper %s: %s", route->name, route->why.text);
}

static void tell_refusal(struct zreport *r, const struct zroute *route, int rc, const struct zerr *err)
{
	zreport_add(r, ZREPORT_BAD,
		rc == -EACCES ? "its administrator must have your key, or you that which is known there, see KEYS in "
				"zipperd(8)"
			      : NULL,
		"zipper %s: %s", route->name, err->text);
}

/* Does it take one more job? status: its own word. */
static void judge_status(struct zreport *r, const struct zroute *route, const struct zctl_status_reply *status)
{
	if (status->draining)
		zreport_add(r, ZREPORT_BAD, "\"zipstat resume\" ends that, see zipstat(1)",
			"zipper %s: it is drained, and takes no new jobs", route->name);
	else if (status->max_jobs > 0 && status->jobs >= status->max_jobs)
		zreport_add(r, ZREPORT_BAD, "wait, or raise max_jobs, see zipperd.conf(5)",
			"zipper %s: it has %u jobs, and takes no more", route->name, status->jobs);
	else if (strcmp(status->release, PACKAGE_VERSION) != 0)
		zreport_add(r, ZREPORT_WARN, "update the older one",
			"zipper %s: its zipperd is of release %s, and this zmpirun of %s", route->name, status->release,
			PACKAGE_VERSION);
	else
		zreport_add(r, ZREPORT_OK, NULL, "zipper %s: zipperd %s knows you and takes new jobs", route->name,
			status->release);
}

/* Asks a zipperd that runs. 0, or a negative errno with text. */
static int ask(struct zreport *r, struct zroute *route, struct zsession_params *params, struct zerr *err)
{
	struct zctl_status_reply status = {0};
	struct zsession *session = NULL;
	int rc = zjob_connect(&session, params, route, ZCTL_SERVICE_ADMIN, err);
	if (rc < 0)
		return rc;
	rc = zsession_status(session, &status, err);
	zsession_close(session);
	if (rc == 0)
		judge_status(r, route, &status);
	else if (rc == -EPROTONOSUPPORT)
		zreport_add(r, ZREPORT_WARN, "update it",
			"zipper %s: its zipperd is of an earlier release than this zmpirun, %s", route->name,
			PACKAGE_VERSION);
	zctl_status_free(&status);
	return rc == -EPROTONOSUPPORT ? 0 : rc;
}

static void check_route(struct zreport *r, const struct zrailset *rails, struct zroute *route,
	struct zsession_params *params)
{
	struct zerr err = {{0}};
	if (route->rc < 0)
		return;
	if (route->start) {
		zreport_add(r, ZREPORT_OK, NULL, "zipper %s: zmpirun starts a zipperd of its own here", route->name);
		return;
	}
	int rc = ask(r, route, params, &err);
	if (rc == 0)
		return;
	if (!zrailset_is_away(rc)) {
		tell_refusal(r, route, rc, &err);
		return;
	}
	route->why = err;
	if (rails->ways.hops) /* zrailset_open looks for other ways, and asks it again */
		tell_away(r, route, false);
	else
		route->rc = rc;
}

bool zzippers_check(struct zreport *r, struct zrailset *rails, const struct zsession_params *params)
{
	struct zsession_params p = *params;
	const int before = r->count[ZREPORT_BAD];
	int left = 0, asked = 0;
	p.job[0] = '\0';
	for (; asked < rails->nroutes && (rails->ways.hops || left < rails->max); asked++) {
		check_route(r, rails, &rails->routes[asked], &p);
		left += rails->routes[asked].rc == 0;
	}
	for (int i = 0; i < asked; i++)
		if (rails->routes[i].rc < 0)
			tell_away(r, &rails->routes[i], left == 0);
	explicit_bzero(&p, sizeof(p));
	return r->count[ZREPORT_BAD] == before;
}

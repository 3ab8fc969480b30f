/* SPDX-License-Identifier: BSD-3-Clause */
/* Zippers as this machine sees them, see zippers.h. */
#include "launch/check/zippers.h"

#include <errno.h>
#include <string.h>

#include "config.h"

/* rc: of asking it; the text is in route->why. */
static void tell_away(struct zreport *r, const struct zroute *route, int rc, bool needed)
{
	zreport_add(r, needed ? ZREPORT_BAD : ZREPORT_WARN,
		!needed		   ? "jobs go without it until it is back"
		: rc == -ESHUTDOWN ? "\"zipstat resume\" ends that, see zipstat(1)"
				   : "start its zipperd, see zipperd(8), or open its port",
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

/* Does it take one more job? status: its own word. 0, or -ESHUTDOWN with text: a job leaves it out, as if it was away.
 */
static int judge_status(struct zreport *r, const struct zroute *route, const struct zctl_status_reply *status,
	struct zerr *err)
{
	if (status->draining)
		return zerr_set(err, -ESHUTDOWN, "it is drained, and takes no new jobs");
	if (status->max_jobs > 0 && status->jobs >= status->max_jobs)
		zreport_add(r, ZREPORT_BAD, "wait, or raise max_jobs, see zipperd.conf(5)",
			"zipper %s: it has %u jobs, and takes no more", route->name, status->jobs);
	else if (strcmp(status->release, PACKAGE_VERSION) != 0)
		zreport_add(r, ZREPORT_WARN, "update the older one",
			"zipper %s: its zipperd is of release %s, and this zmpirun of %s", route->name, status->release,
			PACKAGE_VERSION);
	else
		zreport_add(r, ZREPORT_OK, NULL, "zipper %s: zipperd %s knows you and takes new jobs", route->name,
			status->release);
	return 0;
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
		rc = judge_status(r, route, &status, err);
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
	if (rails->ways.hops) /* zrailset_open asks it again, and looks for other ways */
		tell_away(r, route, rc, false);
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
			tell_away(r, &rails->routes[i], rails->routes[i].rc, left == 0);
	explicit_bzero(&p, sizeof(p));
	return r->count[ZREPORT_BAD] == before;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects to the zippers as a rank does in MPI_Init, see rails.h. */
#include "launch/probe/rails.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/module.h"
#include "common/session/credentials.h"
#include "common/session/session.h"
#include "common/transport/transports.h"
#include "launch/probe/say.h"

#define ANSWER_MS 5000 /* for connecting, and for each answer */
#define PINGS 10

/* The module with the cryptography. NULL: it cannot be used here, and that is said. */
static const struct zauth_ops *load_auth(const char *module_dir)
{
	char path[4096];
	struct zerr err = {{0}};
	snprintf(path, sizeof(path), "%s/zipauth.so", module_dir);
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct zauth_ops *auth = module ? dlsym(module, ZAUTH_SYMBOL) : NULL;
	if (!auth)
		zsay("nomodule", "%s", dlerror());
	else if (zmodule_check(auth->release, path, &err) < 0)
		zsay("nomodule", "%s", err.text);
	else
		return auth;
	return NULL;
}

static int prepare(struct zsession_params *p, struct zerr *err)
{
	const char *job = getenv("ZIPPER_JOB");
	snprintf(p->job, sizeof(p->job), "%s", job ? job : "");
	int rc = zcredentials_find_user(p->user, err);
	return rc == 0 ? zcredentials_find_rank(p->auth, p->key, &p->expires_s, p->user, err) : rc;
}

/* The shortest of some round trips; the first ones find caches cold. */
static int measure(struct zsession *session, int64_t *best, struct zerr *err)
{
	int64_t ns;
	int rc = 0;
	*best = INT64_MAX;
	for (int i = 0; rc == 0 && i < PINGS; i++)
		if ((rc = zsession_ping(session, &ns, err)) == 0 && ns < *best)
			*best = ns;
	return rc;
}

static void say_way(int number, const struct zhops *way, struct zsession_params *p)
{
	struct zsession *session = NULL;
	struct zerr err = {{0}};
	int64_t ns;
	p->zipper = way->first;
	p->hops = way->hop;
	p->nhops = way->n;
	int rc = zsession_open(&session, p, ZCTL_SERVICE_RANK, &err);
	if (rc == 0)
		rc = measure(session, &ns, &err);
	if (rc == 0)
		zsay("rail", "%d %" PRId64, number, ns);
	else
		zsay("norail", "%d %s", number, err.text);
	zsession_close(session);
}

void zrails_say(const char *module_dir)
{
	static struct zhops ways[ZCTL_RAILS_MAX]; /* large */
	const char *text = getenv("ZIPPER_ZIPPERD");
	struct zerr err = {{0}};
	struct zsession_params params = {.timeout_ms = ANSWER_MS};
	params.auth = load_auth(module_dir);
	if (!params.auth || !text)
		return;
	ztransports_configure(module_dir, NULL);
	int n = zhops_parse_list(ways, ZCTL_RAILS_MAX, text, &err);
	int rc = n < 0 ? n : prepare(&params, &err);
	if (rc < 0)
		zsay("nomodule", "%s", err.text);
	for (int i = 0; rc >= 0 && i < n; i++)
		say_way(i, &ways[i], &params);
	params.auth->wipe(params.key, sizeof(params.key));
}

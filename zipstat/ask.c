/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions with zipperd, see ask.h. */
#include "zipstat/ask.h"

#include <errno.h>
#include <string.h>

#include "common/control/ctl_name.h"
#include "common/session/credentials.h"

#define ANSWER_TIMEOUT_MS 10000

static int set_name(char to[ZCTL_NAME_MAX + 1], const char *name, const char *what, struct zerr *err)
{
	if (!zctl_name_ok(name))
		return zerr_set(err, -EINVAL, "'%.80s' is no name of a %s", name, what);
	strcpy(to, name); /* zctl_name_ok bounded it */
	return 0;
}

static int prepare(struct zsession_params *p, struct zmunge *munge, const struct ask_options *o, struct zerr *err)
{
	*p = (struct zsession_params){.auth = &zauth_module,
		.timeout_ms = o->timeout_ms ? o->timeout_ms : ANSWER_TIMEOUT_MS};
	int rc = zaddr_parse(&p->zipper, o->address, err);
	if (rc < 0)
		return zerr_prefix(err, rc, "%.200s", o->address);
	rc = o->user ? set_name(p->user, o->user, "user", err) : zcredentials_find_user(p->user, err);
	if (rc == 0 && o->job)
		rc = set_name(p->job, o->job, "job", err);
	if (rc == 0)
		rc = zcredentials_find_munge(munge, NULL, zcredentials_find_key(&zauth_module, p->key, p->user, err),
			err);
	if (rc <= 0)
		return rc;
	zauth_module.random(p->key, sizeof(p->key));
	p->munge = munge;
	return 0;
}

int ask_open(struct zsession **s, const struct ask_options *o, struct zerr *err)
{
	struct zsession_params p;
	struct zmunge munge;
	*s = NULL;
	int rc = prepare(&p, &munge, o, err);
	if (rc == 0)
		rc = zsession_open(s, &p, ZCTL_SERVICE_ADMIN, err);
	zauth_module.wipe(&p, sizeof(p));
	return rc;
}

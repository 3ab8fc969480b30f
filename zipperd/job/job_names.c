/* SPDX-License-Identifier: BSD-3-Clause */
/* Published names, see job_names.h. */
#include "zipperd/job/job_names.h"

#include <stdlib.h>
#include <string.h>

#include "zipperd/conn/conn_send.h"

struct job_name {
	UT_hash_handle hh;
	uint32_t vrank; /* of the rank that published it */
	char port[ZCTL_PORT_NAME_MAX + 1];
	char service[]; /* the key */
};

static struct job_name *find(const struct job *j, const char *service)
{
	struct job_name *n;
	HASH_FIND_STR(j->names, service, n);
	return n;
}

static void remove_name(struct job *j, struct job_name *n)
{
	HASH_DEL(j->names, n);
	free(n);
}

static enum zctl_naming_answer publish(struct rank *r, const struct zctl_naming *q)
{
	struct job *j = r->job;
	if (find(j, q->service))
		return ZCTL_NAMING_TAKEN;
	size_t len = strlen(q->service);
	struct job_name *n = HASH_COUNT(j->names) < ZCTL_PUBLISHED_MAX ? malloc(sizeof(*n) + len + 1) : NULL;
	if (!n)
		return ZCTL_NAMING_FULL;
	n->vrank = r->vrank;
	memcpy(n->port, q->port, sizeof(n->port));
	memcpy(n->service, q->service, len + 1);
	HASH_ADD_KEYPTR(hh, j->names, n->service, len, n);
	return ZCTL_NAMING_DONE;
}

static enum zctl_naming_answer look_up(const struct job *j, const struct zctl_naming *q, struct zctl_naming *a)
{
	const struct job_name *n = find(j, q->service);
	if (!n)
		return ZCTL_NAMING_UNKNOWN;
	a->vrank = n->vrank;
	memcpy(a->port, n->port, sizeof(a->port));
	return ZCTL_NAMING_DONE;
}

/* As natively, any rank may take a name back, whatever port it names. */
static enum zctl_naming_answer unpublish(struct job *j, const struct zctl_naming *q)
{
	struct job_name *n = find(j, q->service);
	if (!n)
		return ZCTL_NAMING_UNKNOWN;
	remove_name(j, n);
	return ZCTL_NAMING_DONE;
}

bool job_names_request(struct rank *r, const struct zctl_naming *q)
{
	struct job *j = r->job;
	struct zctl_msg msg = {.type = ZCTL_NAMING};
	struct zctl_naming *a = &msg.u.naming;
	if (j->state != JOB_RUNNING || q->answer != ZCTL_NAMING_QUESTION)
		return false;
	a->what = q->what;
	a->number = q->number;
	a->answer = q->what == ZCTL_NAMING_PUBLISH  ? publish(r, q)
		    : q->what == ZCTL_NAMING_LOOKUP ? look_up(j, q, a)
						    : unpublish(j, q);
	conn_send(r->conn, &msg);
	return true;
}

void job_names_free(struct job *j)
{
	struct job_name *n, *after;
	HASH_ITER(hh, j->names, n, after)
		remove_name(j, n);
}

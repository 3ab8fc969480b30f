/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions of administrators: STATUS in as many pages as zipperd makes of its answer, and CONTROL. See session.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/session/session.h"
#include "common/session/session_io.h"

/* Each page has a job or a direction that is new. So a zipperd that never ends its answer is stopped here. */
#define PAGES_MAX 100000

static int check_protocol(const struct zsession *s, struct zerr *err)
{
	if (zsession_protocol(s) >= ZCTL_PROTOCOL_STATUS)
		return 0;
	return zerr_set(err, -EPROTONOSUPPORT,
		"%s is of a release that only tells traffic (zipstat --csv): this question needs a newer zipperd",
		s->where);
}

/* Appends n elements to the list of *count. 0 or -ENOMEM. */
static int append(void *list_at, uint32_t *count, const void *more, uint32_t n, size_t size)
{
	void *list;
	if (n == 0)
		return 0;
	memcpy(&list, list_at, sizeof(list));
	char *longer = realloc(list, ((size_t)*count + n) * size);
	if (!longer)
		return -ENOMEM;
	memcpy(longer + *count * size, more, n * size);
	memcpy(list_at, &longer, sizeof(longer));
	*count += n;
	return 0;
}

/* Does the page begin with the job at the end of all? Then it has more of its directions, and the rest once more. */
static bool goes_on(const struct zctl_status_reply *all, const struct zctl_status_reply *page)
{
	if (all->njobs == 0 || page->njobs == 0)
		return false;
	const struct zctl_job_status *last = &all->job[all->njobs - 1];
	return last->number == page->job[0].number && last->phase == page->job[0].phase;
}

static int add_page(struct zctl_status_reply *all, const struct zctl_status_reply *page)
{
	const uint32_t again = goes_on(all, page), parts = again ? page->job[0].nparts : 0;
	if (again)
		all->job[all->njobs - 1].nlanes += page->job[0].nlanes;
	int rc = append(&all->worker, &all->nworkers, page->worker, page->nworkers, sizeof(*page->worker));
	if (rc == 0)
		rc = append(&all->part, &all->nparts, page->part + parts, page->nparts - parts, sizeof(*page->part));
	if (rc == 0)
		rc = append(&all->lane, &all->nlanes, page->lane, page->nlanes, sizeof(*page->lane));
	if (rc == 0)
		rc = append(&all->job, &all->njobs, page->job + again, page->njobs - again, sizeof(*page->job));
	return rc;
}

static bool is_end(const struct zctl_place *p)
{
	return p->ended == 0 && p->job == 0 && p->lane == 0;
}

int zsession_status(struct zsession *s, struct zctl_status_reply *reply, struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_STATUS}, in;
	memset(reply, 0, sizeof(*reply));
	int rc = check_protocol(s, err);
	for (int page = 0; rc == 0; page++) {
		rc = zsession_io_request(s, &out, ZCTL_STATUS_REPLY, &in, false, err);
		if (rc != 0)
			break;
		out.u.status = in.u.status_reply.more;
		if (page == 0) {
			*reply = in.u.status_reply;
		} else {
			rc = add_page(reply, &in.u.status_reply);
			zctl_free(&in);
		}
		if (rc != 0)
			zerr_set(err, rc, "out of memory");
		else if (is_end(&out.u.status))
			return 0;
		else if (page == PAGES_MAX)
			rc = zerr_set(err, -EPROTO, "%s does not come to an end with its answer", s->where);
	}
	zctl_status_free(reply);
	return rc;
}

int zsession_control(struct zsession *s, const struct zctl_control *control, char text[ZCTL_TEXT_MAX + 1],
	struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_CONTROL}, in;
	out.u.control = *control;
	int rc = check_protocol(s, err);
	if (rc == 0)
		rc = zsession_io_request(s, &out, ZCTL_CONTROLLED, &in, false, err);
	if (rc == 0)
		memcpy(text, in.u.controlled.text, sizeof(in.u.controlled.text));
	return rc;
}

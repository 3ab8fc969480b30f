/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the contents of a control message fit together. The receiver of a message relies on this check. */
#include "common/control/ctl_check.h"

#include <string.h>

#include "common/control/ctl_name.h"
#include "common/control/seal.h"

/* Checks runs, which must cover 0..total-1 within parts of these sizes. The reader of the message checks that no lrank
 * occurs twice. */
static const char *check_runs(const struct zctl_run *runs, uint32_t nruns, const uint32_t *sizes, uint32_t nparts)
{
	uint64_t next = 0, ranks = 0;
	for (uint32_t i = 0; i < nruns; i++) {
		const struct zctl_run *run = &runs[i];
		if (run->vrank != next || run->count == 0 || run->part >= nparts ||
			(uint64_t)run->lrank + run->count > sizes[run->part])
			return "the runs of the world do not fit together";
		next += run->count;
	}
	for (uint32_t i = 0; i < nparts; i++) {
		if (sizes[i] == 0) /* CREATE: a zero would mean "not told", and any number of ranks could come */
			return "a part of the world is empty";
		ranks += sizes[i];
	}
	return ranks == next && ranks <= ZCTL_RANKS_MAX ? NULL : "the parts and runs of the world do not fit together";
}

/* A rank builds its tables from the message without another check, so the contents must hold together. */
static const char *check_world(const struct zctl_world *w)
{
	uint32_t sizes[ZCTL_PARTS_MAX];
	uint64_t ranks = 0;
	if (w->nparts == 0 || w->nruns == 0)
		return "the world is empty";
	if (w->tracks > ZCTL_TRACKS_MAX)
		return "no job has so many tracks";
	for (uint32_t i = 0; i < w->nparts; i++)
		ranks += sizes[i] = w->parts[i].size;
	if (w->vrank >= ranks)
		return "the parts and runs of the world do not fit together";
	for (uint32_t i = 0, next = 0; i < w->nattached; next = w->attached[i].vrank + w->attached[i].count, i++)
		if (w->attached[i].vrank < next || w->attached[i].count == 0 ||
			(uint64_t)w->attached[i].vrank + w->attached[i].count > ranks)
			return "the ranks with ports do not fit together";
	return check_runs(w->runs, w->nruns, sizes, w->nparts);
}

static bool are_entries(const char *entries, const char *parts)
{
	char name[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	uint32_t hops[ZCTL_PARTS_MAX];
	return entries[0] == '\0' || zctl_name_split_entries(entries, parts, name, hops) > 0;
}

static const char *check_create(const struct zctl_create *c)
{
	if (!are_entries(c->entries, c->parts))
		return "the fabrics by which the parts come are not one for each";
	if (c->again > 1)
		return "a flag is neither 0 nor 1";
	if (c->nruns == 0)
		return NULL;
	return check_runs(c->runs, c->nruns, c->sizes, (uint32_t)zctl_name_split_parts(c->parts, NULL, ZCTL_PARTS_MAX));
}

static const char *check_seal(uint8_t seal)
{
	return seal < ZSEAL_LEVELS || seal == ZSEAL_INSIDE ? NULL : "there is no such protection";
}

static const char *check_hello(const struct zctl_hello *h)
{
	if (h->service < ZCTL_SERVICE_RANK || h->service > ZCTL_SERVICE_TRUNK)
		return "there is no such service";
	return h->method > ZCTL_METHOD_MUNGE ? "there is no such method" : check_seal(h->seal);
}

static const char *check_join(const struct zctl_join *j)
{
	if (zctl_name_split_parts(j->parts, NULL, ZCTL_PARTS_MAX) < 0)
		return "the list of parts is not one";
	if (!are_entries(j->entries, j->parts))
		return "the fabrics by which the parts come are not one for each";
	if (j->endpoints == 0 || j->endpoints > ZCTL_ENDPOINTS_MAX)
		return "a rank has no such number of endpoints";
	if (j->nrails > ZCTL_RAILS_MAX || j->rail >= j->nrails)
		return "a job has no such zipper";
	if (j->tracks > ZCTL_TRACKS_MAX)
		return "no job has so many tracks";
	return j->mixed > 1 || j->direct > 1 || j->records > 1 || j->waits > 1 ? "a flag is neither 0 nor 1" : NULL;
}

static const char *check_endpoint(uint32_t endpoint)
{
	return endpoint < ZCTL_ENDPOINTS_MAX ? NULL : "no rank has such an endpoint";
}

static const char *check_naming(const struct zctl_naming *n)
{
	return n->what < ZCTL_NAMING_PUBLISH || n->what > ZCTL_NAMING_UNPUBLISH || n->answer > ZCTL_NAMING_FULL
		       ? "it asks for nothing known"
		       : NULL;
}

static const char *check_place(uint32_t endpoint, uint8_t seal)
{
	const char *bad = check_endpoint(endpoint);
	return bad ? bad : check_seal(seal);
}

static const char *check_track(uint32_t track)
{
	return track < ZCTL_TRACKS_MAX ? NULL : "no job has such a track";
}

static const char *check_share(uint32_t share)
{
	return share <= ZCTL_SHARE_MAX ? NULL : "no job has such channels";
}

static const char *check_attach(const struct zctl_attach *a)
{
	const char *bad = check_place(a->endpoint, a->seal);
	return bad ? bad : check_track(a->track);
}

static const char *check_open(const struct zctl_open *o)
{
	const char *bad = check_endpoint(o->endpoint);
	return bad ? bad : check_track(o->track);
}

/* Each job's parts and lanes are the next ones in their lists. */
static const char *check_status(const struct zctl_status_reply *s)
{
	uint64_t parts = 0, lanes = 0;
	for (uint32_t i = 0; i < s->njobs; i++) {
		const struct zctl_job_status *j = &s->job[i];
		if (j->phase < ZCTL_JOB_FORMS || j->phase > ZCTL_JOB_ENDED)
			return "there is no such phase of a job";
		if (j->nparts > s->nparts - parts || j->nlanes > s->nlanes - lanes)
			return "jobs and their parts do not fit together";
		for (uint32_t k = 0; k < j->nlanes; k++)
			if (s->lane[lanes + k].from >= j->nparts || s->lane[lanes + k].to >= j->nparts)
				return "a direction leads to no part of its job";
		parts += j->nparts;
		lanes += j->nlanes;
	}
	return parts == s->nparts && lanes == s->nlanes ? NULL : "jobs and their parts do not fit together";
}

const char *zctl_check(const struct zctl_msg *m)
{
	switch (m->type) {
	case ZCTL_HELLO:
		return check_hello(&m->u.hello);
	case ZCTL_CHALLENGE:
		return check_seal(m->u.challenge.seal);
	case ZCTL_JOIN:
		return check_join(&m->u.join);
	case ZCTL_ATTACH:
		return check_attach(&m->u.attach);
	case ZCTL_OPEN:
		return check_open(&m->u.open);
	case ZCTL_WORLD:
		return m->u.world.external32 > 1 ? "a flag is neither 0 nor 1" : check_world(&m->u.world);
	case ZCTL_CREATE:
		return check_create(&m->u.create);
	case ZCTL_DIRECT:
		return m->u.direct.what < ZCTL_DIRECT_ASK || m->u.direct.what > ZCTL_DIRECT_NO
			       ? "it asks for nothing known"
			       : check_place(m->u.direct.endpoint, m->u.direct.seal);
	case ZCTL_MEET:
		return strcmp(m->u.meet.from, m->u.meet.to) == 0 ? "both ends are on one fabric" : NULL;
	case ZCTL_REACH:
		return strcmp(m->u.reach.from, m->u.reach.to) == 0 ? "a hop within one fabric"
								   : check_share(m->u.reach.share);
	case ZCTL_TRUNK:
		return m->u.trunk.share == 0 ? "a trunk for nothing" : check_share(m->u.trunk.share);
	case ZCTL_NAMING:
		return check_naming(&m->u.naming);
	case ZCTL_STATE:
		return m->u.state.what < ZCTL_STATE_RUNS || m->u.state.what > ZCTL_STATE_OVER ? "there is no such state"
											      : NULL;
	case ZCTL_EVENT:
		return m->u.event.kind < ZCTL_EV_RANK_JOINED || m->u.event.kind > ZCTL_EV_LOST
			       ? "there is no such event"
			       : NULL;
	case ZCTL_STATUS_REPLY:
		return check_status(&m->u.status_reply);
	case ZCTL_CONTROL:
		return m->u.control.what < ZCTL_CONTROL_DRAIN || m->u.control.what > ZCTL_CONTROL_SET
			       ? "it asks for nothing known"
			       : NULL;
	default:
		return NULL;
	}
}

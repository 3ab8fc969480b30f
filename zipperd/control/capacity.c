/* SPDX-License-Identifier: BSD-3-Clause */
/* Room for connections, see capacity.h. */
#include "zipperd/control/capacity.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "zipperd/control/job.h"
#include "zipperd/control/listener.h"
#include "common/base/log.h"

#define PATIENCE_MS 2000    /* without room: those who connect have some seconds more */
#define GOING_MS 6000	    /* while others are about to go: longer than LAST_WORDS_MS (job.c), less than ranks wait */
#define LATE_MAX 8	    /* that are let in to hear that there is no room */
#define DESCRIPTORS_KEPT 32 /* for those, and for what is not a connection */
#define DESCRIPTORS_SHM                                                                                                \
	4 /* of a connection over shared memory; over TCP, and of one for control over Verbs, it is 1                  \
	   */

/* Where the limit is low, a quarter of it. */
static int64_t kept(const struct daemon *d)
{
	return d->descriptors / 4 < DESCRIPTORS_KEPT ? d->descriptors / 4 : DESCRIPTORS_KEPT;
}

static int64_t descriptors_each(const struct settings *c)
{
	for (int i = 0; i < c->nlistens; i++)
		if (c->listen[i].addr.kind != ZADDR_SHM)
			return 1;
	return DESCRIPTORS_SHM;
}

void capacity_open(struct daemon *d)
{
	struct settings *c = &d->settings;
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		getrlimit(RLIMIT_NOFILE, &limit);
	d->descriptors = limit.rlim_cur < INT32_MAX ? (int64_t)limit.rlim_cur : INT32_MAX;
	int64_t most = (d->descriptors - kept(d)) / descriptors_each(c);
	if (c->max_connections <= most)
		return;
	d->wanted_connections = c->max_connections;
	c->max_connections = most;
}

void capacity_log(const struct daemon *d)
{
	if (d->wanted_connections && !d->for_job) /* who has written its configuration wants all that there are */
		zlog(ZLOG_WARN,
			"max_connections is %lld instead of %lld: more than %lld descriptors may not be open (ulimit "
			"-n)",
			(long long)d->settings.max_connections, (long long)d->wanted_connections,
			(long long)d->descriptors);
}

/* The lowest number that is free tells, whatever has taken the others. */
static bool descriptors_lack(const struct daemon *d)
{
	if (!d->descriptors)
		return false;
	int fd = fcntl(d->epoll, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		close(fd);
	return fd < 0 || fd >= d->descriptors - kept(d);
}

static int64_t patience_ms(const struct daemon *d)
{
	return list_empty(&d->leaving) && list_empty(&d->draining) ? PATIENCE_MS : GOING_MS;
}

bool capacity_allows(struct daemon *d)
{
	/* Half of the places at most are for those of whom nothing is known yet: their time is limited. */
	if (d->nstrangers >= (d->settings.max_connections + 1) / 2)
		return false;
	if (d->nconnections < d->settings.max_connections && !descriptors_lack(d)) {
		d->full_since_ms = 0;
		return true;
	}
	if (!d->full_since_ms)
		d->full_since_ms = d->now_ms;
	return d->now_ms - d->full_since_ms >= patience_ms(d) && d->nlate < LATE_MAX;
}

bool capacity_lacks(const struct peer *p, struct zerr *err)
{
	const struct daemon *d = p->daemon;
	if (!p->late)
		return false;
	if (d->nconnections > d->settings.max_connections)
		zerr_set(err, -EBUSY, "zipperd at %.80s has all its %lld connections (max_connections)",
			p->listener->text, (long long)d->settings.max_connections);
	else if (descriptors_lack(d))
		zerr_set(err, -EBUSY, "zipperd at %.80s has all its %lld descriptors (ulimit -n)", p->listener->text,
			(long long)d->descriptors);
	else
		return false;
	return true;
}

int capacity_check(const struct job *j, uint32_t endpoints, struct zerr *err)
{
	int64_t most = j->daemon->settings.max_connections;
	uint64_t ranks = 0, need = j->launcher != NULL;
	for (uint32_t a = 0; a < j->nparts; a++) {
		uint64_t size = j->part[a].size ? j->part[a].size : j->expected[a], others = 0;
		for (uint32_t b = 0; b < j->nparts; b++)
			others += b != a && job_carries(j, a, b);
		ranks += size;
		need += size * (1 + endpoints * others);
	}
	if (need <= (uint64_t)most)
		return 0;
	return zerr_set(err, -E2BIG, "%llu ranks may need %llu connections, but max_connections is %lld here%s",
		(unsigned long long)ranks, (unsigned long long)need, (long long)most,
		j->daemon->wanted_connections ? " (ulimit -n)" : "");
}

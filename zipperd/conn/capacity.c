/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of connections, see capacity.h. */
#include "zipperd/conn/capacity.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/log.h"
#include "zipperd/conn/conn.h"
#include "zipperd/conn/listener.h"

#define PATIENCE_MS 2000 /* without room, until connections are let in to hear so; they have some seconds more */
#define GOING_MS 6000	 /* the same while others are about to go: over JOB_END_LAST_WORDS_MS, less than ranks wait */
#define TRIM_LEAST 256	 /* connections whose memory is given back when most of them have gone */
#define LATE_MAX 8	 /* connections that are let in at a time to hear that there is no room */
#define DESCRIPTORS_KEPT 32  /* for these, and for descriptors of other things */
#define DESCRIPTORS_A_PAIR 4 /* of workers, where directions have several */
/* Of a connection over shared memory. A connection over TCP has 1, also one for control over Verbs. */
#define DESCRIPTORS_SHM 4

/* The descriptors that are not for connections: a quarter of them where the limit is low. */
static int64_t kept(const struct daemon *d)
{
	const int64_t pairs = (int64_t)d->settings.nfabrics * (d->settings.nfabrics - 1) / 2;
	const int64_t more = (settings_workers(&d->settings) - 1) * pairs * DESCRIPTORS_A_PAIR;
	return d->descriptors / 4 < DESCRIPTORS_KEPT + more ? d->descriptors / 4 : DESCRIPTORS_KEPT + more;
}

static int64_t descriptors_each(const struct settings *c)
{
	for (int i = 0; i < c->nlistens; i++)
		if (!zaddr_traits(&c->listen[i].addr)->this_host)
			return 1;
	return DESCRIPTORS_SHM;
}

void capacity_init(struct daemon *d)
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
	if (d->wanted_connections && !d->for_job) /* a launcher asks for as many as possible */
		zlog(ZLOG_WARN,
			"max_connections is %lld instead of %lld: more than %lld descriptors may not be open (ulimit "
			"-n)",
			(long long)d->settings.max_connections, (long long)d->wanted_connections,
			(long long)d->descriptors);
}

/* Are too few descriptors free? The lowest free number tells, whatever has taken the others. */
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

static bool has_room(const struct daemon *d)
{
	return d->nconnections < d->settings.max_connections && !descriptors_lack(d);
}

bool capacity_allows(struct daemon *d)
{
	if (!address_has_room(d->addresses, d->now_ms))
		return false;
	bool room = has_room(d);
	d->crowded = !room && address_spare(d->addresses, d->now_ms);
	if (room || d->crowded) {
		d->full_since_ms = 0;
		return true;
	}
	if (!d->full_since_ms)
		d->full_since_ms = d->now_ms;
	return d->now_ms - d->full_since_ms >= patience_ms(d) && d->nlate < LATE_MAX;
}

bool capacity_lacks(const struct conn *conn, struct zerr *err)
{
	const struct daemon *d = conn->daemon;
	if (!conn->late)
		return false;
	if (d->nconnections > d->settings.max_connections)
		zerr_set(err, -EBUSY, "zipperd at %.80s has all its %lld connections (max_connections)",
			conn->listener->text, (long long)d->settings.max_connections);
	else if (descriptors_lack(d))
		zerr_set(err, -EBUSY, "zipperd at %.80s has all its %lld descriptors (ulimit -n)", conn->listener->text,
			(long long)d->descriptors);
	else
		return false;
	return true;
}

void capacity_trim(struct daemon *d)
{
	if (d->nconnections > d->most_connections)
		d->most_connections = d->nconnections;
	if (d->most_connections < TRIM_LEAST || d->nconnections > d->most_connections / 4)
		return;
	malloc_trim(0);
	d->most_connections = d->nconnections;
}

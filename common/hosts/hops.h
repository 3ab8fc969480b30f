/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to zipperds that are not on a network of the process that wants to talk to them. A way is an address that the
 * process can reach, and hops from there. Each hop is an address on another network, to which the zipperd before it
 * connects (ctl.h, "Hops"). As text: ADDRESS[>FROM>TO>ADDRESS]... TO is the fabric by which the zipperd at the ADDRESS
 * before it reaches the next zipperd; FROM is the fabric by which we come to that zipperd. Start-up only; any thread.
 */
#ifndef ZIP_COMMON_HOSTS_HOPS_H
#define ZIP_COMMON_HOSTS_HOPS_H

#include "common/control/ctl.h"
#include "common/transport/base/addr.h"

struct zhop {
	char from[ZCTL_NAME_MAX + 1], to[ZCTL_NAME_MAX + 1];
	struct zaddr addr;
};

struct zhops { /* large: not on small stacks */
	struct zaddr first;
	int n; /* 0: first is the zipperd that is wanted */
	struct zhop hop[ZCTL_HOPS_MAX];
};

/* bytes of one way as text, at most, with the zero */
#define ZHOPS_TEXT_BYTES (512 + ZCTL_HOPS_MAX * (512 + 2 * ZCTL_NAME_MAX + 4))

/* Reads a way. Returns 0, or -EINVAL with the reason. */
int zhops_parse(struct zhops *, const char *text, struct zerr *);
/* Reads several ways, separated by commas. A comma that no address follows is part of a path. Returns their number, at
 * most max, or -EINVAL with the reason. */
int zhops_parse_list(struct zhops *, int max, const char *text, struct zerr *);
/* Writes a way, always terminated. Returns the length. */
int zhops_format(const struct zhops *, char *buf, size_t cap);
/* Writes n ways, as zhops_format. */
int zhops_format_list(const struct zhops *, int n, char *buf, size_t cap);
/* The zipperd at the end of a way. */
static inline const struct zaddr *zhops_last(const struct zhops *h)
{
	return h->n > 0 ? &h->hop[h->n - 1].addr : &h->first;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways to zipperds that are not on the network of who wants to talk to them: an address that is, and the hops from
 * there, each an address on another network, to which the zipperd before it connects (ctl.h, "Hops"). As text
 * ADDRESS[>FROM>TO>ADDRESS]...: TO is the fabric by which the zipperd at the ADDRESS in front reaches the next one,
 * FROM the one by which we come to it. Start-up only; any thread.
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
	int n; /* 0: first is where we want to go */
	struct zhop hop[ZCTL_HOPS_MAX];
};

/* Most that one takes as text, with the zero. */
#define ZHOPS_TEXT_BYTES (512 + ZCTL_HOPS_MAX * (512 + 2 * ZCTL_NAME_MAX + 4))

/* 0, or -EINVAL with the reason. */
int zhops_parse(struct zhops *, const char *text, struct zerr *);
/* Several, separated by commas. A comma that no address follows is part of a path. Returns how many, at most max, or
 * -EINVAL with the reason. */
int zhops_parse_list(struct zhops *, int max, const char *text, struct zerr *);
/* Always terminated; returns the length. */
int zhops_format(const struct zhops *, char *buf, size_t cap);
/* As zhops_format, n of them. */
int zhops_format_list(const struct zhops *, int n, char *buf, size_t cap);
/* The zipperd at the end of it. */
static inline const struct zaddr *zhops_last(const struct zhops *h)
{
	return h->n > 0 ? &h->hop[h->n - 1].addr : &h->first;
}

#endif

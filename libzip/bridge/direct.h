/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct links to ranks of other parts that share a fabric with this one: where we listen, who may connect, and the way
 * from the first thought of a message to the decision whether it travels directly or over the bridge. ctl.h has the
 * protocol. Until that decision a peer's channel is waiting: it takes messages into its queues and posts none. Under
 * the shim's lock, but for what MPI_Init does before there is one.
 */
#ifndef ZIP_LIBZIP_DIRECT_H
#define ZIP_LIBZIP_DIRECT_H

#include <stdbool.h>

#include "common/control/ctl.h"

struct pollfd;
struct zchannel;
struct zports;

/* Listens at these ports, and for ranks on the same node, and fills in where (join->ports, local, node, direct). What
 * cannot be listened at is left out, with a line in the log. 0 or a negative errno with the reason. */
int zdirect_listen(const struct zports *, struct zctl_join *, struct zerr *);

/* After the world is known. */
void zdirect_init(void);
void zdirect_fini(void);

/* The link of a waiting channel broke before we were welcome: this peer goes over the bridge. */
void zdirect_fail(struct zchannel *);
/* The zipper that knows of direct links is lost: those that are not made yet will not be. */
void zdirect_lose_zipper(void);
/* What zipperd says. */
void zdirect_take(const struct zctl_direct *);

/* Looks for ranks that want to connect. Returns whether there was anything. */
bool zdirect_poll(void);
/* For sleeping, as zchannel_arm, and first: at most zdirect_fds() of them. */
int zdirect_fds(void);
int zdirect_arm(struct pollfd *);
/* After sleeping with n descriptors of which zdirect_arm's are the first: looks, if it is for these that we are awake.
 */
void zdirect_woken(const struct pollfd *, int n);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct links to ranks of other parts that share a fabric with this one: listening, connecting, and welcoming ranks
 * that connect. choice.h decides whether messages go over such a link; ctl.h has the protocol. Under the shim's lock,
 * except in MPI_Init before there is a lock.
 */
#ifndef ZIP_LIBZIP_DIRECT_H
#define ZIP_LIBZIP_DIRECT_H

#include <stdbool.h>

#include "common/control/ctl.h"

struct pollfd;
struct zchannel;
struct zports;

/* Listens at these ports, and for ranks on the same node. Fills in the addresses (join->ports, local, node, direct). A
 * port that cannot be listened at is left out, with a line in the log. 0 or a negative errno with the reason. */
int zdirect_listen(const struct zports *, struct zctl_join *, struct zerr *);

/* MPI_Init, after the world is known. */
void zdirect_init(void);
void zdirect_fini(void);

/* The link of a waiting channel broke before the peer's first message: this peer is reached over the bridge. */
void zdirect_fail(struct zchannel *);
/* The zipper that knows of direct links is lost: links that are not made yet will not be. */
void zdirect_lose_zipper(void);
/* Acts on a word of zipperd about a direct link. */
void zdirect_take(const struct zctl_direct *);

/* Looks for ranks that want to connect. Returns whether there was one. */
bool zdirect_poll(void);
/* For sleeping, as zchannel_arm, but the first in the list of descriptors: at most zdirect_fds() of them. */
int zdirect_fds(void);
int zdirect_arm(struct pollfd *);
/* After sleeping with n descriptors, of which zdirect_arm's are the first: looks for ranks if one of these is ready. */
void zdirect_woken(const struct pollfd *, int n);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hops: circuits whose other end is a connection that this zipperd makes to another zipperd. The other zipperd lies on
 * a network that the asking end does not reach (ctl.h, "Hops"). The configuration says where hops may lead (`next`).
 * Control thread.
 */
#ifndef ZIPPERD_HOP_H
#define ZIPPERD_HOP_H

#include "zipperd/job/circuit.h"

/* REACH of a connection that has proved who it is, or of a data channel with a pass: connected, or refused. */
void hop_reach(struct daemon *, struct conn *, const struct zctl_reach *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hops: circuits whose other end is a connection that this zipperd makes to another one, for a peer that cannot reach
 * that by a network of its own (ctl.h, "Hops"). Only to where the configuration lets it (`next`). Control thread.
 */
#ifndef ZIPPERD_HOP_H
#define ZIPPERD_HOP_H

#include "zipperd/control/circuit.h"

/* REACH of a peer that has shown who it is, or of a data channel with a pass: connected, or refused. */
void hop_reach(struct daemon *, struct peer *, const struct zctl_reach *);
/* The peer that waits for it goes. No effect on other circuits. */
void hop_forget(struct circuit *);

#endif

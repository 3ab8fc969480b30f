/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bridge of one rank without MPI, zippers or time: vrank 0, alone in its part, with several rails to the ranks of
 * another part, of whom vrank v has rail (v - 1) % rails as the usual one. The test is the zippers and the other ranks:
 * it says what comes, and looks at what was posted.
 */
#ifndef ZIP_TEST_UNIT_BRIDGE_FIXTURE_H
#define ZIP_TEST_UNIT_BRIDGE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "libzip/bridge/bridge.h"
#include "common/wire/wire.h"

#define PEERS 4
#define FRAGMENT (64u << 10)

struct post { /* an envelope that the rank has posted */
	int rail;
	struct zwire_env env;
	struct zwire_receiver first; /* of a list */
};

/* one_sided: all links can, and zipperd is offered everything large. */
void bridge_begin(int rails, uint32_t rdv_window, bool one_sided);
void bridge_end(void);

extern struct zcomm bridge_comm; /* all ranks in the order of their vranks */
struct zreq *bridge_send(const void *buf, int bytes, int to, enum zsend_mode);
struct zreq *bridge_recv(void *buf, int bytes, int from);

/* This comes from that rank by that rail, with what it has to say of its stream as it is in env. DATA has so many
 * zeros. */
void bridge_say(int rail, uint32_t from, struct zwire_env env);
/* The same by the direct link to the rank `to`. False: there is none. */
bool bridge_say_directly(uint32_t to, uint32_t from, struct zwire_env env);
/* Called if the rank refuses a message. rail: by which it came, or -1: by a direct link. Its result is that of the
 * link: rc, or 0 for a link that goes on in silence. NULL: no message may be refused. */
extern int (*bridge_refused)(int rail, int rc);
/* There could be a direct link to that rank: we have connected, and are not welcomed yet. */
void bridge_introduce(uint32_t to);
/* The connection to that zipper breaks. */
void bridge_break(int rail);
/* Milliseconds pass. */
void bridge_pass(int64_t ms);
/* Progress takes its turn until there is nothing to do. */
void bridge_turn(void);

/* The newest of that kind for that rank that was posted, or NULL; how many there were. */
const struct post *bridge_posted(enum zwire_kind, uint32_t to);
int bridge_count(enum zwire_kind, uint32_t to);

#endif

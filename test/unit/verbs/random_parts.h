/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of unit/verbs/random; random.c says what it is. Everything is one thread's. */
#ifndef ZIP_TEST_VERBS_RANDOM_PARTS_H
#define ZIP_TEST_VERBS_RANDOM_PARTS_H

#include <string.h>

#include "test/fakeverbs/fabric.h"
#include "test/unit/common/link_fixture.h"
#include "common/transport/verbs/link/vlink.h"
#include "common/transport/verbs/device/vshare.h"

#define RANDOM_PAIRS 5
#define RANDOM_WORKERS 2
#define RANDOM_TRANSFERS 4
#define RANDOM_OPS 6

enum stage { STAGE_NONE, STAGE_PLAIN, STAGE_SETTLED, STAGE_FAILED }; /* FAILED: it has said so, and is to be closed */

struct message { /* number and length determine all of it */
	uint64_t k;
	uint32_t len;
};

struct end {
	struct zlink *link; /* NULL: closed */
	enum stage stage;
	int pair, side, why; /* side 0: connecting */
	bool asleep[2];
	bool drains, wants, wants_flush, gone, stays_plain;
	/* the messages that were posted here, and how many of them the other end has taken; posted: flushed, too */
	struct message *log;
	uint64_t posted, flushed, taken, cap;
	uint8_t *memory; /* for placed messages */
	bool placed;
	unsigned to[2], nto; /* messages that come here are passed on to the accepted ends of these pairs */
	uint64_t passed[2];  /* numbers, plus one, of the messages that the sink has passed on to these, and that may be
				shown again */
};

struct world {
	const struct ztransport *ops;
	struct zlistener *listener[2]; /* by device */
	struct zaddr addr[2];
	struct zendpoint *worker[RANDOM_WORKERS]; /* of accepted links */
	struct zendpoint *own;			  /* of connecting links, which is kept here */
	struct end end[RANDOM_PAIRS][2];
	int pairs, devices;
	bool faulty, one_sided, closes; /* the events of this world */
	bool hurt;			/* something has failed, so links may be lost */
	bool gone;			/* a device, or a shared receive queue: buffers may go with it */
	bool quiet;			/* nothing new is begun */
	uint64_t next;
	long step;
	int sock;
};
extern struct world world;
extern bool random_verbose;

/* random.c */
uint32_t draw(uint32_t n);
__attribute__((format(printf, 1, 2), noreturn)) void random_fail(const char *format, ...);
__attribute__((format(printf, 1, 2))) void trace(const char *format, ...);

/* random_clock.c: from now on the time of this process is ours, except for calls that wait for ever. */
void clock_begin(void);
void clock_pass(int64_t ns);

/* random_links.c */
struct end *end_other(const struct end *);
bool end_is_up(const struct end *);
void end_open(int pair);
void end_step(struct end *);
void end_close(struct end *);
/* Is nothing left to do for it? */
bool end_is_done(const struct end *);
/* Can only its descriptor wake its half? */
bool end_sleeps(struct end *, enum zlink_half);
void end_fail(struct end *, int why, const char *what);

/* random_memory.c */
void transfer_step(void);
bool transfers_are_done(void);
/* The transfers of a link that is about to close: nothing is under way and nothing exposed any more. false: not yet. */
bool transfers_leave(struct end *);
void transfers_end(void);
bool transfers_use(const struct end *, enum zlink_half);

/* random_faults.c */
void fault_step(void);
void faults_end(void);

/* random_pools.c: each buffer of an endpoint without links is in its pool, once. */
void pools_check(const struct zendpoint *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pair of workers of zipperd over a transport of the test's own, seen from the control thread. The test decides when
 * a link is full, when one-sided operations are complete, and what wakes the workers. One job of two ranks.
 */
#ifndef ZIP_TEST_WORKER_FIXTURE_H
#define ZIP_TEST_WORKER_FIXTURE_H

#include "zipperd/conn/channel.h"
#include "zipperd/lane/transfer.h"
#include "zipperd/worker/worker_pair.h"

#define BYTES 1000u
#define XFER 7u

struct fake_half {
	void *cookie; /* of the operation under way */
	atomic_int tried;
	atomic_bool full, held; /* takes no operation; does not complete one */
	atomic_bool given_up;
	atomic_bool stubborn; /* does not let go of the memory even when the half ends */
	void *local;	      /* of the last operation */
};

struct fake_link {
	struct zlink base;
	int fd;
	atomic_bool small; /* poll shows small messages, not offers */
	atomic_int shown;  /* messages left to be shown by poll */
	atomic_int taken, refused;
	uint64_t seq;
	atomic_int arms, posts;
	struct zwire_env last; /* the last posted envelope; not to be read while a thread may post */
	atomic_bool refusing;  /* posts find the link full */
	atomic_bool holding;   /* flush leaves something behind */
	atomic_bool sleeping;  /* the send half was armed, and nothing flushed or refused since */
	atomic_bool quiet;     /* the receive half can sleep: a write to fd wakes it */
	atomic_bool useless;   /* turns out to have no way for one-sided operations */
	/* Called with each poll, in the worker's thread, while interrupts is set. */
	void (*interrupt)(void *arg);
	void *arg;
	atomic_bool interrupts;
	struct fake_half rx, tx;
};

struct bench {
	struct budget budget;
	struct worker_pair pair;
	struct worker *w; /* a > b */
	struct lane *lane;
	struct channel *from, *to; /* from: vrank 0's, its receiving half is used; to: vrank 1's, its sending half */
	struct fake_link from_link, to_link;
	int control_fd;
};

/* A rank's channel with that link, both initialised. */
struct channel *fake_channel(struct fake_link *);

/* Starts the workers with both ranks' channels, and shows one offer. */
void start(struct bench *);
/* The same without an offer; the worker looks for poll_ns before it sleeps. */
void start_polling(struct bench *, int64_t poll_ns);
/* The receiver's answer to an offer, as the other worker would hand it over. */
void answer(struct bench *);
/* Checks that the worker has done all that was asked of it, and nothing else, and ends it. */
void halt(struct bench *);

void command(struct bench *, const struct command *);
void drop_all(struct bench *);
void expect(struct bench *, enum event_kind, const struct channel *);
/* Wait at most as long as a loaded machine may need. */
void wait_for(atomic_int *counter, int value);
void wait_until(atomic_bool *, bool value);

#endif

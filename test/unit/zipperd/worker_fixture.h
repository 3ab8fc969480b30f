/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pair of workers of zipperd over a transport of the test's own, seen from the control thread: what is posted, when
 * the link is full, when one-sided operations are complete, and what wakes. One job of two ranks.
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
	atomic_bool full, held; /* takes none; does not complete */
	atomic_bool given_up;
	atomic_bool stubborn; /* with its end the memory is not let go of */
	void *local;	      /* of the last operation */
};

struct fake_link {
	struct zlink base;
	int fd;
	atomic_bool small; /* the messages to be shown are small ones, not offers */
	atomic_int shown;  /* messages left to be shown by poll */
	atomic_int taken, refused;
	uint64_t seq;
	atomic_int arms, posts;
	struct zwire_env last; /* that was posted; not while a thread may do so */
	atomic_bool refusing;  /* posts find it full */
	atomic_bool holding;   /* flush leaves something behind */
	atomic_bool sleeping;  /* the send half was armed, and nothing flushed or refused since */
	atomic_bool quiet;     /* the receive half can sleep: a write to fd wakes it */
	atomic_bool useless;   /* for one-sided operations, as has turned out */
	/* With each poll, in the worker's thread, while it is to. */
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
	struct channel *from, *to; /* of vrank 0: its receiving half; of vrank 1: its sending half */
	struct fake_link from_link, to_link;
	int control_fd;
};

/* A rank's channel with that link, both as new. */
struct channel *fake_channel(struct fake_link *);

/* The ranks have come, and one offer is shown. */
void start(struct bench *);
/* The same without it, and the worker looks for so long before it sleeps. */
void start_polling(struct bench *, int64_t poll_ns);
/* The receiver's answer to an offer, as the other worker would hand it over. */
void answer(struct bench *);
/* The worker has done all that was asked of it, and nothing else. */
void stop(struct bench *);

void command(struct bench *, const struct command *);
void drop_all(struct bench *);
void expect(struct bench *, enum event_kind, const struct channel *);
/* At most for so long as a loaded machine may need. */
void wait_for(atomic_int *counter, int value);
void wait_until(atomic_bool *, bool value);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trunk and its streams at a pair of zipperd's workers, seen from the control thread, for unit/zipperd/streams and
 * fuzz/trunk. There are no threads: bench_run gives both workers turns until nothing moves. Each stream has a rank
 * behind it. All links are the bench's own. The other end of the trunk is the caller: it says what comes in, and sees
 * what goes out.
 *
 * Claims that hold whatever comes: a rank gets what was said in its own stream alone, and the other way round; nothing
 * goes beyond the window of a stream; no more is told to have gone on than has come. A claim that fails aborts.
 */
#ifndef ZIP_TEST_TRUNK_BENCH_H
#define ZIP_TEST_TRUNK_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "zipperd/conn/channel.h"
#include "zipperd/lane/stream.h"
#include "zipperd/worker/worker_pair.h"

#define BENCH_STREAMS 4 /* with the ids 1, 2, ... */
#define BENCH_FRAMES 256

struct bench;

struct bench_link {
	struct zlink base;
	struct bench *bench;
	int stream; /* index of the rank's stream; -1: this is the trunk */
	int fd;
	struct zwire_env in[BENCH_FRAMES]; /* will be shown by poll */
	int nin, next;
	struct zwire_env out[BENCH_FRAMES]; /* was posted: the first of it */
	int nout;			    /* all of it */
	bool full;			    /* takes no posts (bench_empty) */
	int ended;			    /* poll returns it, once all was shown; 0: it has not */
};

enum bench_state { BENCH_NONE, BENCH_BEGUN, BENCH_LENT, BENCH_ENDING };

struct bench_stream {
	struct stream stream; /* first: the channel's link */
	struct bench *bench;
	struct bench_link rank;
	struct channel *end[2]; /* of the stream, of the rank */
	struct lane *lane[2];	/* to the rank, from the rank */
	enum bench_state state;
	int left;	      /* halves and lanes that workers have */
	int heard;	      /* messages for the control thread */
	bool ended;	      /* the control thread has heard that it is closed, or lost */
	uint64_t shown, gone; /* bytes that came in; of these, bytes that have gone on, as the workers told */
	uint64_t sent, granted,
		most; /* bytes that went out; of these, that the other side has told; its largest window */
};

struct bench_config {
	bool accepts;		      /* the other side begins the streams */
	bool jobs;		      /* the streams are channels of jobs; else of circuits */
	uint64_t memory, user_memory; /* 0: much; none is counted */
};

struct bench {
	struct bench_config config;
	struct budget budget;
	struct share share;
	struct channel *trunk;
	struct trunk_rx rx;
	struct trunk_tx tx;
	struct lane *lane[2];
	struct bench_link wire;
	struct bench_stream s[BENCH_STREAMS];
	int left; /* of the trunk */
	unsigned rounds;
	bool lost;	    /* the trunk is */
	const char *breach; /* why */
	int leaves;	    /* the other side wants no more streams */
};

void bench_begin(struct bench *, const struct bench_config *);
/* Ends all that is there, and checks that nothing is left. */
void bench_end(struct bench *);
/* Turns, and what the control thread does about events, until nothing moves. */
void bench_run(struct bench *);
/* One turn of both. */
void bench_turn(struct bench *);
/* A full link takes something again, and tells so. */
void bench_empty(struct bench_link *);

/* The control thread begins a stream (where the other side does not). */
void bench_open(struct bench *, int i);
/* It gives the stream's halves, and those of its rank, to the workers. */
void bench_lend(struct bench *, int i);
/* It ends the stream. */
void bench_close(struct bench *, int i);
/* It sends a message of its own in the stream. */
void bench_say(struct bench *, int i, uint32_t len);

/* The other side, or a rank, says this. */
void bench_show(struct bench_link *, const struct zwire_env *);
/* A message of the stream with that id, as good peers send it; of a rank: id 0. */
void bench_show_message(struct bench_link *, uint32_t id, uint8_t kind, uint32_t len);
void bench_show_credit(struct bench *, uint32_t id, uint64_t gone, uint64_t window);

/* What was posted: the number of messages of that kind, and the last one of them. id: of the stream; of a rank 0. */
int bench_count(const struct bench_link *, uint32_t id, uint8_t kind);
const struct zwire_env *bench_last(const struct bench_link *, uint32_t id, uint8_t kind);

#endif

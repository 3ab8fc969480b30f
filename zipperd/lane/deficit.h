/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each lane's part of a worker where several lanes have messages: Deficit Round Robin (M. Shreedhar and G. Varghese,
 * "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM 1995). In each round a lane may take a quantum of bytes,
 * times its weight. A message counts as some KiB besides its own bytes, as it takes that much of the worker's time. A
 * lane whose large message was more than its quantum gets less in the next rounds. A lane loses the rest of its
 * quantum, except a rest that was too small for a message. So the number of a job's ranks does not count, and nothing
 * is held back for lanes without messages: a round is over when no lane that may take something has something. A
 * message to several ranks counts for those of its own lane. Worker's thread.
 */
#ifndef ZIPPERD_DEFICIT_H
#define ZIPPERD_DEFICIT_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes: a worker moves about as many in the time that an empty message takes. */
#define DEFICIT_MESSAGE (4 << 10)
#define DEFICIT_QUANTUM (16 * DEFICIT_MESSAGE)

struct deficit {
	uint32_t weight; /* set by the control thread before the worker has the lane */
	uint32_t hot;	 /* sources of the lane that are hot */
	uint32_t round;	 /* the worker's round for which it has got its quantum */
	uint32_t mean;	 /* what a message counts: the mean of a poll, or more if there were larger ones of late */
	int64_t left;	 /* bytes */
};

/* The lane takes part from this round on, without a debt. */
static inline void deficit_renew(struct deficit *d, uint32_t round)
{
	d->left = 0;
	d->round = round - 1;
}

/* May the lane take something in this round? */
static inline bool deficit_open(struct deficit *d, uint32_t round)
{
	if (d->round != round) {
		d->round = round;
		/* what did not suffice for one more message is kept */
		d->left = (d->left < d->mean ? d->left : d->mean) + (int64_t)d->weight * DEFICIT_QUANTUM;
	}
	return d->left > 0;
}

/* The messages that it may take now, if they are like the last ones: from 1 to most. */
static inline unsigned deficit_messages(const struct deficit *d, unsigned most)
{
	const uint64_t n = (uint64_t)d->left / d->mean;
	return n == 0 ? 1 : n < most ? (unsigned)n : most;
}

/* It has taken so many messages with so many bytes. messages is not 0. */
static inline void deficit_charge(struct deficit *d, unsigned messages, uint64_t bytes)
{
	const uint64_t count = bytes + (uint64_t)messages * DEFICIT_MESSAGE;
	d->left -= (int64_t)count;
	const uint32_t mean = (uint32_t)(count / messages);
	d->mean = mean > d->mean ? mean : d->mean - (d->mean - mean) / 8;
}

#endif

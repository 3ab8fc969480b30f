/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank of the simulation (failover_sim.c): a module with all of libzip except its wrappers of MPI. Every rank has a
 * copy of its own. It exports `sim_rank`. The surroundings of libzip are in struct sim_outside: links, time.
 */
#ifndef ZIP_TEST_UNIT_FAILOVER_SIM_RANK_H
#define ZIP_TEST_UNIT_FAILOVER_SIM_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define SIM_RANKS 5
#define SIM_PARTS 3
#define SIM_RAILS 4
#define SIM_TRACKS 3	   /* of each rail */
#define SIM_RECONNECT_MS 2 /* so long a zipper may be away; ranks compute for longer */

struct zreq;

struct sim_world {
	int nparts, nranks, rails, tracks;
	int part[SIM_RANKS];
	uint32_t eager_bytes, frag_bytes, rdv_window;
	bool one_sided;
	bool returns; /* rails that are lost come back, and so also the last one may be lost */
	/* By rail: what JOIN calls so, and what it says of each part; by pair of parts: a bit for each rail that
	 * carries between them. */
	char entries[SIM_RAILS][64];
	uint32_t hops[SIM_RAILS][SIM_PARTS];
	uint32_t carry[SIM_PARTS][SIM_PARTS];
};

/* The number of a track: that of its rail, times SIM_TRACKS, plus its number in the rail. */
static inline int sim_track(int rail, int number)
{
	return rail * SIM_TRACKS + number;
}
static inline int sim_rail_of(int track)
{
	return track / SIM_TRACKS;
}

/* As in struct ztransport, of a link that is known by its rank, its track and the part that it is to. */
typedef int sim_take(void *ctx, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, size_t len);
struct sim_outside {
	int (*post)(int vrank, int track, int part, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload,
		size_t len);
	int (*poll)(int vrank, int track, int part, unsigned budget, sim_take *, void *ctx);
	void (*close)(int vrank, int track, int part);
	int (*attach)(int vrank, int track, int part); /* 0, or -ECONNREFUSED */
	void (*quit)(int vrank, int rail);
	int64_t (*away_ms)(int vrank, int rail);    /* of a rail that it has quit: as zrejoin_away_ms */
	uint64_t (*expose)(void *base, size_t len); /* an id of it; 0: not now */
	void (*conceal)(uint64_t id);
	int64_t (*now_ns)(void);
	uint32_t (*draw)(uint32_t n); /* 0 .. n - 1 */
	/* The test has failed. */
	void (*fail)(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
};

enum sim_mode { SIM_STANDARD, SIM_SYNC, SIM_BUFFERED, SIM_COPIED };

struct sim_rank {
	void (*begin)(const struct sim_world *, const struct sim_outside *, int vrank);
	/* Operations with bytes, between vranks, with one tag. */
	struct zreq *(*send)(const void *buf, int len, int to, enum sim_mode);
	struct zreq *(*send_to_several)(const void *buf, int len, const int *to, int n);
	struct zreq *(*recv)(void *buf, int len, int from);
	struct zreq *(*make_persistent)(void *buf, int len, int to, enum sim_mode); /* a send */
	void (*start)(struct zreq *);
	bool (*is_done)(const struct zreq *, int64_t *len, int *error);
	void (*release)(struct zreq *);
	void (*free)(struct zreq *);   /* as MPI_Request_free does */
	bool (*cancel)(struct zreq *); /* false: too late */
	bool (*poll)(void);	       /* one turn of progress */
	/* Losses and opening of links that zippers tell by the control session. */
	void (*lose)(int rail, const char *why);
	void (*open)(int track, int part);
	/* The first incarnation of a rail that is not lost to this rank; and WORLD: all ranks have joined this one. */
	uint32_t (*least)(int rail);
	void (*come_back)(int rail, uint32_t incarnation);
	/* The steps of MPI_Finalize, in this order. Before each step except the first, everything is drained. */
	void (*leave)(void);
	void (*acknowledge)(void);
	void (*say_bye)(void);
	bool (*is_drained)(void);
	/* A line for each operation and each stream that waits for something. */
	void (*show)(void (*line)(const char *format, ...));
};

#endif

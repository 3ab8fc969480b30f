/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the simulation (failover_sim.c). All state is of one run; one thread. */
#ifndef ZIP_TEST_UNIT_FAILOVER_SIM_PARTS_H
#define ZIP_TEST_UNIT_FAILOVER_SIM_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/unit/libzip/failover_sim_rank.h"
#include "common/wire/wire.h"

/* --- failover_sim_run.c: one run --- */

extern struct sim {
	struct sim_world world;
	const struct sim_rank *rank[SIM_RANKS];
	bool left[SIM_RANKS]; /* has said BYE, and takes nothing any more */
	bool heard;	      /* a rank has been told of a loss */
	bool ends;	      /* ranks may leave */
	long step;
	int64_t now_ns;
} sim;

extern bool sim_verbose; /* sim_trace prints */

struct sim_mix { /* how many of all operations */
	uint32_t sends, persistent, to_several, recvs, cancels;
	bool is_short; /* nearly all messages are eager */
	bool hops;     /* and: parts come to each zipper by other fabrics, and over hops, as is drawn */
	bool returns;  /* and: rails come back, and all may be lost */
};

struct sim_case {
	const char *name;
	int nparts, nranks, rails, one_sided; /* 0 (one_sided: -1): as it comes */
	struct sim_mix mix;
	int seeds, long_seeds;
};

/* With sim.rank, and nothing else, filled in. Returns, or ends the process, when it fails. */
void sim_run(const struct sim_case *, uint64_t seed);

uint32_t sim_draw(uint32_t n); /* 0 .. n - 1 */
/* A line, where one seed is repeated; the test has failed: why, and what waits. */
void sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* A rank is not in MPI for some steps. Then much has come: another rank's word on a loss, and that rank's grant, which
 * may come before the acknowledgement. */
void sim_compute(int vrank);
/* One step: each worker of each zipper takes its turn, and one of the ranks. */
void sim_turn(void);

/* --- failover_sim_links.c: the links between ranks and zippers, and their losses --- */

struct sim_msg { /* on its way; malloc */
	struct sim_msg *next;
	uint8_t raw[ZWIRE_ENV_BYTES];
	size_t len;
	uint8_t payload[];
};

/* The functions that a rank's copy calls are in here. */
void links_fill(struct sim_outside *);
/* It has said BYE, and reads nothing any more. Where that cannot come, the zipper knows it by the end of its session.
 */
void links_leave(int vrank);
/* The next message of a rank by its channel to a part, which the caller frees; NULL: none. */
struct sim_msg *links_pop(int track, int vrank, int part);
/* To the receiving rank, if it can still be reached. */
void links_push(int track, const struct zwire_env *, const void *payload);
/* Both ranks have what the zipper writes into their memories. */
bool links_reach(int track, int a, int b);
bool links_is_dead(int rail);
bool links_carry_all(void); /* no part needs a rail that is lost */
/* BYE has come by that channel, or will not any more. */
bool links_said_bye(int track, int vrank, int part);
void links_take_bye(int track, int vrank, int part);
/* So many more rails may be lost: never all of them between two parts, unless they come back and no rank leaves. Of so
 * many steps one loses a rail. */
void links_allow_losses(int more);
void links_lose_some(uint32_t one_of);
/* Rails that all ranks have lost come back, unless some rank has left; and ranks hear of that. */
void links_return_some(void);
/* Ranks hear of losses by the control session. Returns whether one did. */
bool links_tell_losses(void);

/* --- failover_sim_zippers.c: the zippers --- */

void zippers_turn(int track);
void zippers_begin_again(int track);
/* Moves a piece of what one-sided transfers are to move. end: all of it, and both ends are told. */
void zippers_move(int track, bool end);
uint64_t zippers_expose(void *base, size_t len);
void zippers_conceal(uint64_t id);

/* --- failover_sim_traffic.c: what the ranks send and receive --- */

/* Starts one operation, of a rank that is drawn. */
void traffic_start(const struct sim_mix *);
/* Posts receives for all that was sent, and sends for all receives. */
void traffic_match(void);
/* Every rank sends to and receives from every other one, as the barrier of MPI_Finalize. */
void traffic_barrier(void);
/* Looks what is done, and whether it is right. */
void traffic_collect(void);
bool traffic_is_done(int vrank); /* nothing of that rank is under way */
void traffic_show(void (*line)(const char *format, ...));

#endif

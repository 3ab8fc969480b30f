/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of zipperd: the real daemon as a child, and fake ranks that speak to it as libzipper does. */
#ifndef ZIP_TEST_DAEMON_FIXTURE_H
#define ZIP_TEST_DAEMON_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/session/session.h"

#define FIXTURE_USER "tester"
#define FIXTURE_OTHER "other"	  /* the second user; its key differs in the first and last byte */
#define FIXTURE_EXPIRED "expired" /* another user, whose key is the same and not good any more */
#define FIXTURE_KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

struct daemon_fixture {
	pid_t pid;
	char dir[64];	      /* key file, sockets, log */
	struct zaddr addr[4]; /* as it said itself */
	int naddrs;
};

extern int fixture_descriptors; /* that a zipperd may have open; 0: as many as possible */

/* listen: values of listen separated by blanks; "%d" in them is the scratch folder. options: further -o settings,
 * separated by blanks, or NULL. Fails the test if zipperd does not come up. */
void daemon_start(struct daemon_fixture *, const char *listen, const char *options);
/* Sends SIGTERM and removes the folder. Returns the exit status (128 + signal if zipperd was killed). */
int daemon_stop(struct daemon_fixture *);
/* Is this text in its log now? */
bool daemon_has_logged(const struct daemon_fixture *, const char *text);
/* Waits up to a minute for it. */
bool daemon_logged(const struct daemon_fixture *, const char *text);
/* The CPU time that it has used, in clock ticks. */
long daemon_cpu_ticks(const struct daemon_fixture *);
long daemon_memory_kib(const struct daemon_fixture *);	   /* resident, highest ever */
long daemon_memory_now_kib(const struct daemon_fixture *); /* resident */
/* For FIXTURE_USER. */
void fixture_params(struct zsession_params *, const struct zaddr *, const char *job);
/* Makes them those of FIXTURE_OTHER. */
void fixture_be_other(struct zsession_params *);
/* Reads until zipperd closes the link. reason: ZCTL_TEXT_MAX + 1 bytes, for the text of its ERROR. */
void fixture_read_reason(struct zlink *, char *reason);
void fixture_nap(int ms);
int64_t fixture_now_ms(void);

#define FAKE_PEERS_MAX 16
#define FAKE_WINDOW 64 /* messages */

/* A rank's knowledge of another rank. Both can compute the content and length of message seq from src to dst. */
struct fake_peer {
	uint64_t sent, acked; /* my stream to the other rank: seq of the last message */
	uint64_t goal;	      /* send up to here */
	uint64_t held;	      /* refused seq, 0: none */
	uint64_t naks, resumes;
	bool bye;	/* zipperd says that it has left */
	uint64_t taken; /* the other rank's stream to me: seq of the last message in order */
	uint64_t told;	/* acknowledged to it */
	bool listed;	/* gets my messages by lists of receivers, as all listed ranks */
};

struct fake_rank {
	uint32_t endpoint;	/* of these channels and peers: it is the same endpoint of the others */
	struct fake_rank *rank; /* of a further endpoint: the rank, which has the session. NULL: this is a rank */
	struct fake_rank *next; /* in the rank's list of further endpoints */
	const char *job;
	bool other; /* of FIXTURE_OTHER, not of FIXTURE_USER */
	struct zaddr addr;
	struct zhop hop[3]; /* between addr and the zipperd of the job */
	int nhops;
	struct zsession_pass passes[3];
	uint8_t key[ZAUTH_KEY_BYTES]; /* of the session; stays when the session goes */
	enum zseal_level seal;	      /* the same */
	struct zctl_join join;
	struct zsession *session;
	struct zctl_world world;
	struct zlink *link[4]; /* to part */
	struct fake_peer peer[FAKE_PEERS_MAX];
	uint32_t max_len;	  /* of its messages' payload */
	uint32_t carrier;	  /* the part whose channel takes messages with a list */
	uint64_t nlists, nlisted; /* lists that it has sent, and messages that zipperd made of them */
	bool deaf;		  /* does not poll its channels */
	bool ignores_open;
	bool dead; /* was told so */
	char dead_text[ZCTL_TEXT_MAX + 1];
	int bad; /* wrong content or order seen */
	int opens;
	int rc;
	struct zerr err;
};

/* rank of size in part; "a,b" are the parts. addr: the daemon's address for it. */
void fake_init(struct fake_rank *, const char *job, const char *parts, const char *part, uint32_t rank, uint32_t size,
	const struct zaddr *);
/* Opens sessions and joins, all at once (a thread each); rc and err of each are set. */
void fake_join_all(struct fake_rank *, int n);
/* Adds the next endpoint, counted from 1, to a rank that has joined and said that it has several. The endpoint goes
 * with the rank. */
void fake_add_endpoint(struct fake_rank *rank, struct fake_rank *endpoint);
/* The station, as in envelopes, of the same endpoint of that rank. */
uint32_t fake_station(const struct fake_rank *, uint32_t vrank);
/* The way of its data channels. Points into the rank. */
struct zsession_way fake_way(const struct fake_rank *);
int fake_attach(struct fake_rank *, uint32_t part);
uint32_t fake_part_of(const struct fake_rank *, uint32_t vrank);
/* One turn: sends what its goals and windows allow, takes what is there, answers. true: something happened. */
bool fake_turn(struct fake_rank *);
/* Takes turns with all ranks until done, or until ms are over. */
bool fake_run(struct fake_rank *, int n, bool (*done)(struct fake_rank *, int n), int ms);
bool fake_all_taken(struct fake_rank *, int n); /* all goals reached, taken and acknowledged */
bool fake_all_dead(struct fake_rank *, int n);
void fake_bye_channels(struct fake_rank *); /* of this endpoint */
void fake_bye(struct fake_rank *);	    /* on channels and session */
void fake_kill(struct fake_rank *);	    /* closes everything without a word */
/* Posts a list of n receivers, as it is, and then a message to them, unless env is NULL. 0 or the error of post. */
int fake_post_list(struct fake_rank *, const struct zwire_receiver *, int n, const struct zwire_env *,
	const void *payload);
/* Posts one message as it is, for tests that break the rules. */
int fake_post(struct fake_rank *, uint32_t part, const struct zwire_env *, const void *payload);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control messages: the payload of ZWIRE_CTRL envelopes. Decoded strictly: a field that is too long, missing or left
 * over, an unknown type or a text that is not printable is -EPROTO, and the connection is closed.
 *
 * Names (jobs, parts, hosts, users) are printable ASCII without spaces and commas; texts are printable ASCII, and the
 * encoder makes '?' of anything else.
 *
 * Encoding: u16 type, then the fields of that type in the order of the struct; integers little-endian; a text is u16
 * length and its bytes; a list is u32 count and its elements.
 *
 *   peer -> zipperd                        zipperd -> peer
 *   HELLO   who am I, which service        CHALLENGE  random nonce      (or ERROR)
 *   PROOF   keyed hash over both nonces    PROOF  zipperd's own, for another label (or ERROR and close)
 *   then, by service:
 *   JOIN    (rank) part, rank, size, ...   WORLD      parts and runs, token; or ERROR
 *   CREATE  (launcher) job and its parts   CREATED; later EVENT ...; or ERROR
 *   ATTACH  (rank's data channel) token,   nothing: data flows at once; or ERROR and close
 *           endpoint
 *   STATS   (admin, launcher)              STATS_REPLY
 *   QUIT    (rank) uses this zipper no more, the job has others; then it closes
 *   ABORT   (rank, launcher)               OPEN (to a rank: open that endpoint's channel for that fabric),
 *                                          DEAD (job is over)
 *   DIRECT  ASK for a link to a rank, or   DIRECT  CONNECT to that rank, there; or NO: go over the bridge
 *           NO: that rank cannot be reached
 *   TRAFFIC (rank, now and then)           nothing
 *   PING    (rank, launcher) that waits    PING    the same: zipperd is there
 *   MEET    (circuit) name and fabrics     MET     the other end is there: what follows is for it; or ERROR
 *   REACH   (circuit, rank's data channel) REACHED that zipperd is there: what follows is for it; or ERROR
 *           another zipperd
 *
 * Endpoints. A rank says in its JOIN how many it has, which all ranks of a job must say alike; each opens channels of
 * its own, one for each fabric, and is called by a number of its own in envelopes (wire.h, stations). All of them are
 * one rank: it joins once, has one control link, and lives, leaves and dies with all.
 *
 * Direct links. Ranks on zipper nodes listen from the beginning and say where in their JOIN. Who wants to send to a
 * rank that shares a fabric with it ASKs; zipperd lets that one of the two connect which does not listen (or has the
 * higher vrank): CONNECT goes to it, whoever asked, with the addresses that it can reach and the listener's credential.
 * It connects and sends ATTACH with that credential, its own vrank and part; the listener answers with the first
 * envelope on the new link (an ACK), or closes it. One that cannot connect says NO, which zipperd hands on to the other
 * one: then both use the bridge. No message travels between the two before that is decided.
 *
 * Each endpoint of a rank has links of its own, to the same endpoint of others.
 *
 * Circuits. Two peers on different fabrics that say MEET with the same name, for the same user and job, are connected:
 * after MET zipperd hands on whatever either of them sends, as it is, until one of them closes. Neither says anything
 * between MEET and MET.
 *
 * Hops. Who cannot reach a zipperd by any network of its own asks one that it can reach (or a chain of them): REACH
 * names the fabrics by which it comes and by which that zipperd is reached, and its address there. After REACHED the
 * connection is one with that zipperd, and begins with HELLO as any other. The first one of a peer shows who it is and
 * gets a pass with REACHED, with which its data channels ask for more, as long as that first one stands.
 *
 * A part whose ranks come to a zipperd by hops has entries: what JOIN and CREATE call so has an element for each part,
 * in their order, the fabric by which its ranks come, and "+n" where that takes n hops. Between two parts that come by
 * the same fabric this zipperd carries nothing.
 */
#ifndef ZIP_COMMON_CONTROL_CTL_H
#define ZIP_COMMON_CONTROL_CTL_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

#define ZCTL_NAME_MAX 64  /* job ids, part, fabric, user names; without the zero */
#define ZCTL_TEXT_MAX 240 /* error and event texts */
#define ZCTL_PARTS_MAX 64
#define ZCTL_RAILS_MAX 16	  /* zippers that carry one job */
#define ZCTL_RANKS_MAX (1u << 20) /* ranks of one job */
#define ZCTL_ENDPOINTS_MAX 64	  /* of one rank; with all ranks there may be they are fewer than ZWIRE_NOBODY */
#define ZCTL_VRANK_ANY UINT32_MAX
#define ZCTL_NONCE_BYTES 32
#define ZCTL_MAC_BYTES 32
#define ZCTL_TOKEN_BYTES 32
#define ZCTL_PORTS_MAX 1023 /* text of addresses */
#define ZCTL_ADDR_MAX 511   /* text of one */
#define ZCTL_HOPS_MAX 8	    /* zipperds before the one that is to be reached */
#define ZCTL_ENTRIES_MAX (ZCTL_PARTS_MAX * 10)

enum zctl_type {
	ZCTL_HELLO = 1,
	ZCTL_CHALLENGE,
	ZCTL_PROOF,
	ZCTL_JOIN,
	ZCTL_WORLD,
	ZCTL_ATTACH,
	ZCTL_CREATE,
	ZCTL_CREATED,
	ZCTL_EVENT,
	ZCTL_OPEN,
	ZCTL_DEAD,
	ZCTL_ABORT,
	ZCTL_STATS,
	ZCTL_STATS_REPLY,
	ZCTL_ERROR,
	ZCTL_DIRECT,
	ZCTL_TRAFFIC,
	ZCTL_QUIT,
	ZCTL_PING,
	ZCTL_MEET,
	ZCTL_MET,
	ZCTL_REACH,
	ZCTL_REACHED,
};

#define ZCTL_PROOF_REPLY 0x80

enum zctl_service {
	ZCTL_SERVICE_RANK = 1,
	ZCTL_SERVICE_LAUNCHER,
	ZCTL_SERVICE_DATA,
	ZCTL_SERVICE_ADMIN,
	ZCTL_SERVICE_CAST, /* between nodes of zipcast; zipperd refuses it */
	ZCTL_SERVICE_CIRCUIT
};

struct zctl_hello { /* first message on any link */
	uint8_t service;
	char user[ZCTL_NAME_MAX + 1];
	char job[ZCTL_NAME_MAX + 1];
	uint8_t nonce[ZCTL_NONCE_BYTES];
};
struct zctl_challenge {
	uint8_t nonce[ZCTL_NONCE_BYTES];
};
struct zctl_proof {
	uint8_t mac[ZCTL_MAC_BYTES]; /* keyed hash over service, user, job, both nonces; zipperd's answer has
				      * ZCTL_PROOF_REPLY added to the service */
};

/* What a rank says of itself. Where one native job spans all parts (mixed = 1), rank and size are those of the whole
 * native world and vranks follow them; else they are those of the part. */
struct zctl_join {
	char part[ZCTL_NAME_MAX + 1];
	uint32_t rank, size;
	uint8_t mixed;
	char parts[ZCTL_PARTS_MAX * 8]; /* comma-separated names of all parts in the order of their vranks; every
					 * rank must say the same (max 511 bytes) */
	char entries[ZCTL_ENTRIES_MAX]; /* of all parts at this zipperd; "": each comes by its own fabric */
	char host[ZCTL_NAME_MAX + 1];
	uint64_t abi;	/* fingerprint of the representation: byte order and sizes of C types and handles */
	uint32_t vrank; /* that a placement map gives it; ZCTL_VRANK_ANY: zipperd's choice */
	uint8_t direct; /* 0: no direct links with this rank */
	char ports[ZCTL_PORTS_MAX + 1];	   /* "FABRIC=ADDRESS ...": where it listens for other ranks; "": nowhere */
	char local[ZCTL_NAME_MAX * 2 + 1]; /* the same for ranks on its own node, "ADDRESS", or "" */
	uint64_t node;			   /* the same number: the same node */
	uint64_t tuning;		   /* digest of its tuning table, which must be the same in all ranks */
	uint32_t endpoints;		   /* 1 to ZCTL_ENDPOINTS_MAX, the same in all ranks */
	uint8_t records;		   /* 1: it records a graph; all ranks do or none, as they meet for that */
	uint32_t rail, nrails;		   /* which of its zippers this one is, and of how many; as in all ranks */
	uint32_t age_ms;		   /* for how long its process has run */
};

struct zctl_part {
	char name[ZCTL_NAME_MAX + 1]; /* also the name of its fabric */
	uint32_t size;
};
struct zctl_run { /* vranks vrank .. vrank+count-1 are lranks lrank .. lrank+count-1 of part */
	uint32_t vrank, count, part, lrank;
};
struct zctl_attached { /* ranks vrank .. vrank+count-1 have ports on these fabrics */
	uint32_t vrank, count;
	uint64_t fabrics; /* bit p: that of part p; 0: they take no direct links at all. Not listed: their own alone */
};
struct zctl_world {
	uint32_t vrank;			      /* of the rank that reads this */
	uint8_t external32;		      /* parts differ in representation: data cross in external32 */
	uint32_t eager_bytes;		      /* largest eager payload */
	uint32_t frag_bytes;		      /* largest fragment; 0: the transport's fragment_bytes */
	uint32_t rdv_window;		      /* bytes an endpoint may have granted at any time over all transfers */
	uint8_t token[ZCTL_TOKEN_BYTES];      /* for ATTACH */
	uint8_t credential[ZCTL_TOKEN_BYTES]; /* that ranks show who connect to this one */
	uint32_t nparts, nruns, nattached;
	struct zctl_part *parts;	/* owned, zctl_world_free */
	struct zctl_run *runs;		/* sorted by vrank, covering 0..n-1 without gaps */
	struct zctl_attached *attached; /* sorted by vrank */
};
struct zctl_attach {
	uint8_t token[ZCTL_TOKEN_BYTES];
	uint32_t vrank;
	uint32_t part;	   /* the channel leads to this part's fabric; to another rank: the sender's own part */
	uint32_t endpoint; /* whose channel, or link, it is */
};
enum zctl_direct_what { ZCTL_DIRECT_ASK = 1, ZCTL_DIRECT_CONNECT, ZCTL_DIRECT_NO };
struct zctl_direct {
	uint8_t what;
	uint32_t vrank;			      /* the other one */
	uint32_t endpoint;		      /* of both, that the link is for */
	uint8_t credential[ZCTL_TOKEN_BYTES]; /* CONNECT: for ATTACH */
	char addresses[ZCTL_PORTS_MAX + 1];   /* CONNECT: to be tried in this order, separated by blanks */
};
struct zctl_to_part {
	uint32_t part;
	uint64_t msgs, bytes; /* as in zctl_dirstat */
};
struct zctl_traffic { /* what a rank has sent over direct links since it told last; to its own part: natively */
	uint32_t nparts;
	struct zctl_to_part *parts; /* owned, zctl_free */
};
struct zctl_create {
	char parts[ZCTL_PARTS_MAX * 8];
	char entries[ZCTL_ENTRIES_MAX]; /* as in JOIN */
	uint32_t sizes[ZCTL_PARTS_MAX]; /* as many as names in parts; 0: not known beforehand */
	uint32_t join_timeout_ms;
	uint32_t nruns;	       /* 0: part follows part, in the order of their ranks */
	struct zctl_run *runs; /* a placement map: as in zctl_world; owned, zctl_free. Then all sizes are known */
};
enum zctl_event_kind {
	ZCTL_EV_RANK_JOINED = 1, /* number: how many ranks have reported so far */
	ZCTL_EV_WORLD,		 /* all there */
	ZCTL_EV_RANK_DONE,	 /* number: how many ranks have said BYE */
	ZCTL_EV_DEAD,		 /* text says who or what; number: exit code for the job */
};
struct zctl_event {
	uint8_t kind;
	uint32_t number;
	char text[ZCTL_TEXT_MAX + 1];
};
struct zctl_open {
	uint32_t part, endpoint; /* a channel of that endpoint to that part */
};
struct zctl_dead { /* DEAD, ABORT and QUIT */
	uint32_t code;
	uint32_t part; /* of the rank that died or aborted, ZWIRE_NOBODY: of none */
	char text[ZCTL_TEXT_MAX + 1];
};
struct zctl_error {
	int32_t code; /* positive errno */
	char text[ZCTL_TEXT_MAX + 1];
};
struct zctl_meet {
	char name[ZCTL_NAME_MAX + 1];
	char from[ZCTL_NAME_MAX + 1], to[ZCTL_NAME_MAX + 1]; /* fabrics: of the sender, of the other end */
};
struct zctl_reach {
	char from[ZCTL_NAME_MAX + 1],
		to[ZCTL_NAME_MAX + 1];	 /* fabrics: by which it comes, by which that zipperd is reached */
	char address[ZCTL_ADDR_MAX + 1]; /* there */
	uint8_t pass[ZCTL_TOKEN_BYTES];	 /* of a data channel; else 0 */
};
struct zctl_reached {
	uint8_t pass[ZCTL_TOKEN_BYTES]; /* for data channels to the same zipperd, while this one stands */
};
struct zctl_dirstat { /* one direction of one job */
	char from[ZCTL_NAME_MAX + 1], to[ZCTL_NAME_MAX + 1];
	uint64_t msgs;	       /* messages (EAGER + RTS) */
	uint64_t bytes;	       /* payload bytes of EAGER and DATA */
	uint64_t envelopes;    /* envelopes of all kinds */
	uint64_t copied_bytes; /* payload bytes that zipperd's CPU copied: queued for a full link, or (verbs)
				* as messages into or out of registered buffers */
	uint64_t naks;
	uint64_t queue_high_bytes;	    /* highest level of any destination's queue */
	uint64_t direct_msgs, direct_bytes; /* not by zipperd, as ranks have told: directly; from a part to itself:
					     * natively, point-to-point, where they count that */
	uint64_t shared_bytes;		    /* of bytes: came from the sender once, with those for another receiver */
};
struct zctl_stats_reply {
	uint32_t ndirs;
	struct zctl_dirstat *dirs; /* owned, zctl_stats_free */
};

struct zctl_msg {
	uint16_t type;
	union {
		struct zctl_hello hello;
		struct zctl_challenge challenge;
		struct zctl_proof proof;
		struct zctl_join join;
		struct zctl_world world;
		struct zctl_attach attach;
		struct zctl_create create;
		struct zctl_event event;
		struct zctl_open open;
		struct zctl_dead dead;
		struct zctl_stats_reply stats;
		struct zctl_error error;
		struct zctl_direct direct;
		struct zctl_traffic traffic;
		struct zctl_meet meet;
		struct zctl_reach reach;
		struct zctl_reached reached;
	} u;
};

/* Encoded size, or -EMSGSIZE if it does not fit into cap. */
int zctl_encode(uint8_t *buf, size_t cap, const struct zctl_msg *);
/* 0, -EPROTO (text in err) or -ENOMEM. On success free with zctl_free. */
int zctl_decode(struct zctl_msg *, const uint8_t *buf, size_t len, struct zerr *);
void zctl_free(struct zctl_msg *);
/* The lists inside one that was taken out of its message. */
void zctl_world_free(struct zctl_world *);
void zctl_stats_free(struct zctl_stats_reply *);

#endif

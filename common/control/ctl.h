/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control messages: the payload of ZWIRE_CTRL envelopes. Decoding is strict: a field that is too long, missing or left
 * over, an unknown type, or a text that is not printable is -EPROTO, and the connection is closed.
 *
 * Names (of jobs, parts, hosts, users) are printable ASCII without spaces and commas. Texts are printable ASCII; the
 * encoder turns all other characters into '?'.
 *
 * HELLO begins with the number of the protocol and the release, in all protocols. A zipperd serves the protocols from
 * ZCTL_PROTOCOL_OLDEST to ZCTL_PROTOCOL, and speaks the peer's with it. A zipperd that does not speak the peer's
 * protocol answers with ERROR, whose encoding stays the same, too. Its text names both, and the peer tries again with
 * the protocol before. So both speak the lower protocol of the two.
 *
 * A protocol is settled with the first release that has it. A later change of any message raises ZCTL_PROTOCOL: fields
 * that are new in it say so in their list (ctl.c), and test/golden/ has a recording of each protocol.
 *
 * Encoding: u16 type, then the fields of that type in the order of the struct. Integers are little-endian; a text is a
 * u16 length and its bytes; a list is a u32 count and its elements.
 *
 *   peer -> zipperd                        zipperd -> peer
 *   HELLO   who am I, which service        CHALLENGE  random nonce      (or ERROR)
 *   PROOF   keyed hash over both nonces    PROOF  zipperd's own, for another label (or ERROR and close)
 *   then, by service:
 *   JOIN    (rank) part, rank, size, ...   WORLD      parts and runs; or ERROR
 *   CREATE  (launcher) job and its parts   CREATED; later EVENT ...; or ERROR
 *   ATTACH  (rank's data channel) ticket,  nothing: data flows at once; or ERROR and close
 *           station
 *   STATS   (admin, launcher)              STATS_REPLY
 *   STATUS  (admin) from this place on     STATUS_REPLY as much as fits, and the place to go on at
 *   CONTROL (admin) drain, end a job, ...  CONTROLLED what was done; or ERROR
 *   QUIT    (rank) stops using this zipper, the job has others; then it closes
 *   ABORT   (rank, launcher)               OPEN (to a rank: open that station's channel for that fabric),
 *                                          DEAD (job is over)
 *   DIRECT  ASK for a link to a rank, or   DIRECT  CONNECT to that rank, there; or NO: go over the bridge
 *           NO: that rank cannot be reached
 *   TRAFFIC (rank, now and then)           nothing
 *   NAMING  (rank) publish a name for a    NAMING  with the same number: done, or why not; a port
 *           port, look it up, take it back
 *   STATE   (rank) it ends without         STATE   some rank has ended so: ranks say now what they do;
 *           MPI_Finalize, or waits, ...            or: all ranks are at the end
 *   PING    (rank, launcher that waits)    PING    the same: zipperd is there
 *   MEET    (circuit) name and fabrics     MET     the other end is there and gets all that follows; or ERROR
 *   REACH   (circuit, way) another         REACHED that zipperd is there and gets all that follows; or ERROR
 *           zipperd
 *   TRUNK   (zipperd) many channels share  TRUNKED streams follow (wire.h); or ERROR
 *           this connection
 *
 * Tickets. The two ends of a proved connection share a session key, a keyed hash over both nonces that never travels. A
 * rank opens further connections with it. A data channel says HELLO with service DATA and, without waiting for an
 * answer, ATTACH with a ticket: a keyed hash over a nonce and the channel's place. Each place can be taken once, so a
 * ticket that was overheard is of no use, unless it arrives before the original. A ticket for a direct link is made by
 * zipperd with the session key of the listening rank, and masked with that of the connecting rank.
 *
 * MUNGE (munge.h). A user without a key says so in HELLO (method), makes one of random bytes, and sends it in the
 * PROOF, in a credential of MUNGE. All that follows is as with a key. zipperd keeps the key of a launcher with the job,
 * for the proofs of its ranks, which have a credential for the job.
 *
 * Stations (wire.h). A rank tells the number of its stations in its JOIN (endpoints); all ranks of a job must tell the
 * same number. A field `endpoint` is the index of a station in its rank. Each station opens channels of its own, one
 * for each fabric, and has a number of its own in envelopes. All stations of a rank are one rank: it joins once, has
 * one control link, and lives, leaves and dies with all of them.
 *
 * Direct links. Ranks on zipper nodes listen from the beginning and tell their addresses in their JOIN. A rank that
 * wants to send to another rank on a common fabric says ASK. zipperd lets the rank connect that does not listen (or has
 * the higher vrank), whichever of the two asked: it gets CONNECT, with the addresses that it can reach and a ticket. It
 * connects and sends ATTACH with that ticket, its own vrank and part. The listener answers with the first envelope on
 * the new link (an ACK), or closes the link. A rank that cannot connect says NO, and zipperd hands the NO on to the
 * other rank: then both use the bridge. No message travels between the two ranks before this is decided.
 *
 * Each station of a rank has direct links of its own, to the station with the same index of other ranks.
 *
 * Tracks. A zipperd may move the messages of a job by several workers for each direction. Such a job has several tracks
 * there, numbered from 0. A channel belongs to one track, in both directions, so a station may have one channel for
 * each track and fabric. WORLD says how many tracks the job has at this zipper. A rank may use fewer of them, as other
 * zippers of the job may have fewer; all ranks use the same number.
 *
 * Circuits. Two peers on different fabrics that say MEET with the same name, for the same user and job, are connected.
 * After MET zipperd hands on all that either peer sends, unchanged, until one of them closes. Neither peer says
 * anything between MEET and MET.
 *
 * Hops. A peer that cannot reach a zipperd by any network of its own asks a zipperd that it can reach (or a chain of
 * them). REACH names the fabric by which the peer comes, the fabric by which the wanted zipperd is reached, and its
 * address there. After REACHED the connection is one with the wanted zipperd, and begins with HELLO as any other. A
 * peer's first such connection proves the peer's identity and gets the name of a pass with REACHED. For its data
 * channels the peer asks for more such connections, while the first one stands: HELLO with service WAY, CHALLENGE, and
 * REACH with the pass and a keyed hash over both nonces, made with the session key of the first connection.
 *
 * Trunks. A zipperd can let the hops of a job to the same zipperd share connections (trunks): one for all sessions, and
 * one for the data channels to each part on each track, as these belong to one worker there. It makes such a connection
 * with service TRUNK and proves the user's key, or the job's credential. Each hop is a stream of it (wire.h). The ranks
 * do not see the difference: each stream begins with HELLO, as any connection. REACH says which of these connections
 * serves.
 *
 * Seals. Both directions of a TCP connection change to sealed records (seal.h) where its network is protected: after
 * PROOF, for a data channel or a direct link after ATTACH, for a way after REACHED. HELLO says what the sender wants at
 * the least, and CHALLENGE what comes of it. ATTACH says what zipperd's CHALLENGE to the control connection said.
 * Proofs, tickets and the mac of REACH include that, so nobody in the middle can change it. Each direction of each
 * connection has its own key, made from the session key. The key of a direct link comes from the session key of the
 * listening rank, and zipperd tells it to the connecting one. A zipperd that makes a connection to the next zipperd,
 * for a hop, seals it: it says HELLO with service HOP and proves the user's key, which both zipperds have. After the
 * proofs the connection begins again, with HELLO of the peer. What the peer says to the next zipperd is ZSEAL_INSIDE:
 * it is not sealed once more.
 *
 * A part whose ranks come to a zipperd by hops has entries: the field of that name in JOIN and CREATE has an element
 * for each part, in their order. An element is the fabric by which the part's ranks come, and "+n" where that takes n
 * hops. A zipperd carries nothing between two parts that come by the same fabric.
 */
#ifndef ZIP_COMMON_CONTROL_CTL_H
#define ZIP_COMMON_CONTROL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* 2: proofs cover the protocol, so that nobody on the way can lower it; MUNGE; sealed connections; ranks come back.
 * 3: a job whose ranks come back waits for the ranks that compute; its run has a number
 * 4: tracks; trunks */
#define ZCTL_PROTOCOL 4
#define ZCTL_PROTOCOL_OLDEST 1 /* of peers that zipperd still serves */
#define ZCTL_NAME_MAX 64       /* job ids; names of parts, fabrics and users; without the zero */
#define ZCTL_TEXT_MAX 240      /* error and event texts */
#define ZCTL_PARTS_MAX 64
#define ZCTL_RAILS_MAX 16	  /* zippers that carry one job */
#define ZCTL_RANKS_MAX (1u << 20) /* ranks of one job */
#define ZCTL_ENDPOINTS_MAX 64	  /* of one rank; times the largest number of ranks they are fewer than ZWIRE_NOBODY */
#define ZCTL_TRACKS_MAX 32	  /* of one job at one zipper */
#define ZCTL_WORKERS_MAX 4096	  /* of one zipperd: pairs of fabrics, times two directions, times workers of each */
#define ZCTL_VRANK_ANY UINT32_MAX
#define ZCTL_NONCE_BYTES 32
#define ZCTL_MAC_BYTES 32
#define ZCTL_TOKEN_BYTES 32
#define ZCTL_PORTS_MAX 1023 /* text of all addresses */
#define ZCTL_ADDR_MAX 511   /* text of one address */
#define ZCTL_HOPS_MAX 8	    /* zipperds before the one that is wanted */
#define ZCTL_ENTRIES_MAX (ZCTL_PARTS_MAX * 10)
#define ZCTL_SERVICE_NAME_MAX 1023 /* bytes of a name that is published, without the zero */
#define ZCTL_MUNGE_MAX 1023	   /* a credential of MUNGE */
#define ZCTL_PORT_NAME_MAX 255	   /* of its port: MPI_MAX_PORT_NAME in MPICH is 256 */
#define ZCTL_PUBLISHED_MAX 1024	   /* names of one job at a time */
#define ZCTL_LATENCIES 24	   /* bucket i counts what took less than 1 << i microseconds; the last one the rest */
#define ZCTL_STATUS_JOBS 256	   /* jobs in one STATUS_REPLY */
#define ZCTL_STATUS_LANES 1024	   /* directions of jobs in one STATUS_REPLY */
#define ZCTL_VALUE_MAX 127	   /* of an option, as text */

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
	ZCTL_NAMING,
	ZCTL_STATE,
	ZCTL_STATUS, /* this and all that follow: since protocol ZCTL_PROTOCOL_STATUS */
	ZCTL_STATUS_REPLY,
	ZCTL_CONTROL,
	ZCTL_CONTROLLED,
	ZCTL_TRUNK, /* this and the next: since protocol ZCTL_PROTOCOL_TRUNKS */
	ZCTL_TRUNKED,
};

#define ZCTL_PROOF_REPLY 0x80
#define ZCTL_PROTOCOL_RETURNS 2	     /* the first one in which ranks come back */
#define ZCTL_PROTOCOL_STATUS 3	     /* the first one with STATUS and CONTROL */
#define ZCTL_PROTOCOL_WAITS 3	     /* the first one in which ranks that wait for others tell that they finalize */
#define ZCTL_PROTOCOL_TRACKS 4	     /* the first one with several tracks */
#define ZCTL_PROTOCOL_TRUNKS 4	     /* the first one with trunks */
#define ZCTL_INCARNATIONS_MAX 1000u  /* of one rail */
#define ZCTL_PART_ZIPPER 0xfffffffeu /* in DEAD: see struct zctl_dead */

enum zctl_service {
	ZCTL_SERVICE_RANK = 1,
	ZCTL_SERVICE_LAUNCHER,
	ZCTL_SERVICE_DATA,
	ZCTL_SERVICE_ADMIN,
	ZCTL_SERVICE_CAST, /* between nodes of zipcast; zipperd refuses it */
	ZCTL_SERVICE_CIRCUIT,
	ZCTL_SERVICE_WAY,  /* of a data channel, over another zipperd */
	ZCTL_SERVICE_HOP,  /* of a zipperd that makes a connection for a hop */
	ZCTL_SERVICE_TRUNK /* the same, for many hops of a job */
};

struct zctl_hello {			 /* first message on any link */
	uint32_t protocol;		 /* that the sender speaks; 0: our own */
	char release[ZCTL_NAME_MAX + 1]; /* of the sender; "": our own. Of a protocol that we do not speak only these
					    two are known, the rest is 0 */
	uint8_t service;
	char user[ZCTL_NAME_MAX + 1];
	char job[ZCTL_NAME_MAX + 1];
	uint64_t expires_s; /* the end of the job credential that is proved, in seconds since 1970; 0: the user's own
			       key is proved */
	uint8_t nonce[ZCTL_NONCE_BYTES];
	uint8_t method; /* enum zctl_method; since protocol 2 */
	uint8_t seal;	/* the least protection that the sender wants: enum zseal_level (seal.h); since protocol 2 */
};
enum zctl_method { ZCTL_METHOD_KEY, ZCTL_METHOD_MUNGE };
struct zctl_challenge {
	uint8_t nonce[ZCTL_NONCE_BYTES];
	uint8_t seal; /* the protection of the connection from the proofs on: what either end wants at the least */
};
struct zctl_proof {
	uint8_t mac[ZCTL_MAC_BYTES];	/* keyed hash over service, user, job, expires_s, both nonces and both fields
					   seal; in zipperd's answer ZCTL_PROOF_REPLY is added to the service. 0 with
					   MUNGE: it is in the credential */
	char munge[ZCTL_MUNGE_MAX + 1]; /* the credential, or ""; since protocol 2 */
};

/* Facts that a rank tells about itself. Where one native job spans all parts (mixed = 1), rank and size are those of
 * the whole native world, and vranks follow them. Otherwise they are those of the part. */
struct zctl_join {
	char part[ZCTL_NAME_MAX + 1];
	uint32_t rank, size;
	uint8_t mixed;
	char parts[ZCTL_PARTS_MAX * 8]; /* comma-separated names of all parts in the order of their vranks (max 511
					   bytes); all ranks must tell the same */
	char entries[ZCTL_ENTRIES_MAX]; /* of all parts at this zipperd; "": each part comes by its own fabric */
	char host[ZCTL_NAME_MAX + 1];
	uint64_t abi;	/* fingerprint of the representation: byte order and sizes of C types and handles */
	uint32_t vrank; /* which a placement map gives it; ZCTL_VRANK_ANY: zipperd chooses */
	uint8_t direct; /* 0: no direct links with this rank */
	char ports[ZCTL_PORTS_MAX + 1];	   /* "FABRIC=ADDRESS ...": its listeners for other ranks; "": none */
	char local[ZCTL_NAME_MAX * 2 + 1]; /* the same for ranks on its own node: "ADDRESS", or "" */
	uint64_t node;			   /* equal numbers mean the same node */
	uint64_t tuning;		   /* digest of its tuning table, which must be the same in all ranks */
	uint32_t endpoints;		   /* stations: 1 to ZCTL_ENDPOINTS_MAX, the same in all ranks */
	uint8_t records;		   /* 1: it records a graph; all ranks do or none, as they meet for that */
	uint32_t rail, nrails; /* the number of this zipper in the job, and how many there are; the same in all ranks */
	uint32_t age_ms;       /* how long its process has run */
	uint32_t universe;     /* rank 0: MPI_UNIVERSE_SIZE of its native job; 0: not known; other ranks: 0 */
	uint32_t tag_ub;       /* MPI_TAG_UB of its native library; 0: not known */
	uint32_t incarnation;  /* 0 in MPI_Init. Of a rank that comes back to a zipper that was lost: one more than the
				  last incarnation of that rail that it knows of */
	uint64_t run;	 /* of a rank that comes back: as in the WORLD of MPI_Init; 0: not known; since protocol 3 */
	uint8_t waits;	 /* 1: the same, and the job has no other zipper to go on with; since protocol 3 */
	uint32_t tracks; /* of a rank that comes back: as many as it uses, and comes back for; else 0; since protocol 4
			  */
};

struct zctl_part {
	char name[ZCTL_NAME_MAX + 1]; /* also the name of its fabric */
	uint32_t size;
};
struct zctl_run { /* The vranks vrank .. vrank+count-1 are the lranks lrank .. lrank+count-1 of part. */
	uint32_t vrank, count, part, lrank;
};
struct zctl_attached { /* The ranks vrank .. vrank+count-1 have ports on these fabrics. */
	uint32_t vrank, count;
	uint64_t fabrics; /* bit p: the fabric of part p; 0: they take no direct links. Ranks that are not listed are on
			     their own fabric alone */
};
struct zctl_world {
	uint32_t vrank;	      /* of the rank that reads the message */
	uint8_t external32;   /* parts differ in representation: data cross in external32 */
	uint32_t eager_bytes; /* largest eager payload */
	uint32_t frag_bytes;  /* largest fragment; 0: the transport's fragment_bytes */
	uint32_t rdv_window;  /* bytes that a station may have granted at any time, over all transfers */
	uint32_t universe;    /* MPI_UNIVERSE_SIZE of all parts together; 0: not known */
	uint32_t tag_ub;      /* MPI_TAG_UB of the whole world: the lowest one; 0: not known */
	uint32_t incarnation; /* of this rail: the highest one of all JOINs. So no two worlds have the same */
	uint64_t run;	 /* a random number: all incarnations of this rail in this run of the job have the same, and
			    runs of one name differ; since protocol 3 */
	uint32_t tracks; /* of the job at this zipper; 0: one, as before protocol 4 */
	uint32_t nparts, nruns, nattached;
	struct zctl_part *parts;	/* owned, zctl_world_free */
	struct zctl_run *runs;		/* sorted by vrank, covering 0..n-1 without gaps */
	struct zctl_attached *attached; /* sorted by vrank */
};
struct zctl_attach {
	uint8_t ticket[ZCTL_MAC_BYTES]; /* keyed hash over the other fields */
	uint8_t nonce[ZCTL_NONCE_BYTES];
	uint32_t vrank;
	uint32_t part; /* the channel leads to this part's fabric; on a link to another rank: the sender's own part */
	uint32_t endpoint; /* index of the station whose channel or link it is */
	uint8_t seal;	   /* the protection of what follows: enum zseal_level */
	uint32_t track;	   /* whose channel it is; 0 on a link to another rank; since protocol 4 */
};
enum zctl_direct_what { ZCTL_DIRECT_ASK = 1, ZCTL_DIRECT_CONNECT, ZCTL_DIRECT_NO };
struct zctl_direct {
	uint8_t what;
	uint32_t vrank;			    /* of the other rank */
	uint32_t endpoint;		    /* index of the station in both ranks */
	uint8_t nonce[ZCTL_NONCE_BYTES];    /* CONNECT: for ATTACH, with its ticket */
	uint8_t masked[ZCTL_MAC_BYTES];	    /* CONNECT: that ticket, masked for the rank that reads the message */
	char addresses[ZCTL_PORTS_MAX + 1]; /* CONNECT: to be tried in this order, separated by blanks */
	uint8_t seal;			    /* CONNECT: the protection of a link over TCP: enum zseal_level */
	uint8_t masked_key[ZCTL_MAC_BYTES]; /* CONNECT: the key of that, masked with the ticket as nonce */
};
struct zctl_to_part {
	uint32_t part;
	uint64_t msgs, bytes; /* as in zctl_dirstat */
};
struct zctl_traffic { /* Messages that a rank has sent over direct links since the last TRAFFIC; to its own part:
		       * natively.
		       */
	uint32_t nparts;
	struct zctl_to_part *parts; /* owned, zctl_free */
};
/* A process may end without MPI_Finalize, while others may still wait for it. It says ENDED when it is about to end
 * with status 0, and stays until zipperd says OVER: then no rank waits for anything but the end. From the first ENDED
 * on, which all ranks hear, a rank also says WAITS when it has waited in MPI for a while, RUNS when it goes on, and
 * FINALIZES. With another status there is nothing to wait for: the job ends with it. A rank that has come back to a
 * zipper and waits for the others says FINALIZES, too, since protocol 3: some of these may have left. */
enum zctl_state_what { ZCTL_STATE_RUNS = 1, ZCTL_STATE_WAITS, ZCTL_STATE_FINALIZES, ZCTL_STATE_ENDED, ZCTL_STATE_OVER };
struct zctl_state {
	uint8_t what;
	uint32_t vrank; /* zipperd's ENDED: the first rank that said so */
	uint32_t code;	/* a rank's ENDED: the exit status of its process */
};
enum zctl_naming_what { ZCTL_NAMING_PUBLISH = 1, ZCTL_NAMING_LOOKUP, ZCTL_NAMING_UNPUBLISH };
enum zctl_naming_answer {
	ZCTL_NAMING_QUESTION, /* it is no answer */
	ZCTL_NAMING_DONE,
	ZCTL_NAMING_TAKEN,   /* PUBLISH: the name is published already */
	ZCTL_NAMING_UNKNOWN, /* LOOKUP, UNPUBLISH: no such name is published */
	ZCTL_NAMING_FULL,    /* PUBLISH: there is no room for one more */
};
struct zctl_naming { /* Names that ranks publish (MPI-4.0 section 11.9). They are bytes without a zero. */
	uint8_t what, answer;
	uint32_t number;			 /* chosen by the rank, and returned with the answer */
	uint32_t vrank;				 /* answer to LOOKUP: of the rank that published the name; else 0 */
	char service[ZCTL_SERVICE_NAME_MAX + 1]; /* in questions */
	char port[ZCTL_PORT_NAME_MAX + 1];	 /* in PUBLISH, and in the answer to LOOKUP */
};
struct zctl_create {
	char parts[ZCTL_PARTS_MAX * 8];
	char entries[ZCTL_ENTRIES_MAX]; /* as in JOIN */
	uint32_t sizes[ZCTL_PARTS_MAX]; /* as many as there are names in parts; 0: not known beforehand */
	uint32_t join_timeout_ms;
	uint8_t again;	 /* 1: the job runs, and its ranks come back: there is no such time; since protocol 3 */
	uint64_t shares; /* a bit for each part: its ranks share connections, which count when they come; since protocol
			  * 4
			  */
	uint32_t nruns;	 /* 0: part follows part, in the order of their ranks */
	struct zctl_run *runs; /* a placement map, as in zctl_world; owned, zctl_free. All sizes are known then */
};
enum zctl_event_kind {
	ZCTL_EV_RANK_JOINED = 1, /* number: how many ranks have reported so far */
	ZCTL_EV_WORLD,		 /* all ranks are there */
	ZCTL_EV_RANK_DONE,	 /* number: how many ranks have said BYE */
	ZCTL_EV_DEAD,		 /* text: who or what; number: exit code for the job */
	ZCTL_EV_RANK_ENDED,	 /* text: the first rank that ends without MPI_Finalize */
	ZCTL_EV_LOST,		 /* text: why the job ends here, but not its ranks: as DEAD with ZCTL_PART_ZIPPER */
};
struct zctl_event {
	uint8_t kind;
	uint32_t number;
	char text[ZCTL_TEXT_MAX + 1];
};
struct zctl_open {
	uint32_t part, endpoint; /* a channel to that part, of the station with that index */
	uint32_t track;		 /* of that track; since protocol 4 */
};
struct zctl_dead { /* DEAD, ABORT and QUIT */
	uint32_t code;
	/* Of the rank that died or aborted; ZWIRE_NOBODY: there is none. ZCTL_PART_ZIPPER: only this zipper is lost, as
	 * zipperd ends or a rank does not reach it; the ranks may come back to it. With another part the job is over,
	 * also for ranks that have come back and wait for the others. */
	uint32_t part;
	char text[ZCTL_TEXT_MAX + 1];
};
struct zctl_error {
	int32_t code; /* positive errno */
	char text[ZCTL_TEXT_MAX + 1];
};
struct zctl_meet {
	char name[ZCTL_NAME_MAX + 1];
	char from[ZCTL_NAME_MAX + 1], to[ZCTL_NAME_MAX + 1]; /* fabrics: of the sender; of the other end */
};
struct zctl_reach {
	char from[ZCTL_NAME_MAX + 1],
		to[ZCTL_NAME_MAX + 1];	 /* fabrics: by which the peer comes; by which the wanted zipperd is reached */
	char address[ZCTL_ADDR_MAX + 1]; /* of the wanted zipperd */
	uint8_t pass[ZCTL_TOKEN_BYTES];	 /* of a WAY; else 0 */
	uint8_t mac[ZCTL_MAC_BYTES];	 /* of a WAY: keyed hash over both nonces and the other fields; else 0 */
	uint32_t share;			 /* what may share a connection to that zipperd: zctl_share; since protocol 4 */
};
/* A session, or a data channel to that part on that track, may share a connection with others of the same kind. 0: it
 * has a connection of its own. */
#define ZCTL_SHARE_SESSIONS 1u
static inline uint32_t zctl_share(uint32_t part, uint32_t track)
{
	return ZCTL_SHARE_SESSIONS + 1 + part * ZCTL_TRACKS_MAX + track;
}
#define ZCTL_SHARE_MAX (ZCTL_SHARE_SESSIONS + ZCTL_PARTS_MAX * ZCTL_TRACKS_MAX)
struct zctl_trunk {
	char from[ZCTL_NAME_MAX + 1]; /* fabric by which the trunk comes */
	uint32_t share;		      /* of its streams: as in REACH, but not 0 */
};
struct zctl_reached {
	uint8_t pass[ZCTL_TOKEN_BYTES]; /* names it to data channels to the same zipperd, while this connection stands
					 */
};
struct zctl_dirstat { /* One direction of one job. */
	char from[ZCTL_NAME_MAX + 1], to[ZCTL_NAME_MAX + 1];
	uint64_t msgs;	       /* messages (EAGER + RTS) */
	uint64_t bytes;	       /* payload bytes of EAGER and DATA */
	uint64_t envelopes;    /* envelopes of all kinds */
	uint64_t copied_bytes; /* payload bytes that zipperd's CPU copied: queued for a full link, or (verbs) sent or
				  received as messages in registered buffers */
	uint64_t naks;
	uint64_t queue_high_bytes;	    /* highest level of any destination's queue */
	uint64_t direct_msgs, direct_bytes; /* not carried by zipperd, as ranks have told: over direct links; from a
					       part to itself: natively, point-to-point, where ranks count that */
	uint64_t shared_bytes; /* of bytes: they came from the sender once, together with those for another receiver */
};
struct zctl_stats_reply {
	uint32_t ndirs;
	struct zctl_dirstat *dirs; /* owned, zctl_stats_free */
};

/* A place among the records of a zipperd. Its own records and the present jobs come first, then the jobs that have
 * ended. All 0: the beginning. */
struct zctl_place {
	uint8_t ended;	    /* 1: among the jobs that have ended */
	uint32_t job, lane; /* the last job that was told of; the next of its directions, 0: all were told */
};
struct zctl_worker_status {
	char from[ZCTL_NAME_MAX + 1], to[ZCTL_NAME_MAX + 1]; /* fabrics */
	uint8_t shares;					     /* 1: the thread does the other direction, too */
	uint64_t cpu_ns;				     /* processor time of the thread */
	uint32_t number;				     /* of those for this direction, from 0; since protocol 4 */
	uint64_t msgs, bytes; /* as in zctl_dirstat, of all jobs and circuits so far; since protocol 4 */
};
enum zctl_job_phase { ZCTL_JOB_FORMS = 1, ZCTL_JOB_RUNS, ZCTL_JOB_ENDS, ZCTL_JOB_ENDED };
struct zctl_job_status {
	uint32_t number; /* the zipperd's */
	char user[ZCTL_NAME_MAX + 1], id[ZCTL_NAME_MAX + 1];
	uint8_t phase;		      /* enum zctl_job_phase */
	uint64_t age_ms;	      /* since it began; if it has ended: to its end */
	uint64_t ended_ms;	      /* since its end */
	uint32_t total;		      /* ranks; 0: not known yet */
	uint32_t joined, done;	      /* ranks that have reported; that have said BYE */
	uint32_t endpoints;	      /* of each rank */
	uint32_t rail, nrails;	      /* this zipper's number among those of the job, from 0 */
	uint32_t incarnation;	      /* times that the rail came back */
	uint32_t channels;	      /* data connections */
	uint32_t nparts;	      /* its parts are the next ones in the list of parts */
	uint32_t nlanes;	      /* its directions are the next ones in the list of lanes */
	char text[ZCTL_TEXT_MAX + 1]; /* why it ended; "": well, or not yet */
};
struct zctl_part_status {
	char name[ZCTL_NAME_MAX + 1], fabric[ZCTL_NAME_MAX + 1]; /* fabric: by which its ranks come */
	uint32_t size, joined;					 /* size 0: not known yet */
};
struct zctl_lane_status {
	uint32_t from, to; /* indexes of parts of the job */
	uint64_t msgs, bytes, envelopes, copied_bytes, naks, queue_high_bytes, shared_bytes, direct_msgs,
		direct_bytes;		  /* as in zctl_dirstat */
	uint64_t queue_bytes;		  /* that wait now, for all receivers */
	uint64_t stalls;		  /* times that a sender had to wait, as there was no memory */
	uint64_t latency_ns;		  /* the sum of the times that latency counts */
	uint64_t latency[ZCTL_LATENCIES]; /* of a sample of the messages: from their receipt to the receiver's link */
};
struct zctl_status_reply {
	uint8_t all;		/* 1: the asker is an administrator, and hears of all jobs; 0: of the user's own */
	uint8_t draining;	/* 1: no new jobs */
	struct zctl_place more; /* to ask for next; all 0: this was the end */
	uint64_t uptime_ms;
	char release[ZCTL_NAME_MAX + 1];
	uint32_t connections, max_connections, strangers, jobs, max_jobs, circuits;
	uint64_t refused; /* connections that got an ERROR */
	uint64_t memory_used, memory;
	uint32_t nworkers, njobs, nparts, nlanes; /* of the lists */
	struct zctl_worker_status *worker;	  /* all four owned, zctl_status_free */
	struct zctl_job_status *job;
	struct zctl_part_status *part;
	struct zctl_lane_status *lane;
};
enum zctl_control_what { ZCTL_CONTROL_DRAIN = 1, ZCTL_CONTROL_RESUME, ZCTL_CONTROL_END, ZCTL_CONTROL_SET };
struct zctl_control {
	uint8_t what;
	char user[ZCTL_NAME_MAX + 1]; /* END: whose job; "": the asker's */
	char name[ZCTL_NAME_MAX + 1]; /* END: the job; SET: the option */
	char value[ZCTL_VALUE_MAX + 1];
};
struct zctl_controlled {
	char text[ZCTL_TEXT_MAX + 1]; /* what has been done, for a person */
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
		struct zctl_trunk trunk;
		struct zctl_naming naming;
		struct zctl_state state;
		struct zctl_place status;
		struct zctl_status_reply status_reply;
		struct zctl_control control;
		struct zctl_controlled controlled;
	} u;
};

/* Encodes a message in our own protocol. Returns its size, or -EMSGSIZE if it does not fit into cap. */
int zctl_encode(uint8_t *buf, size_t cap, const struct zctl_msg *);
/* Decodes and checks a message of our own protocol; HELLO: of any. Returns 0, -EPROTO (text in err) or -ENOMEM. On
 * success the message is to be freed with zctl_free. */
int zctl_decode(struct zctl_msg *, const uint8_t *buf, size_t len, struct zerr *);
/* The same in another protocol, which the peer has named in its HELLO; 0: our own. Fields that it does not have are not
 * written, and 0 when read. */
int zctl_encode_as(uint8_t *buf, size_t cap, uint32_t protocol, const struct zctl_msg *);
int zctl_decode_as(struct zctl_msg *, const uint8_t *buf, size_t len, uint32_t protocol, struct zerr *);
/* The protocol that a HELLO names. */
static inline uint32_t zctl_protocol(const struct zctl_hello *hello)
{
	return hello->protocol != 0 ? hello->protocol : ZCTL_PROTOCOL;
}
void zctl_free(struct zctl_msg *);
/* Do we not speak the sender's protocol? Then err says so in words for the sender: "it" are we, "this" is the sender.
 */
bool zctl_is_foreign(const struct zctl_hello *, struct zerr *);
/* Free the lists inside a message's body that was taken out of its message. */
void zctl_world_free(struct zctl_world *);
void zctl_stats_free(struct zctl_stats_reply *);
void zctl_status_free(struct zctl_status_reply *);

#endif

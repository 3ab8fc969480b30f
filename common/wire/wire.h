/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The envelope: the fixed header of everything that travels over a link. Version 2 (RECEIVERS).
 *
 * On the wire: ZWIRE_ENV_BYTES bytes, little-endian, at fixed offsets; never a copy of a C struct.
 *
 *   offset size field
 *        0    1 version    ZWIRE_VERSION; anything else is refused
 *        1    1 kind       enum zwire_kind
 *        2    2 flags      ZWIRE_F_*
 *        4    4 job        number of the job at this zipperd; 0 on a rank's own channel (the channel knows)
 *        8    4 src        station of the sender, or ZWIRE_NOBODY (zipperd)
 *       12    4 dst        station of the receiver, or ZWIRE_NOBODY (zipperd, or those of a list)
 *       16    8 comm       context: communicator id and kind of traffic; for CTS the receiver's transfer id
 *       24    4 tag        MPI tag, or what the kind says
 *       28    4 len        bytes of payload that follow the envelope, at most ZWIRE_MAX_PAYLOAD
 *       32    8 seq        1, 2, ... in the (src, dst) stream for EAGER and RTS; 0 for the others, or what the kind
 *                          says
 *       40    8 ack        highest seq of the (dst, src) stream that src has taken in order
 *       48    8 xfer       transfer id, see the kinds
 *       56    8 offset     EAGER, RTS: bytes of the whole message; DATA: place of the fragment; CTS: granted bytes;
 *                          MOVED: bytes that were moved
 *
 * Stations. A rank has one or more endpoints, as many as all others of its job (JOIN in ctl.h): each has channels,
 * streams and transfers of its own. A station is one endpoint of one rank, and its number is
 *     endpoint * (ranks of the job) + vrank,
 * so that the number of a rank's endpoint 0 is its vrank, and ranks with one endpoint each are called by their vranks.
 * In the following a sender or receiver, one of a list, or who is refused is a station. A rank leaves with all of its:
 * zipperd answers for each with BYE from then on.
 *
 * One-sided transfers (transport.h, struct zrma). A sender that has exposed its memory sends the key in its RTS, with
 * F_ONE_SIDED. zipperd keeps the key to itself: what the receiver gets is the RTS without it, still with the flag if
 * zipperd could do it. A receiver that can, too, answers with F_ONE_SIDED and the key of its own memory in its CTS (for
 * the whole message: offset is that of the RTS); this CTS is for zipperd. It moves the message, and then sends MOVED to
 * the receiver and, in the receiver's name, DONE to the sender. A receiver that cannot sets F_ONE_SIDED in its first
 * CTS without a key, or in its DONE: zipperd forgets the sender's key, everything else is as without. MOVED with offset
 * 0: zipperd cannot do it after all (though it may have written some of it), and the receiver sends such a CTS now.
 * Over a direct link between two ranks the key in the RTS is for the receiver, which reads the message and says DONE,
 * or sends such a CTS.
 *
 * Multicast. A rank that sends the same to several ranks sends RECEIVERS, a list of them, and then the message once, an
 * EAGER, RTS or DATA with dst ZWIRE_NOBODY and seq, ack and xfer 0 (but see below). zipperd makes of it a message for
 * each of the list, with its dst, seq, ack and xfer: they do not know the difference. The list holds for all such
 * messages that follow on this link, until the next one. The receivers may be in any part but the sender's own; for
 * each of these parts the sender has a channel as well. What one rank sends to another in one stream must not take two
 * ways at a time, by lists and not: they may overtake each other, and a receiver with one zipper takes a gap in seq for
 * a lost message. With several zippers it expects that, and waits.
 *
 * An RTS of a multicast may have a key as any other, with F_ONE_SIDED; its xfer is how many milliseconds those
 * receivers that have opened their memory wait for the others. zipperd reads the message once for all who go together,
 * by the link that the RTS came by. Everything else is between each receiver and zipperd, or the sender, as above.
 *
 * Several zippers (rails). A rank for which one is lost drops every link to it and says RAILS to the ranks that it has
 * to do with, by one that is left. Who hears that for the first time drops that zipper as well and says RAILS, too: a
 * rank that has said and heard it knows that nothing more comes by the lost one, in either direction, and what its peer
 * has taken (ack). What was sent that way and not taken is sent again. A receiver in the middle of a transfer says so
 * in its next CTS (F_RESTART): from the bytes on that it has, and in fragments from now on; fragments that were sent
 * before, by whatever way, it knows by their tag, and the sender the grants of before by theirs. A sender that waits
 * for an answer to a message that was taken ASKs for it: DONE may have been lost.
 *
 * Between nodes of zipcast READY with F_ONE_SIDED and a key opens the memory of the message to dst, which writes its
 * blocks there, each followed by WRITTEN, or sends them, as it likes. Without a key src has no memory yet: dst sends it
 * one block (which tells how long the message is), if the message has no more than `offset` blocks, and waits for
 * READY again. FAIL and LEAVE follow the last write of the group over a link: from then on the memory is src's alone.
 *
 * Sequenced kinds are delivered to MPI in order of seq whatever way they took; the others need no order.
 */
#ifndef ZIP_COMMON_WIRE_WIRE_H
#define ZIP_COMMON_WIRE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define ZWIRE_VERSION 2
#define ZWIRE_ENV_BYTES 64
#define ZWIRE_MAX_PAYLOAD (1u << 20) /* a peer that announces more is broken */
#define ZWIRE_NOBODY UINT32_MAX

enum zwire_kind {
	ZWIRE_CTRL = 1,	  /* payload is a control message (ctl.h) */
	ZWIRE_EAGER = 2,  /* sequenced; the whole message is the payload. xfer: the sender's id when F_SYNC */
	ZWIRE_RTS = 3,	  /* sequenced; request to send; xfer: the sender's transfer id; no payload, or a key */
	ZWIRE_CTS = 4,	  /* receiver to sender: xfer = sender's id, comm = receiver's id, offset = bytes of the
			   * transfer that may be sent in all (cumulative; repeated with a larger number); no payload,
			   * or a key. With F_RESTART: seq = bytes that have come, tag = for DATA and CTS
			   * from now on */
	ZWIRE_DATA = 5,	  /* fragment; xfer = receiver's id, offset = its place, payload = its bytes; tag = that of
			   * the last CTS with F_RESTART, or 0 */
	ZWIRE_DONE = 6,	  /* receiver to sender: xfer = sender's id; all arrived (or was not wanted: truncation),
			   * or an F_SYNC eager message was matched */
	ZWIRE_ACK = 7,	  /* only the ack field counts */
	ZWIRE_NAK = 8,	  /* zipperd to sender: seq and all later ones for dst were dropped for lack of room (src is
			   * the refusing destination, dst the sender); hold them until RESUME */
	ZWIRE_RESUME = 9, /* zipperd to sender: resend from the refused seq on (src as in NAK) */
	ZWIRE_BYE = 10,	  /* last message of this sender on this link: closing is no failure */
	ZWIRE_MOVED = 11, /* zipperd to receiver: xfer = receiver's id, offset = bytes that were written into its
			   * memory: all, or 0. From the sender, with F_RESTART, as the answer to a CTS with it:
			   * zipperd has told me that all were */
	/* Between nodes of zipcast (comm = number of the group, xfer = number of the message, 1, 2, ...): */
	ZWIRE_BLOCK = 12, /* seq = bytes of the whole message, offset = place of this block, payload = its bytes */
	ZWIRE_READY = 13, /* src takes the message as soon as it is sent; tag = definition of the group (a hash); with
			   * F_ONE_SIDED see below */
	ZWIRE_FAIL = 14,  /* the group has failed; payload = why, in printable characters */
	/* Rank to zipperd: payload = list of receivers, ZWIRE_RECEIVER_BYTES each, 1 to ZWIRE_RECEIVERS_MAX of them: */
	ZWIRE_RECEIVERS = 15,
	/* Between nodes of zipcast: */
	ZWIRE_LEAVE = 16, /* src takes part in no message of the group after this one; tag = node that left first: src,
			   * or one that src cannot do without */
	ZWIRE_WRITTEN = 17, /* as BLOCK, but without payload: src has written it into dst's memory */
	/* Between ranks that have lost a zipper: */
	ZWIRE_RAILS = 18, /* offset = those that src has lost, a bit each, in the order of the job's rails; may be
			   * repeated. To a rank that has left: zipperd answers with BYE */
	ZWIRE_ASK = 19,	  /* sender to receiver: xfer = sender's id of a message that was taken: DONE, if it is */
	ZWIRE_KIND_MAX = ZWIRE_ASK
};

#define ZWIRE_F_SYNC 0x0001u	  /* synchronous send: DONE on match */
#define ZWIRE_F_EXT32 0x0002u	  /* numbers are big-endian, as libzip/type/signature.h says */
#define ZWIRE_F_ONE_SIDED 0x0004u /* in RTS, CTS, DONE, READY, see above */
/* In an EAGER without payload: announces offset bytes, which come in messages of their own (libzip/bridge/strands.h);
 * xfer is the sender's number of it. */
#define ZWIRE_F_STRANDS 0x0008u
#define ZWIRE_F_RESTART 0x0010u /* in CTS, MOVED, see above */
#define ZWIRE_F_ALL 0x001fu	/* flags of this version; others are refused */

struct zwire_env {
	uint8_t kind;
	uint16_t flags;
	uint32_t job;
	uint32_t src, dst; /* stations, see above */
	uint64_t comm;
	int32_t tag;
	uint32_t len;
	uint64_t seq, ack;
	uint64_t xfer, offset;
};

void zwire_encode(uint8_t out[ZWIRE_ENV_BYTES], const struct zwire_env *);

/* Strict: 0, or -EPROTO for a wrong version, unknown kind or flag, or len above ZWIRE_MAX_PAYLOAD. */
int zwire_decode(struct zwire_env *, const uint8_t in[ZWIRE_ENV_BYTES]);

/* One of a list: dst (4 bytes), 0 (4), seq, ack, xfer (8 each); little-endian. */
#define ZWIRE_RECEIVER_BYTES 32
#define ZWIRE_RECEIVERS_MAX 128u /* more: several lists, and the message again */
struct zwire_receiver {
	uint32_t dst;		 /* station */
	uint64_t seq, ack, xfer; /* as in the envelope */
};
void zwire_put_receiver(uint8_t out[ZWIRE_RECEIVER_BYTES], const struct zwire_receiver *);
/* 0, or -EPROTO where something is not 0 that must be. */
int zwire_get_receiver(struct zwire_receiver *, const uint8_t in[ZWIRE_RECEIVER_BYTES]);

/* Name of a kind for logs, "?" if unknown. */
const char *zwire_kind_name(uint8_t kind);

#endif

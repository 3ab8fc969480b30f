/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The envelope: the fixed header of everything that travels over a link. Version 2 (RECEIVERS).
 *
 * On the wire: ZWIRE_ENV_BYTES bytes, little-endian, at fixed offsets; never a copy of a C struct.
 *
 *   offset size field
 *        0    1 version    ZWIRE_VERSION; any other version is refused
 *        1    1 kind       enum zwire_kind
 *        2    2 flags      ZWIRE_F_*
 *        4    4 job        number of the job at this zipperd; 0 on a rank's own channel (the channel knows);
 *                          number of the stream on a trunk
 *        8    4 src        station of the sender, or ZWIRE_NOBODY (zipperd)
 *       12    4 dst        station of the receiver, or ZWIRE_NOBODY (zipperd, or the receivers of a list)
 *       16    8 comm       context: communicator id and kind of traffic; for CTS the receiver's transfer id
 *       24    4 tag        MPI tag, or as the kind says
 *       28    4 len        bytes of payload that follow the envelope, at most ZWIRE_MAX_PAYLOAD
 *       32    8 seq        1, 2, ... in the (src, dst) stream for EAGER and RTS; other kinds: 0, or as the kind says
 *       40    8 ack        highest seq of the (dst, src) stream that src has taken in order
 *       48    8 xfer       transfer id, see the kinds
 *       56    8 offset     EAGER, RTS: bytes of the whole message; DATA: place of the fragment; CTS: granted bytes;
 *                          MOVED: bytes that were moved
 *
 * Stations. A rank has one or more stations, as many as all other ranks of its job (endpoints in JOIN, ctl.h). Each
 * station has channels, streams and transfers of its own. Envelopes name a station by the number
 *     (index of the station in its rank) * (ranks of the job) + vrank.
 * So the number of a rank's station 0 is its vrank. If each rank has one station, stations are vranks. In the following
 * text senders, receivers, the receivers of a list and refused senders are stations. A rank leaves with
 * all its stations: from then on zipperd answers with BYE for each of them.
 *
 * One-sided transfers (transport.h, struct zrma). A sender that has exposed its memory sends the key in its RTS, with
 * F_ONE_SIDED. zipperd keeps the key to itself: the receiver gets the RTS without the key, and with the flag if zipperd
 * can move the message. A receiver that can take part answers with F_ONE_SIDED and the key of its own memory in its CTS
 * (for the whole message: offset is that of the RTS); this CTS is for zipperd. zipperd moves the message. Then it sends
 * MOVED to the receiver and, in the receiver's name, DONE to the sender. A receiver that cannot take part sets
 * F_ONE_SIDED in its first CTS without a key, or in its DONE: zipperd forgets the sender's key, and everything else is
 * as without. MOVED with offset 0 means that zipperd cannot move the message after all (though it may have written some
 * of it); the receiver then sends such a CTS. Over a direct link between two ranks the key in the RTS is for the
 * receiver, which reads the message and says DONE, or sends such a CTS.
 *
 * Multicast. A rank that sends the same message to several ranks sends RECEIVERS, a list of them, and then the message
 * once: an EAGER, RTS or DATA with dst ZWIRE_NOBODY and with seq, ack and xfer 0 (with an exception below). zipperd
 * turns it into a message for each receiver of the list, with that receiver's dst, seq, ack and xfer. Receivers see no
 * difference. The list holds for all such messages that follow on this link, until the next list. The receivers may be
 * in any part other than the sender's own; for each of these parts the sender has a channel as well. The messages of
 * one stream from a rank to another must not travel by lists and without lists at the same time: they may overtake each
 * other, and a receiver with one zipper takes a gap in seq for a lost message. A receiver with several zippers expects
 * gaps, and waits.
 *
 * The RTS of a multicast may have a key as any other, with F_ONE_SIDED. Its xfer is the time in milliseconds for which
 * the receivers that have opened their memory wait for the others. zipperd reads the message once for all receivers
 * that go together, by the link that the RTS came by. Everything else is between each receiver and zipperd, or between
 * each receiver and the sender, as above.
 *
 * Several zippers (rails). A rank that loses a zipper drops every link to it, and says RAILS to the ranks that it
 * exchanges messages with, by a zipper that is left. A rank that hears of the loss for the first time drops that zipper
 * as well and says RAILS, too. So a rank that has said and heard it knows that nothing more comes by the lost zipper,
 * in either direction, and which messages its peer has taken (ack). A zipper that comes back begins with nothing, for
 * all ranks at once: RAILS tells of which incarnations of a rail it speaks. Messages that were sent that way and not
 * taken are sent again. A receiver in the middle of a transfer tells it in its next CTS (F_RESTART): the sender goes on
 * behind the bytes that the receiver has, and in fragments. The receiver recognizes fragments that were sent before, by
 * whatever way, by their tag; the sender recognizes earlier grants by theirs. A sender that waits for an answer to a
 * message that was taken ASKs for it, as DONE may have been lost.
 *
 * Streams. Two zipperds may have a connection that many channels share, a trunk. Each channel has a stream of messages
 * there, with a number in the field job. The side that has made the trunk begins the streams, numbers them 1, 2, ...,
 * and uses no number again: a side that sees one again ends the trunk. Each side has a window of bytes of a stream that
 * may be under way, envelopes included: ZWIRE_STREAM_FIRST at first. A message may go if it fits in, and also if no
 * more than a quarter of the window is under way. CREDIT tells how many bytes have gone on at the other side, at the
 * latest when these are a quarter of the window; and it tells the window from now on. CREDIT and CLOSE themselves do
 * not count. So a stream whose reader is slow does not hold up the others. CLOSE is the last message of a side in a
 * stream, except for CREDIT. CLOSE with number 0 is for the side that has made the trunk: it is to begin no more
 * streams there. The trunk has had none for some time, and is closed after as long again without any.
 *
 * Between nodes of zipcast READY with F_ONE_SIDED and a key opens the memory of the message to dst. dst writes its
 * blocks there, each followed by WRITTEN, or sends them, as it likes. READY without a key means that src has no memory
 * yet: dst sends it one block (which tells the length of the message), if the message has no more than `offset` blocks,
 * and waits for READY again. FAIL and LEAVE follow the last write of the group over a link: from then on the memory is
 * src's alone. zipperd passes these kinds on as they are. So their fields change with ZWIRE_CAST_VERSION, which READY
 * tells, and no zipperd needs to know. A member that hears of another version fails the group and says so.
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
/* Of the words between nodes of zipcast. 0 (release 1.0.0): LEAVE ends no group, and FAIL names no suspect. */
#define ZWIRE_CAST_VERSION 1

enum zwire_kind {
	ZWIRE_CTRL = 1,	 /* payload is a control message (ctl.h) */
	ZWIRE_EAGER = 2, /* sequenced; the whole message is the payload. xfer: the sender's id when F_SYNC */
	ZWIRE_RTS = 3,	 /* sequenced; request to send; xfer: the sender's transfer id; no payload, or a key */
	ZWIRE_CTS = 4,	 /* receiver to sender: xfer = sender's id, comm = receiver's id, offset = bytes of the transfer
			    that may be sent in all (cumulative; repeated with a larger number); no payload, or a key.
			    With F_RESTART: seq = bytes that have come, tag = tag of DATA and CTS from now on */
	ZWIRE_DATA = 5,	 /* fragment; xfer = receiver's id, offset = its place, payload = its bytes; tag = that of
			  * the last CTS with F_RESTART, or 0 */
	ZWIRE_DONE = 6,	 /* receiver to sender: xfer = sender's id; everything has arrived (or was not wanted:
			    truncation), or an F_SYNC eager message was matched */
	ZWIRE_ACK = 7,	 /* the ack field is all that it carries */
	ZWIRE_NAK = 8,	 /* zipperd to sender: seq and all later messages for dst were dropped for lack of room (src is
			    the refusing destination, dst the sender); hold them until RESUME */
	ZWIRE_RESUME = 9, /* zipperd to sender: resend from the refused seq on (src as in NAK) */
	ZWIRE_BYE = 10,	  /* last message of this sender on this link: closing is no failure */
	ZWIRE_MOVED = 11, /* zipperd to receiver: xfer = receiver's id, offset = bytes that were written into its
			     memory: all, or 0. From the sender, with F_RESTART, as the answer to a CTS with F_RESTART:
			     zipperd has told the sender that all were written */
	/* Between nodes of zipcast (comm = number of the group, xfer = number of the message, 1, 2, ...): */
	ZWIRE_BLOCK = 12, /* seq = bytes of the whole message, offset = place of this block, payload = its bytes */
	ZWIRE_READY = 13, /* src takes the message as soon as it is sent; tag = definition of the group (a hash);
			     ack = ZWIRE_CAST_VERSION; F_ONE_SIDED: see above. With F_SYNC: src and all below it in the
			     tree have entered barrier xfer, or, to a child: all members have */
	ZWIRE_FAIL = 14,  /* the group has failed; payload = why, in printable characters; tag = 1 + number of the
			     suspected node, 0: none */
	/* Rank to zipperd: payload = list of receivers, ZWIRE_RECEIVER_BYTES each, 1 to ZWIRE_RECEIVERS_MAX of them: */
	ZWIRE_RECEIVERS = 15,
	/* Between nodes of zipcast: */
	ZWIRE_LEAVE = 16,   /* src takes part in no message of the group after this one; tag = the node that left first:
			       src, or a node that src needs; seq = 1: src has all messages of the group, of which
			       this one is the last, and has passed on its share of them (ZWIRE_LEAVE_END); offset =
			       barriers of the group */
	ZWIRE_WRITTEN = 17, /* as BLOCK, but without payload: src has written it into dst's memory */
	/* Between ranks that have lost a zipper: */
	ZWIRE_RAILS = 18, /* comm, xfer, offset = for each rail of the job the first incarnation that src has not lost
			     (zwire_put_rails); may be repeated. If dst has left, zipperd answers with BYE */
	ZWIRE_ASK = 19,	  /* sender to receiver: xfer = sender's id of a message that was taken; the answer is DONE if
			     the transfer is done, else CTS with F_RESTART if it is of before the loss, and tag is 0 */
	/* Between zipperds, in a stream of a trunk: */
	ZWIRE_CREDIT = 20, /* offset = bytes of the stream that have gone on at src's side, since its beginning;
			      xfer = the window */
	ZWIRE_CLOSE = 21,  /* src says nothing more in this stream; or wants no more streams, see above */
	ZWIRE_KIND_MAX = ZWIRE_CLOSE
};

/* The windows of streams. The large one has room for four of the largest fragments. */
#define ZWIRE_STREAM_FIRST (16u << 10)
#define ZWIRE_STREAM_LARGE ((1u << 20) + (64u << 10))
#define ZWIRE_JOB_OFFSET 4 /* of the field job */

#define ZWIRE_LEAVE_END 1u /* seq of a LEAVE that ends the group */

#define ZWIRE_F_SYNC 0x0001u	  /* synchronous send: DONE on match; in READY, see there */
#define ZWIRE_F_EXT32 0x0002u	  /* numbers are big-endian, as libzip/type/signature.h says */
#define ZWIRE_F_ONE_SIDED 0x0004u /* in RTS, CTS, DONE, READY, see above */
/* In an EAGER without payload: it announces offset bytes, which come in messages of their own
 * (libzip/bridge/strands.h); xfer is the sender's number of the announced message. */
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

/* Decodes strictly. Returns 0, or -EPROTO for a wrong version, unknown kind or flag, or len above ZWIRE_MAX_PAYLOAD. */
int zwire_decode(struct zwire_env *, const uint8_t in[ZWIRE_ENV_BYTES]);

/* One receiver of a list: dst (4 bytes), 0 (4), seq, ack, xfer (8 each); little-endian. */
#define ZWIRE_RECEIVER_BYTES 32
#define ZWIRE_RECEIVERS_MAX 128u /* for more receivers several lists are sent, each followed by the message */
struct zwire_receiver {
	uint32_t dst;		 /* station */
	uint64_t seq, ack, xfer; /* as in the envelope */
};
void zwire_put_receiver(uint8_t out[ZWIRE_RECEIVER_BYTES], const struct zwire_receiver *);
/* Returns 0, or -EPROTO where a field that must be 0 is not. */
int zwire_get_receiver(struct zwire_receiver *, const uint8_t in[ZWIRE_RECEIVER_BYTES]);

/* RAILS: a number of ZWIRE_INCARNATION_BITS bits for each of n rails, at most ZWIRE_RAILS_MAX. */
#define ZWIRE_RAILS_MAX 18
#define ZWIRE_INCARNATION_BITS 10
void zwire_put_rails(struct zwire_env *, const uint16_t *least, int n);
void zwire_get_rails(uint16_t *least, int n, const struct zwire_env *);

/* The name of a kind for logs, "?" if unknown. */
const char *zwire_kind_name(uint8_t kind);

#endif

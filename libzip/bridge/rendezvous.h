/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers of large messages: RTS, CTS with a grant in bytes, DATA, DONE. Also the DONE of synchronous eager sends.
 * Under the shim's lock.
 *
 * Where both links to zipperd are capable of it nothing is granted: the sender exposes its memory, the receiver its
 * own, zipperd moves the message and tells both (wire.h). Each side decides for itself and for each transfer, so it
 * also goes the other way where one cannot register its memory, or has other zippers between itself and that zipperd.
 * Over a direct link that is capable of it the receiver reads (fetch.h).
 *
 * A receiver has granted at most rdv_window bytes at any time over all its transfers, so that zipperd never holds more
 * for it. While plenty of the window is free a transfer gets up to a quarter of it, so that three senders that do not
 * answer leave room for others; in the last quarter each gets one fragment.
 */
#ifndef ZIP_LIBZIP_RENDEZVOUS_H
#define ZIP_LIBZIP_RENDEZVOUS_H

#include <stdbool.h>
#include <stdint.h>

#include "libzip/bridge/op.h"
#include "common/wire/wire.h"

struct zchannel;

struct ztransfer_rts {	      /* what a request to send says; valid during the call */
	struct zchannel *way; /* that it has come, and all of the transfer goes; NULL: the sender's own channel */
	uint64_t xfer, total;
	int tag;
	uint16_t flags;
	const uint8_t *key; /* [ZRMA_KEY_BYTES] to the sender's memory, over a direct link; or NULL */
};

void ztransfer_init(const struct zbridge_params *);
/* Would a message of so many bytes be offered to zipperd, or to the receiver, over this channel? */
bool ztransfer_would_expose(const struct zchannel *, uint64_t bytes);
/* Opens the bytes of an operation to the other end of its channel, if that is possible and worth it: true, op->exposure
 * has the key. */
bool ztransfer_expose(struct zop *);
void ztransfer_conceal(struct zop *); /* no effect if it is not exposed */
/* The same of one whose link is lost: its peer, which may have died, is not waited for. */
void ztransfer_give_up(struct zop *);

/* Gives the operation a transfer id, or takes it back. 0 or -ENOMEM. */
int ztransfer_add(struct zop *);
void ztransfer_del(struct zop *);
/* Sender: it is in the stream. */
void ztransfer_begin(struct zop *);

/* Receiver: a request to send has been matched with op. */
void ztransfer_start_recv(struct zop *, struct zremote *from, const struct ztransfer_rts *);
/* Receiver: its bytes have been read from the sender's memory. */
void ztransfer_fetched(struct zop *);
/* Receiver: where the payload of this DATA goes, or NULL if it belongs to no transfer. */
uint8_t *ztransfer_place(struct zremote *from, const struct zwire_env *);
/* Receiver: a fragment has come, in its place. 0 or -EPROTO. */
int ztransfer_take_data(struct zremote *from, const struct zwire_env *);
/* Receiver: zipperd has written it into our memory, or cannot. 0 or -EPROTO. */
int ztransfer_take_moved(struct zremote *from, const struct zwire_env *);
/* Receiver: tells the sender that its message was matched (F_SYNC), or is not wanted. flags: ZWIRE_F_ONE_SIDED if it
 * was offered so. */
void ztransfer_post_done(struct zremote *to, struct zchannel *way, uint64_t xfer, uint16_t flags);

/* Sender: a grant or the end has come. 0 or -EPROTO. */
int ztransfer_take_cts(struct zremote *from, const struct zwire_env *);
int ztransfer_take_done(struct zremote *from, const struct zwire_env *);
/* Sender: posts one fragment of the grant. 0 or -EAGAIN. */
int ztransfer_post_data(struct zop *);

/* After the loss of a rail (failover.h). Every one that has an id; none may be added or taken out meanwhile. */
void ztransfer_each(void (*visit)(struct zop *, void *ctx), void *ctx);
/* Its way is lost, and still has its link: takes back what was opened there. It is adrift until the other end is heard.
 */
void ztransfer_lose_way(struct zop *);
/* Receiver: asks the sender to go on from what has come, by the rank's own channel. Not while links are polled. */
void ztransfer_restart(struct zop *);

/* The peer has left: sends to it that wait for an answer are over. */
void ztransfer_leave(struct zremote *);
/* Is there a transfer that must complete before MPI_Finalize does? (MPI-4.0 section 11.2.2: freed requests too) */
bool ztransfer_must_finish(void);
void ztransfer_fini(void);

#endif

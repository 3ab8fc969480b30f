/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver's half of a transfer, see transfer.h. Under the shim's lock.
 *
 * A station has at most rdv_window bytes granted and not received, over all its transfers in fragments. This bounds its
 * queue at zipperd (zipperd/lane/room.c). A transfer may have half of the window granted; before its first fragment an
 * eighth, because its sender may be computing. This share is at least one fragment, or the window if that is smaller. A
 * transfer is granted more when at most half of its share is granted and not received: the rest of its share, or of its
 * message. It is granted nothing while that does not fit into what is free of the window.
 */
#ifndef ZIP_LIBZIP_TRANSFER_RECV_H
#define ZIP_LIBZIP_TRANSFER_RECV_H

#include <stdint.h>

struct zchannel;
struct zop;
struct zremote;
struct zstation;
struct zwire_env;

struct ztransfer_rts {	      /* what a request to send says; valid during the call */
	struct zchannel *way; /* that it has come, and all of the transfer goes; NULL: the sender's own channel */
	uint64_t xfer, total;
	int tag;
	uint16_t flags;
	const uint8_t *key; /* [ZRMA_KEY_BYTES] to the sender's memory, over a direct link; or NULL */
};

void ztransfer_recv_fini(struct zstation *);

/* A request to send has been matched with op. */
void ztransfer_recv_start(struct zop *, struct zremote *from, const struct ztransfer_rts *);
/* Its bytes have been read from the sender's memory. */
void ztransfer_recv_fetched(struct zop *);
/* Where the payload of this DATA goes, or NULL if it belongs to no transfer. */
uint8_t *ztransfer_recv_place(struct zremote *from, const struct zwire_env *);
/* A fragment has come, in its place. 0 or -EPROTO. */
int ztransfer_recv_take_data(struct zremote *from, const struct zwire_env *);
/* zipperd has written the message into our memory, or cannot. 0 or -EPROTO. */
int ztransfer_recv_take_moved(struct zremote *from, const struct zwire_env *);

/* Its way is lost: nothing more is granted, and nothing counts of what zipperd was writing. */
void ztransfer_recv_take_back(struct zop *);
/* Asks the sender to go on from what has come, by the rank's own channel. Not while links are polled. */
void ztransfer_recv_restart(struct zop *);

#endif

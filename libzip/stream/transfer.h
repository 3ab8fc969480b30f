/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of transfers: operations with an id, which wait for an answer or for data. Large messages are transfers
 * (RTS, CTS with a grant in bytes, DATA, DONE), and so are synchronous eager sends (DONE). transfer_send.h and
 * transfer_recv.h are the two halves. Under the shim's lock.
 *
 * Where both links to zipperd are capable of it nothing is granted: the sender exposes its memory, the receiver its
 * own, zipperd moves the message and tells both (wire.h). Each side decides for itself and for each transfer. So a
 * transfer also goes in fragments where one side cannot register its memory, or has other zippers between itself and
 * that zipperd. Over a direct link that is capable of it the receiver reads (fetch.h).
 */
#ifndef ZIP_LIBZIP_TRANSFER_H
#define ZIP_LIBZIP_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "libzip/stream/op.h"

struct zchannel;
struct zstation;

/* Whether transfers are offered one-sided (ZIPPER_ONE_SIDED); auto: from the size on from which that is faster. */
enum ztransfer_one_sided { ZTRANSFER_ONE_SIDED_AUTO, ZTRANSFER_ONE_SIDED_YES, ZTRANSFER_ONE_SIDED_NO };
extern enum ztransfer_one_sided ztransfer_one_sided;

void ztransfer_init(enum ztransfer_one_sided);
void ztransfer_fini(struct zstation *);

/* The channel that its messages take. */
struct zchannel *ztransfer_way(const struct zop *);
/* Would a message of so many bytes be offered to zipperd, or to the receiver, over this channel? */
bool ztransfer_would_expose(const struct zchannel *, uint64_t bytes);
/* Opens the bytes of an operation to the other end of its channel, if that is possible and worth it: true,
 * op->t.exposure has the key. */
bool ztransfer_expose(struct zop *);
void ztransfer_conceal(struct zop *); /* no effect if it is not exposed */
/* The same of an operation whose link is lost: the peer, which may have died, is not waited for. */
void ztransfer_give_up(struct zop *);

/* Gives the operation a transfer id, or takes it back. 0 or -ENOMEM. */
int ztransfer_add(struct zop *);
void ztransfer_del(struct zop *);
/* The operation of this kind with that id and that rank; NULL: there is none. */
struct zop *ztransfer_find(uint64_t xfer, enum zop_kind, const struct zremote *peer);
/* Visits every operation that has an id; none may be added meanwhile, and none but the visited one taken out. */
void ztransfer_each(struct zstation *, void (*visit)(struct zop *, void *ctx), void *ctx);

/* Sender: the request is in the stream, and its bytes count in the account of its rail; or no longer. */
void ztransfer_begin(struct zop *);
void ztransfer_uncount(struct zop *);
/* Receiver: tells the sender that its message was matched (F_SYNC), or is not wanted. flags: ZWIRE_F_ONE_SIDED if it
 * was offered so. */
void ztransfer_post_done(struct zremote *to, struct zchannel *way, uint64_t xfer, uint16_t flags);
/* The result for a message about a transfer that is not there: -EPROTO, or 0 after the loss of a rail, when the message
 * may be older than the loss. */
int ztransfer_refuse_stale(const struct zremote *from);
/* Its way is lost, and still has its link: takes back what was opened there. The operation is adrift until the other
 * end is heard. */
void ztransfer_lose_way(struct zop *);
/* Is there a transfer that must complete before MPI_Finalize does? (MPI-4.0 section 11.2.2: freed requests too) */
bool ztransfer_must_finish(const struct zstation *);

#endif

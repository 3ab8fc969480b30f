/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender's half of a transfer, see transfer.h. Under the shim's lock. */
#ifndef ZIP_LIBZIP_TRANSFER_SEND_H
#define ZIP_LIBZIP_TRANSFER_SEND_H

struct zop;
struct zremote;
struct zwire_env;

/* A grant (CTS) or the end (DONE) has come. 0 or -EPROTO. */
int ztransfer_send_take_cts(struct zremote *from, const struct zwire_env *);
int ztransfer_send_take_done(struct zremote *from, const struct zwire_env *);
/* Posts one fragment of the grant. 0 or -EAGAIN. */
int ztransfer_send_post_data(struct zop *);
/* The peer has left: sends to it that wait for an answer are over. */
void ztransfer_send_leave(struct zremote *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers what a connection says, by who it has shown to be: greeting, proof, and what it then wants. Control thread.
 */
#ifndef ZIPPERD_REQUEST_H
#define ZIPPERD_REQUEST_H

#include "zipperd/conn/conn.h"

/* NULL, or a constant text: the message makes no sense in the state of the connection, which is to be closed. */
const char *request_answer(struct conn *, struct zctl_msg *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the process that has started zipperd that it is ready: a launcher by --ready-fd, systemd by the protocol of
 * sd_notify(3). */
#ifndef ZIPPERD_NOTIFY_H
#define ZIPPERD_NOTIFY_H

#include "zipperd/conn/daemon.h"

/* Writes one line "FABRIC[,FABRIC...]=ADDRESS" per listener, with the port that was chosen, and an empty line, and
 * closes fd. 0 or a negative errno with text. */
int notify_ready_fd(const struct daemon *, int fd, struct zerr *);
/* Sends one datagram to NOTIFY_SOCKET, if there is one. state: "READY=1", ... */
void notify_state(const char *state);

#endif

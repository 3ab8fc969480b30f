/* SPDX-License-Identifier: BSD-3-Clause */
/* Telling whoever started zipperd that it is ready: the starter by --ready-fd, systemd by sd_notify(3)'s protocol. */
#ifndef ZIPPERD_NOTIFY_H
#define ZIPPERD_NOTIFY_H

#include "zipperd/control/daemon.h"

/* fd: one line "FABRIC[,FABRIC...]=ADDRESS" per listener with the port that was chosen, an empty line, and closed. */
int notify_ready_fd(const struct daemon *, int fd, struct zerr *);
/* One datagram to NOTIFY_SOCKET, if there is one: "READY=1", ... */
void notify_state(const char *state);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening sockets that the service manager hands to zipperd (systemd.socket(5)). They stay open while zipperd is
 * restarted: connections that come meanwhile wait, and none is refused. Start-up only; one thread. */
#ifndef ZIP_COMMON_TRANSPORT_BASE_INHERITED_H
#define ZIP_COMMON_TRANSPORT_BASE_INHERITED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Takes the sockets that are meant for this process: LISTEN_PID and LISTEN_FDS, which are removed from the environment.
 * Returns their number. */
int zinherited_init(void);
/* Takes the socket that listens there out of them. Returns its descriptor, which is the caller's, or -1: there is none.
 */
int zinherited_take(const struct sockaddr *, socklen_t len);
/* In a module, which has a copy of these functions: the sockets are those of the program that loads it, whose
 * zinherited_take is `take`. */
void zinherited_borrow(int (*take)(const struct sockaddr *, socklen_t len));
/* Closes one that nobody has taken, and writes its address. Returns 0, or -ENOENT: there is none. */
int zinherited_close_one(char *address, size_t cap);

#endif

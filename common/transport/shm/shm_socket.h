/* SPDX-License-Identifier: BSD-3-Clause */
/* Unix sockets of the shm transport: their paths, the identity of the peer, and the handshake by which the connecting
 * side hands over the shared memory. Any thread; nothing blocks except connect. */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_SOCKET_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/transport/base/addr.h"

#define SHM_PATH_MAX 108 /* sun_path of sockaddr_un, with the zero */

/* Finds the socket's path: the path of the address, or the default of this user. create: makes the default's directory.
 * Returns 0 or a negative errno with text. */
int shm_socket_path(char path[SHM_PATH_MAX], const struct zaddr *, bool create, struct zerr *);
/* Takes a socket that listens there from the service manager. Returns its descriptor, or -1: there is none. */
int shm_socket_inherit(const char *path);
/* Listens. A socket on which nobody listens any more is replaced. Returns a descriptor, or a negative errno with text;
 * -EADDRINUSE: somebody listens there. */
int shm_socket_listen(const char *path, struct zerr *);
/* Connects. Returns a descriptor, or a negative errno with text. */
int shm_socket_connect(const char *path, int timeout_ms, struct zerr *);
/* Writes the peer as "pid N uid M", and its user. -EACCES with text if the peer is another user, and neither of the two
 * is root. */
int shm_socket_check_peer(int fd, char *text, size_t cap, uid_t *, struct zerr *);

enum { SHM_OFFER_MEMORY, SHM_OFFER_SOCKET, SHM_OFFER_SLOTS, SHM_OFFER_FDS };
/* Hands over descriptors: the memory, the socket of ring 1 (fd itself is the socket of ring 0), and the slots. */
int shm_socket_send_offer(int fd, const int fds[SHM_OFFER_FDS]);
/* Receives the offer. Returns 1: fds are the caller's; 0: not there yet; -ESHUTDOWN: the peer closed; -EPROTO: not an
 * offer; or another error. */
int shm_socket_receive_offer(int fd, int fds[SHM_OFFER_FDS]);

/* After the handshake: sends a byte that wakes, with a descriptor. Returns 0; -EAGAIN: not now; others: it cannot be
 * done. */
int shm_socket_send_fd(int fd, int passed);
#define SHM_SOCKET_FDS 4
/* Receives bytes that wake, and the descriptors that have come with them, which are the caller's. Returns 1; 0: there
 * are none; -ESHUTDOWN: the peer closed; -EMFILE: a descriptor came that this process has no room for; or another
 * error. */
int shm_socket_receive_fds(int fd, int fds[SHM_SOCKET_FDS], size_t *count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setting up links of the shm transport: the operations of struct ztransport (transport.h). transport_shm.c fills in
 * the link's table.
 *
 * The connecting side makes memory and sockets and hands them over. Its first messages may be in the ring before the
 * other side has looked. The accepted link exists at once, and is empty until the offer has come, which either half may
 * take. A consumer counts as sleeping from the beginning, so the first message always brings a byte.
 */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_SETUP_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_SETUP_H

#include "common/transport/base/transport.h"

struct shm_link;

int shm_setup_listen(struct zlistener **, const struct zaddr *, struct zerr *);
void shm_setup_unlisten(struct zlistener *);
int shm_setup_listener_fd(const struct zlistener *);
void shm_setup_listener_addr(const struct zlistener *, struct zaddr *);
int shm_setup_connect(struct zlink **, const struct zaddr *, int timeout_ms, struct zerr *);
int shm_setup_accept(struct zlistener *, struct zlink **, struct zerr *);
void shm_setup_close(struct zlink *);

/* Takes the offer of an accepted link. Returns 1: the link is ready; 0: the offer has not come; or why the link is
 * broken. One thread at a time. */
int shm_setup_take_offer(struct shm_link *);
/* epoll_ctl on a descriptor, without data. Returns 0 or a negative errno. */
int shm_setup_watch(int epoll, int op, int fd, uint32_t events);

#endif

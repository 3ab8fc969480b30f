/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of the shm transport, see shm_setup.h. */
#define _GNU_SOURCE
#include "common/transport/shm/shm_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/transport/base/socket.h"
#include "common/transport/shm/shm_link.h"
#include "common/transport/shm/shm_socket.h"

struct shm_listener {
	struct zlistener base;
	int fd, spare;
	dev_t dev; /* of the socket file, so that only our own is removed */
	ino_t ino; /* 0: there is none, or it is the service manager's */
	struct zaddr addr;
};

int shm_setup_listen(struct zlistener **out, const struct zaddr *addr, struct zerr *err)
{
	char path[SHM_PATH_MAX];
	struct stat st;
	struct zaddr at = *addr;
	struct shm_listener *l = NULL;
	bool inherited = false;
	int rc = shm_socket_path(path, addr, true, err);
	if (rc == 0) {
		memcpy(at.host, path, strlen(path) + 1);
		l = calloc(1, sizeof(*l));
		if (!l)
			rc = zerr_set(err, -ENOMEM, "out of memory");
	}
	if (rc == 0) {
		rc = shm_socket_inherit(path);
		inherited = rc >= 0;
		if (!inherited)
			rc = shm_socket_listen(path, err);
	}
	if (rc < 0) {
		free(l);
		return zaddr_prefix(&at, err, rc, "cannot listen on");
	}
	l->fd = rc;
	l->spare = zsocket_spare();
	if (path[0] == '/' && !inherited && lstat(path, &st) == 0) {
		l->dev = st.st_dev;
		l->ino = st.st_ino;
	}
	l->addr = at;
	*out = &l->base;
	return 0;
}

void shm_setup_unlisten(struct zlistener *base)
{
	struct shm_listener *l = (struct shm_listener *)base;
	struct stat st;
	if (l->ino && lstat(l->addr.host, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->addr.host);
	close(l->fd);
	if (l->spare >= 0)
		close(l->spare);
	free(l);
}

int shm_setup_listener_fd(const struct zlistener *base)
{
	return ((const struct shm_listener *)base)->fd;
}

void shm_setup_listener_addr(const struct zlistener *base, struct zaddr *out)
{
	*out = ((const struct shm_listener *)base)->addr;
}

static struct shm_link *new_link(struct zerr *err)
{
	struct shm_link *l = aligned_alloc(SHM_LINE, sizeof(*l));
	if (!l) {
		zerr_set(err, -ENOMEM, "out of memory for a connection");
		return NULL;
	}
	memset(l, 0, sizeof(*l));
	atomic_flag_clear(&l->joining);
	l->tx.sock = l->tx.watch = l->rx.sock = l->rx.slots_fd = -1;
	static _Atomic uint32_t number;
	l->number = atomic_fetch_add(&number, 1);
	l->rx.armed = true;
	return l;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void free_link(struct shm_link *l)
{
	close_fd(l->tx.watch);
	close_fd(l->tx.sock);
	if (l->rx.sock != l->tx.sock)
		close_fd(l->rx.sock);
	close_fd(l->rx.slots_fd);
	shm_slots_close(&l->tx.slots);
	shm_slots_close(&l->rx.slots);
	for (unsigned i = 0; i < l->rx.nsenders; i++)
		shm_slots_close(&l->rx.senders[i]);
	free(l->rx.senders);
	free(l->tx.senders);
	shm_map_close(&l->map);
	free(l);
}

void shm_setup_close(struct zlink *base)
{
	struct shm_link *l = (struct shm_link *)base;
	if (atomic_load(&l->state) == SHM_READY)
		shm_producer_close(&l->tx.ring);
	/* Children of this process may have the sockets, too. The peer still sees that this process has closed. */
	shutdown(l->tx.sock, SHUT_RDWR);
	shutdown(l->rx.sock, SHUT_RDWR);
	free_link(l);
}

/* Makes memory, slots and the second socket, and hands them over. */
static int make_offer(struct shm_link *l, struct zerr *err)
{
	int pair[2], offer[SHM_OFFER_FDS], rc = 0;
	offer[SHM_OFFER_MEMORY] = shm_map_create(&l->map, err);
	if (offer[SHM_OFFER_MEMORY] < 0)
		return offer[SHM_OFFER_MEMORY];
	offer[SHM_OFFER_SLOTS] = shm_slots_create(&l->tx.slots, err);
	shm_rma_offer(l);
	if (offer[SHM_OFFER_SLOTS] < 0) {
		rc = offer[SHM_OFFER_SLOTS];
	} else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0) {
		rc = zerr_set(err, -errno, "cannot make a socket: %s", strerror(errno));
	} else {
		l->rx.sock = pair[0];
		offer[SHM_OFFER_SOCKET] = pair[1];
		rc = shm_socket_send_offer(l->tx.sock, offer);
		close(pair[1]);
		if (rc < 0)
			zerr_set(err, rc, "cannot hand over shared memory: %s", strerror(-rc));
	}
	close(offer[SHM_OFFER_MEMORY]);
	close_fd(offer[SHM_OFFER_SLOTS]);
	return rc;
}

int shm_setup_connect(struct zlink **out, const struct zaddr *addr, int timeout_ms, struct zerr *err)
{
	char path[SHM_PATH_MAX];
	int rc = shm_socket_path(path, addr, false, err);
	if (rc < 0)
		return zerr_prefix(err, rc, "cannot connect to shm");
	struct shm_link *l = new_link(err);
	if (!l)
		return -ENOMEM;
	rc = l->tx.sock = shm_socket_connect(path, timeout_ms, err);
	if (rc >= 0)
		rc = shm_socket_check_peer(l->tx.sock, l->base.peer, sizeof(l->base.peer), &l->uid, err);
	if (rc >= 0)
		rc = make_offer(l, err);
	if (rc < 0) {
		free_link(l);
		return rc;
	}
	shm_producer_init(&l->tx.ring, &l->map, 0);
	shm_consumer_init(&l->rx.ring, &l->map, 1);
	atomic_store(&l->state, SHM_READY);
	*out = &l->base;
	return 0;
}

int shm_setup_watch(int epoll, int op, int fd, uint32_t events)
{
	struct epoll_event e = {.events = events};
	return epoll_ctl(epoll, op, fd, &e) < 0 ? -errno : 0;
}

int shm_setup_accept(struct zlistener *base, struct zlink **out, struct zerr *err)
{
	struct shm_listener *listener = (struct shm_listener *)base;
	int fd = zsocket_accept(listener->fd, &listener->spare, err);
	if (fd < 0)
		return fd;
	struct shm_link *l = new_link(err);
	if (!l) {
		close(fd);
		return -ENOMEM;
	}
	l->rx.sock = fd;
	l->accepted = true;
	int rc = shm_socket_check_peer(fd, l->base.peer, sizeof(l->base.peer), &l->uid, err);
	if (rc == 0) {
		l->tx.watch = epoll_create1(EPOLL_CLOEXEC);
		rc = l->tx.watch < 0 ? -errno : shm_setup_watch(l->tx.watch, EPOLL_CTL_ADD, fd, EPOLLIN);
		if (rc < 0)
			zerr_set(err, rc, "cannot accept a connection: %s", strerror(-rc));
	}
	if (rc < 0) {
		free_link(l);
		return rc;
	}
	*out = &l->base;
	return 0;
}

int shm_setup_take_offer(struct shm_link *l)
{
	int fds[SHM_OFFER_FDS] = {-1, -1,
		-1}; /* for a compiler that does not see that all are filled when 1 is returned */
	int rc = shm_socket_receive_offer(l->rx.sock, fds);
	if (rc <= 0)
		return rc;
	l->tx.sock = fds[SHM_OFFER_SOCKET];
	l->rx.slots_fd = fds[SHM_OFFER_SLOTS];
	rc = shm_map_open(&l->map, fds[SHM_OFFER_MEMORY]);
	close(fds[SHM_OFFER_MEMORY]);
	if (rc == 0)
		rc = shm_slots_open(&l->rx.slots, l->rx.slots_fd);
	if (rc < 0)
		return rc;
	shm_producer_init(&l->tx.ring, &l->map, 1);
	shm_consumer_init(&l->rx.ring, &l->map, 0);
	shm_rma_try(l);
	/* From now on the first socket is watched for its end only. The second one is writable, which wakes a sender
	 * that sleeps already; the next post stops watching for that. */
	l->tx.watch_new = true;
	rc = shm_setup_watch(l->tx.watch, EPOLL_CTL_MOD, l->rx.sock, 0);
	if (rc == 0)
		rc = shm_setup_watch(l->tx.watch, EPOLL_CTL_ADD, l->tx.sock, EPOLLIN | EPOLLOUT);
	return rc < 0 ? -EPROTO : 1; /* the descriptor that came cannot be watched */
}

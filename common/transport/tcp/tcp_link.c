/* SPDX-License-Identifier: BSD-3-Clause */
/* The common parts of clear and sealed links, see tcp_link.h. */
#include "common/transport/tcp/tcp_link.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/transport/tcp/tcp_socket.h"

#define CLOSE_DRAIN_BYTES ((size_t)4 << 20)

void tcp_link_guard(struct zlink *link)
{
	tcp_socket_guard(((struct tcp_link *)link)->fd);
}

/* Closing with unread bytes makes the kernel send a reset, which can destroy our last messages that the peer has not
 * read. So the unread bytes are read first. */
void tcp_link_close(struct zlink *base)
{
	struct tcp_link *l = (struct tcp_link *)base;
	size_t drained = 0;
	ssize_t n;
	shutdown(l->fd, SHUT_WR);
	while (drained < CLOSE_DRAIN_BYTES && (n = recv(l->fd, l->rx.buf, TCP_READ_BYTES, MSG_DONTWAIT)) > 0)
		drained += (size_t)n;
	close(l->fd);
	free(l->tx.buf);
	free(l->rx.buf);
	free(l->rx.elsewhere);
	free(l);
}

int tcp_link_unplace(struct zlink *link)
{
	struct tcp_rx *rx = &((struct tcp_link *)link)->rx;
	if (!rx->open || !rx->placed || rx->placed == rx->elsewhere)
		return 0;
	if (!rx->elsewhere)
		rx->elsewhere = malloc(ZWIRE_MAX_PAYLOAD);
	if (!rx->elsewhere)
		return rx->error = -ENOMEM;
	memcpy(rx->elsewhere, rx->placed, rx->have);
	rx->placed = rx->elsewhere;
	return 0;
}

int tcp_link_fd(const struct zlink *base, enum zlink_half half, uint32_t *events)
{
	*events = half == ZLINK_RX ? EPOLLIN : EPOLLOUT;
	return ((const struct tcp_link *)base)->fd;
}

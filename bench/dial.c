/* SPDX-License-Identifier: BSD-3-Clause */
/* See dial.h. */
#include "bench/dial.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure.h"
#include "common/transport/base/socket.h"
#include "common/transport/tcp/tcp_socket.h"

#define CONNECT_MS 10000

void dial_parse(struct zaddr *a, const char *text)
{
	struct zerr err;
	if (zaddr_parse(a, text, &err) < 0)
		measure_die("%s", err.text);
	if (a->kind != ZADDR_TCP)
		measure_die("%s: only tcp between separate programs", text);
}

int dial_connect(const struct zaddr *a)
{
	struct zerr err;
	int fd = tcp_socket_connect(a, CONNECT_MS, &err);
	if (fd < 0)
		measure_die("%s", err.text);
	return fd;
}

int dial_listen(struct zaddr *a)
{
	struct zerr err;
	int fd = tcp_socket_listen(a, &err);
	if (fd < 0)
		measure_die("%s", err.text);
	a->port = tcp_socket_port(fd);
	return fd;
}

int dial_accept(int listener)
{
	struct zerr err;
	int spare = -1;
	struct pollfd p = {.fd = listener, .events = POLLIN};
	if (poll(&p, 1, -1) < 0)
		measure_die("poll: %s", strerror(errno));
	int fd = zsocket_accept(listener, &spare, &err);
	if (fd < 0)
		measure_die("%s", err.text);
	tcp_socket_tune(fd);
	close(listener);
	return fd;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The transports alone, on this machine: two processes, or three of which the middle one only forwards from link to
 * link, as zipperd does. README.md tells how to run it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/copy.h"
#include "bench/measure.h"
#include "common/transport/base/transport.h"
#include "common/transport/transports.h"

#define CONNECT_MS 10000
#define FRAGMENT_BYTES ((size_t)128 << 10) /* zipperd's default */
#define BUDGET 16

static const struct ztransport *ops;

struct endpoint {
	struct zlink *link;
	struct zwait wait;
	uint8_t *into; /* where received bytes go */
	size_t left;
};

static bool arm_rx(void *half)
{
	return ops->arm(half, ZLINK_RX) == 0;
}

static bool arm_tx(void *half)
{
	return ops->arm(half, ZLINK_TX) == 0;
}

static void make_sleeper(struct sleeper *s, struct zlink *link, enum zlink_half half)
{
	uint32_t events;
	int fd = ops->fd(link, half, &events);
	*s = (struct sleeper){fd, events & EPOLLIN ? POLLIN : POLLOUT, half == ZLINK_RX ? arm_rx : arm_tx, link};
}

static void send_message(void *ctx, const void *bytes, size_t len)
{
	struct endpoint *e = ctx;
	struct sleeper s;
	make_sleeper(&s, e->link, ZLINK_TX);
	for (size_t done = 0; done < len;) {
		size_t n = len - done < FRAGMENT_BYTES ? len - done : FRAGMENT_BYTES;
		struct zwire_env env = {.kind = ZWIRE_DATA, .len = (uint32_t)n, .offset = done};
		uint8_t raw[ZWIRE_ENV_BYTES];
		zwire_encode(raw, &env);
		int rc;
		while ((rc = ops->post(e->link, raw, (const uint8_t *)bytes + done, n)) == -EAGAIN)
			measure_wait(&e->wait, &s, 1);
		if (rc < 0)
			measure_die("post: %s", strerror(-rc));
		zwait_reset(&e->wait);
		done += n;
	}
	while (ops->flush(e->link) == -EAGAIN)
		measure_wait(&e->wait, &s, 1);
}

static void *place(void *ctx, const struct zwire_env *env)
{
	struct endpoint *e = ctx;
	return env->len <= e->left ? e->into : NULL;
}

static int take(void *ctx, const struct zwire_env *env, const uint8_t *raw, const void *payload)
{
	struct endpoint *e = ctx;
	(void)raw;
	if (env->len > e->left)
		return -EAGAIN; /* the next message is not wanted yet */
	if (payload != e->into) /* its envelope came before we asked for the message */
		zcopy(e->into, payload, env->len);
	e->into += env->len;
	e->left -= env->len;
	return 0;
}

static void receive_message(void *ctx, void *bytes, size_t len)
{
	struct endpoint *e = ctx;
	struct zsink sink = {.place = place, .take = take, .ctx = e};
	struct sleeper s;
	make_sleeper(&s, e->link, ZLINK_RX);
	e->into = bytes;
	e->left = len;
	while (e->left) {
		int n = ops->poll(e->link, &sink, BUDGET);
		if (n < 0 && n != -EAGAIN)
			measure_die("poll: %s", strerror(-n));
		if (n > 0)
			zwait_reset(&e->wait);
		else
			measure_wait(&e->wait, &s, 1);
	}
}

struct way { /* from one link to another */
	struct zlink *from, *to;
	bool stuck;
};

static int forward(void *ctx, const struct zwire_env *env, const uint8_t *raw, const void *payload)
{
	struct way *w = ctx;
	return ops->post(w->to, raw, payload, env->len);
}

/* True if anything moved. */
static bool move(struct way *w, bool *end)
{
	struct zsink sink = {.take = forward, .ctx = w};
	int n = ops->poll(w->from, &sink, BUDGET);
	int f = ops->flush(w->to);
	if ((n < 0 && n != -EAGAIN) || (f < 0 && f != -EAGAIN))
		*end = true;
	w->stuck = n == -EAGAIN || f == -EAGAIN;
	return n > 0;
}

static void relay(struct zlink *a, struct zlink *b, bool busy)
{
	struct way there = {a, b, false}, back = {b, a, false};
	struct zwait wait;
	bool end = false;
	zwait_init(&wait, busy);
	while (!end) {
		bool moved = move(&there, &end);
		moved |= move(&back, &end);
		if (moved) {
			zwait_reset(&wait);
			continue;
		}
		struct sleeper s[2];
		make_sleeper(&s[0], there.stuck ? b : a, there.stuck ? ZLINK_TX : ZLINK_RX);
		make_sleeper(&s[1], back.stuck ? a : b, back.stuck ? ZLINK_TX : ZLINK_RX);
		measure_wait(&wait, s, 2);
	}
}

static struct zlistener *listen_at(const char *text, struct zaddr *actual)
{
	struct zlistener *l;
	struct zaddr addr;
	struct zerr err;
	if (zaddr_parse(&addr, text, &err) < 0)
		measure_die("%s", err.text);
	ops = ztransports_find(addr.kind, &err);
	if (!ops || ops->listen(&l, &addr, &err) < 0)
		measure_die("%s", err.text);
	ops->listener_addr(l, actual);
	return l;
}

static struct zlink *accept_from(struct zlistener *l)
{
	struct zlink *link;
	struct zerr err;
	struct pollfd p = {.fd = ops->listener_fd(l), .events = POLLIN};
	if (poll(&p, 1, -1) < 0 || ops->accept(l, &link, &err) < 0)
		measure_die("accept failed");
	return link;
}

static struct zlink *connect_to(const struct zaddr *a)
{
	struct zlink *link;
	struct zerr err;
	if (ops->connect(&link, a, CONNECT_MS, &err) < 0)
		measure_die("%s", err.text);
	return link;
}

static pid_t part(void)
{
	pid_t pid = fork();
	if (pid < 0)
		measure_die("fork: %s", strerror(errno));
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static int run(const char *name, const char *near_text, const char *far_text, bool relayed)
{
	struct zaddr near, far;
	struct zlistener *near_listener = listen_at(near_text, &near), *far_listener = NULL;
	struct endpoint e = {0};
	struct carrier c = {send_message, receive_message, &e};
	bool busy = 2 + relayed > zwait_cores();
	char title[64];
	int status = 0;
	if (relayed)
		far_listener = listen_at(far_text, &far);
	pid_t receiver = part();
	if (receiver == 0) {
		e.link = relayed ? connect_to(&far) : accept_from(near_listener);
		zwait_init(&e.wait, busy);
		measure_receive(&c, &measure_default_plan);
		exit(0);
	}
	pid_t middle = relayed ? part() : -1;
	if (middle == 0) {
		struct zlink *a = accept_from(near_listener), *b = accept_from(far_listener);
		relay(a, b, busy);
		exit(0);
	}
	e.link = connect_to(&near);
	zwait_init(&e.wait, busy);
	snprintf(title, sizeof(title), "%s links, %s", name, relayed ? "relay" : "direct");
	measure_send(&c, &measure_default_plan, title);
	ops->close(e.link);
	waitpid(receiver, &status, 0);
	if (relayed)
		waitpid(middle, NULL, 0);
	ops->unlisten(near_listener);
	if (far_listener)
		ops->unlisten(far_listener);
	return status != 0;
}

int main(int argc, char **argv)
{
	bool direct = argc > 2 && strcmp(argv[2], "direct") == 0;
	if (argc >= 2 && strcmp(argv[1], "tcp") == 0)
		return run("tcp", "tcp:127.0.0.1:0", "tcp:127.0.0.1:0", !direct);
	if (argc >= 2 && strcmp(argv[1], "shm") == 0) {
		char dir[] = "/tmp/zip-bench-XXXXXX", near[64], far[64];
		if (!mkdtemp(dir))
			measure_die("mkdtemp: %s", strerror(errno));
		snprintf(near, sizeof(near), "shm:%s/near", dir);
		snprintf(far, sizeof(far), "shm:%s/far", dir);
		int rc = run("shm", near, far, !direct);
		rmdir(dir);
		return rc;
	}
	fputs("usage: link tcp|shm [direct]\n", stderr);
	return 2;
}

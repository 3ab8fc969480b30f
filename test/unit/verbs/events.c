/* SPDX-License-Identifier: BSD-3-Clause */
/* How links end: events of ports, devices and queues, and peers that have gone. */
#include "test/unit/verbs/parts.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* --- events --- */

/* Receives that lie in shared queues, all together. */
static uint32_t shared_receives(const struct pair *p)
{
	struct fake_fabric *f = fake_fabric();
	uint32_t n = 0;
	fake_at seen[8] = {0};
	size_t nseen = 0;
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	assert_int_equal(p->a->ops->poll(p->a, &sink, 1), 0); /* buffers that other threads gave back are posted */
	assert_int_equal(p->b->ops->poll(p->b, &sink, 1), 0);
	inbox_fini(&in);
	for (uint32_t i = 0; i < f->nqps; i++) {
		const struct fake_qp *q = &f->qp[i];
		bool again = !q->used || q->own_rq;
		for (size_t k = 0; k < nseen && !again; k++)
			again = seen[k] == q->rq;
		if (again)
			continue;
		assert_true(nseen < 8);
		seen[nseen++] = q->rq;
		const struct fake_rq *rq = fake_ptr(f, q->rq);
		n += rq->tail - rq->head;
	}
	return n;
}

/* Messages are there that nobody has looked at when their receiver closes: their buffers are found again. */
void no_buffer_goes_with_a_link(void **state)
{
	static const char *const categories[] = {"static", "mpi-everywhere"};
	for (size_t c = 0; c < 2; c++) {
		option("ZIPPER_ENDPOINTS", categories[c]);
		struct pair stays = fixture_pair(*state);
		uint32_t before = shared_receives(&stays);
		for (int round = 0; round < 20; round++) {
			struct pair p = fixture_pair(*state);
			for (uint64_t k = 0; k < 10 && post_message(p.a, k, 1000) == 0; k++)
				assert_int_equal(p.a->ops->flush(p.a), 0);
			p.b->ops->close(p.b);
			p.b = NULL;
			pair_close(&p);
		}
		assert_int_equal(shared_receives(&stays), before);
		pair_close(&stays);
		struct fixture *f = *state;
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* Also where it is the only link for the moment: its thread's buffers are there for the next ones. */
void no_buffer_goes_with_the_last_link(void **state)
{
	struct pair p = fixture_pair(*state);
	const uint32_t before = shared_receives(&p);
	pair_close(&p);
	for (int round = 0; round < 5; round++) {
		p = fixture_pair(*state);
		for (uint64_t k = 0; k < 10 && post_message(p.a, k, 1000) == 0; k++)
			assert_int_equal(p.a->ops->flush(p.a), 0);
		p.b->ops->close(p.b);
		p.b = NULL;
		pair_close(&p);
	}
	p = fixture_pair(*state);
	assert_int_equal(shared_receives(&p), before);
	pair_close(&p);
}

/* The thread that closes is not the one that the pool of buffers belongs to. */
void closing_leaves_the_pool_alone(void **state)
{
	struct pair stays = fixture_pair(*state), p = fixture_pair(*state);
	const struct vtx *tx = &((struct vlink *)(void *)p.a)->tx;
	const struct vpool *pool = tx->pool;
	assert_ptr_equal(pool, ((struct vlink *)(void *)stays.a)->tx.pool);
	struct inbox in;
	inbox_init(&in);
	for (uint64_t k = 0; tx->held <= VPOOL_OWN + 1; k++) { /* the last message is not flushed */
		while (post_message(p.a, k, 1000) == -EAGAIN)
			;
		if (tx->held > VPOOL_OWN + 1)
			break;
		assert_int_equal(p.a->ops->flush(p.a), 0);
		receive_until(p.b, &in, k + 1);
	}
	inbox_fini(&in);
	stays.a->ops->arm(stays.a, ZLINK_TX); /* the pool's thread takes in the buffers that others gave back */
	const uint32_t before = pool->nfree, held = tx->held;
	const int32_t shared = pool->shared;
	assert_true(held > VPOOL_OWN);
	p.a->ops->close(p.a);
	p.a = NULL;
	assert_int_equal(pool->nfree, before);
	assert_int_equal(pool->shared, shared);
	stays.a->ops->arm(stays.a, ZLINK_TX);
	assert_int_equal(pool->nfree, before + held);
	assert_int_equal(pool->shared, shared + (int32_t)held - VPOOL_OWN);
	pair_close(&p);
	pair_close(&stays);
}

/* The last words, an empty write that is waited for, are for a peer that is there. */
void nobody_waits_for_a_dead_peer(void **state)
{
	const uint64_t *writes = &fake_fabric()->operations[FAKE_WRITE];
	for (int dead = 0; dead < 2; dead++) {
		struct pair p = fixture_pair(*state);
		assert_int_equal(post_message(p.a, 0, 1000), 0);
		assert_int_equal(p.a->ops->flush(p.a), 0);
		if (dead)
			assert_int_equal(shutdown(((struct vlink *)(void *)p.b)->life.sock, SHUT_RDWR), 0);
		const uint64_t before = *writes;
		p.a->ops->close(p.a);
		p.a = NULL;
		assert_int_equal(*writes - before, !dead);
		pair_close(&p);
	}
}

static void sleeping_ends_wake(void **state, int expected, void (*event)(int sock))
{
	struct pair p = fixture_pair(*state);
	struct zlink *link[2] = {p.a, p.b};
	int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	for (int i = 0; i < 2; i++)
		while (link[i]->ops->poll(link[i], &sink, 1) == 0 && link[i]->ops->arm(link[i], ZLINK_RX))
			;
	fake_lock(fake_fabric());
	event(sock);
	fake_unlock(fake_fabric());
	close(sock);
	for (int i = 0; i < 2; i++)
		assert_int_equal(receive_to_end(link[i], &in), expected);
	inbox_fini(&in);
	pair_close(&p);
}

/* Both ends sleep, and look when they are woken, for some milliseconds: nothing ends. */
static void idle(const struct pair *p, const struct zsink *sink, int ms)
{
	struct zlink *link[2] = {p->a, p->b};
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	const int64_t end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
	for (int64_t now = end - ms; now < end; now = t.tv_sec * 1000 + t.tv_nsec / 1000000) {
		struct pollfd fds[2];
		bool again = false;
		for (int i = 0; i < 2; i++) {
			uint32_t events;
			assert_int_equal(link[i]->ops->poll(link[i], sink, 1), 0);
			fds[i] = (struct pollfd){.fd = link[i]->ops->fd(link[i], ZLINK_RX, &events), .events = POLLIN};
			again |= link[i]->ops->arm(link[i], ZLINK_RX);
		}
		if (!again)
			poll(fds, 2, (int)(end - now));
		clock_gettime(CLOCK_MONOTONIC, &t);
	}
}

static void port_down(int sock)
{
	fake_port_set(fake_fabric(), sock, 0, 1, false);
}

static void device_gone(int sock)
{
	fake_device_gone(fake_fabric(), sock, 0, 0);
}

void a_port_that_goes_down_ends_its_links(void **state)
{
	struct fixture *f = *state;
	struct zlink *link;
	struct zerr err;
	option("ZIPPER_VERBS_PORT_GRACE", "0");
	sleeping_ends_wake(state, -ENETDOWN, port_down);
	option("ZIPPER_VERBS_PORT_GRACE", NULL);
	assert_int_equal(f->ops->connect(&link, &f->addr, PATIENCE_MS, &err), -ENODEV);
	assert_non_null(strstr(err.text, "active port"));
	link = fixture_accept(f);
	f->ops->close(link);
}

/* The link still works. */
static void send_some(struct pair *p, struct inbox *in)
{
	for (uint64_t k = 0; k < 10; k++) {
		assert_int_equal(post_message(p->a, k, 100), 0);
		assert_int_equal(p->a->ops->flush(p->a), 0);
		receive_until(p->b, in, k + 1);
	}
}

/* For so long, and not longer. With a failed completion it is over at once: a_lost_message_wakes_its_sender. */
void a_port_may_be_down_for_a_while(void **state)
{
	static const char *const categories[] = {"static", "mpi-everywhere"};
	struct fixture *f = *state;
	struct timespec before, after;
	option("ZIPPER_VERBS_PORT_GRACE", "300ms");
	clock_gettime(CLOCK_MONOTONIC, &before);
	sleeping_ends_wake(state, -ENETDOWN, port_down);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >= 300);
	device()->port[0].state = IBV_PORT_ACTIVE;
	f->ops->endpoint_close(f->endpoint);
	f->endpoint = NULL;
	option("ZIPPER_VERBS_PORT_GRACE", "2s");
	for (int i = 0; i < 4; i++) { /* the event of its return may come late, or not at all */
		option("ZIPPER_ENDPOINTS", categories[i & 1]);
		struct pair p = fixture_pair(f);
		struct inbox in;
		int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
		inbox_init(&in);
		struct zsink sink = inbox_sink(&in);
		fake_lock(fake_fabric());
		fake_port_set(fake_fabric(), sock, 0, 1, false);
		fake_unlock(fake_fabric());
		idle(&p, &sink, 100);
		fake_lock(fake_fabric());
		if (i & 2)
			device()->port[0].state = IBV_PORT_ACTIVE;
		else
			fake_port_set(fake_fabric(), sock, 0, 1, true);
		fake_unlock(fake_fabric());
		idle(&p, &sink, 2000);
		close(sock);
		send_some(&p, &in);
		inbox_fini(&in);
		pair_close(&p);
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_VERBS_PORT_GRACE", NULL);
	option("ZIPPER_ENDPOINTS", NULL);
}

void a_device_that_goes_away_ends_its_links(void **state)
{
	sleeping_ends_wake(state, -ENODEV, device_gone);
}

/* The thread that they wake looks at both ends, until both have ended. */
static void end_both(const struct pair *p, int why[2])
{
	struct zlink *link[2] = {p->a, p->b};
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	why[0] = why[1] = 0;
	while (!why[0] || !why[1]) {
		struct pollfd fds[2] = {{.fd = -1}, {.fd = -1}};
		bool again = false;
		for (int i = 0; i < 2; i++) {
			uint32_t events;
			int n = why[i] ? 0 : link[i]->ops->poll(link[i], &sink, 1);
			assert_true(n <= 0);
			why[i] = n == 0 || n == -EAGAIN ? why[i] : n;
			if (why[i])
				continue;
			fds[i] = (struct pollfd){.fd = link[i]->ops->fd(link[i], ZLINK_RX, &events), .events = POLLIN};
			again |= link[i]->ops->arm(link[i], ZLINK_RX);
		}
		if (!again && (!why[0] || !why[1]))
			assert_true(poll(fds, 2, PATIENCE_MS) > 0);
	}
	inbox_fini(&in);
}

/* Of the k-th queue pair. */
static bool queue_event(unsigned k, enum ibv_event_type type)
{
	struct fake_fabric *f = fake_fabric();
	int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	bool fits = false;
	fake_lock(f);
	for (uint32_t i = 0; i < FAKE_QPS; i++) {
		if (!f->qp[i].used || k-- > 0)
			continue;
		fits = type != IBV_EVENT_SRQ_ERR || !f->qp[i].own_rq;
		if (fits)
			fake_qp_event(f, sock, &f->qp[i], type);
		break;
	}
	fake_unlock(f);
	close(sock);
	return fits;
}

/* Nothing else tells it: no completion fails. */
void a_queue_that_fails_ends_its_link(void **state)
{
	static const struct {
		enum ibv_event_type type;
		int why;
	} events[] = {{IBV_EVENT_CQ_ERR, -EIO}, {IBV_EVENT_QP_FATAL, -EIO}, {IBV_EVENT_QP_REQ_ERR, -EREMOTEIO},
		{IBV_EVENT_QP_ACCESS_ERR, -EACCES}, {IBV_EVENT_SRQ_ERR, -EIO}};
	static const char *const categories[] = {"static", "mpi-everywhere"};
	struct fixture *f = *state;
	for (size_t c = 0; c < 2; c++) {
		option("ZIPPER_ENDPOINTS", categories[c]);
		for (size_t e = 0; e < sizeof(events) / sizeof(events[0]); e++)
			for (unsigned k = 0; k < 4; k++) {
				struct pair p = fixture_pair(f);
				int why[2];
				link_warnings = 0;
				if (queue_event(k, events[e].type)) {
					end_both(&p, why);
					assert_true(why[0] == events[e].why || why[1] == events[e].why);
					assert_true(why[0] == -ECONNRESET || why[1] == -ECONNRESET);
					assert_int_equal(link_warnings, 1);
					assert_non_null(strstr(link_warning, "fka: "));
				}
				pair_close(&p);
			}
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

static unsigned lost_contexts(void)
{
	unsigned n = 0;
	for (int i = 0; i < FAKE_CONTEXTS; i++)
		n += fake_fabric()->context[i].pid && fake_fabric()->context[i].lost;
	return n;
}

/* The links of the device end. New links with the same endpoint find it anew, while some of the others are still there.
 */
void a_device_that_comes_back_is_used(void **state)
{
	static const char *const categories[] = {"static", "2xdynamic", "mpi-everywhere"};
	struct fixture *f = *state;
	for (size_t c = 0; c < 3; c++) {
		option("ZIPPER_ENDPOINTS", categories[c]);
		struct ends e;
		struct pair second;
		int why[2], sock = socket(AF_UNIX, SOCK_DGRAM, 0);
		open_ends(&e, f);
		assert_false(e.rma->is_lost(e.region));
		fake_lock(fake_fabric());
		fake_device_gone(fake_fabric(), sock, 0, 0);
		fake_unlock(fake_fabric());
		end_both(&e.pair, why);
		assert_true(why[0] == -ENODEV && why[1] == -ENODEV);
		assert_true(e.rma->is_lost(e.region) && lost_contexts() > 0);
		/* the connecting end's endpoint stays until its links have gone */
		second = fixture_pair(f);
		close_ends(&e);
		assert_int_equal(post_message(second.a, 0, 1000), 0);
		pair_close(&second);
		assert_int_equal(lost_contexts(), 0);
		/* nobody is there to hear it */
		fake_lock(fake_fabric());
		fake_device_gone(fake_fabric(), sock, 0, 0);
		fake_unlock(fake_fabric());
		second = fixture_pair(f);
		assert_int_equal(lost_contexts(), 0);
		pair_close(&second);
		close(sock);
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* The other port of the device does not concern them. */
void other_ports_are_left_alone(void **state)
{
	struct pair p = fixture_pair(*state);
	struct inbox in;
	int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	inbox_init(&in);
	fake_lock(fake_fabric());
	fake_event(fake_fabric(), sock, 0, 0, IBV_EVENT_PORT_ERR, 2);
	fake_event(fake_fabric(), sock, 0, 0, IBV_EVENT_PORT_ACTIVE, 1);
	fake_event(fake_fabric(), sock, 0, 0, IBV_EVENT_SM_CHANGE, 1);
	fake_unlock(fake_fabric());
	close(sock);
	send_some(&p, &in);
	inbox_fini(&in);
	pair_close(&p);
}

/* --- many links --- */

#define CROWD 20

/* Both ends of all links are asleep. */
static void all_sleep(const struct pair *p, int n, struct pollfd *fds)
{
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	for (int i = 0; i < 2 * n; i++) {
		struct zlink *link = i % 2 ? p[i / 2].a : p[i / 2].b;
		uint32_t events;
		while (link->ops->poll(link, &sink, 1) == 0 && link->ops->arm(link, ZLINK_RX))
			;
		fds[i] = (struct pollfd){.fd = link->ops->fd(link, ZLINK_RX, &events), .events = POLLIN};
	}
	inbox_fini(&in);
}

/* An event that concerns nobody; and a link that is woken by an event that does tells all. As many of those links end
 * before, so that others have to. */
void an_event_wakes_a_few(void **state)
{
	static const char *const categories[] = {"static", "mpi-everywhere"};
	struct fixture *f = *state;
	option("ZIPPER_VERBS_PORT_GRACE", "0");
	for (size_t c = 0; c < 2; c++) {
		struct pair p[CROWD];
		struct pollfd fds[2 * CROWD];
		int sock = socket(AF_UNIX, SOCK_DGRAM, 0), left = CROWD;
		option("ZIPPER_ENDPOINTS", categories[c]);
		for (int i = 0; i < CROWD; i++)
			p[i] = fixture_pair(f);
		for (; left > 2; left -= 9) { /* 2 are left */
			all_sleep(p, left, fds);
			assert_int_equal(poll(fds, (nfds_t)(2 * left), 0), 0);
			fake_lock(fake_fabric());
			fake_event(fake_fabric(), sock, 0, 0, IBV_EVENT_SM_CHANGE, 1);
			fake_unlock(fake_fabric());
			const int woken = poll(fds, (nfds_t)(2 * left), 1000);
			if (woken < 1 || woken > 8)
				fail_msg("%s: %d of %d are woken", categories[c], woken, 2 * left);
			all_sleep(p, left, fds); /* which look */
			for (int i = left - 9; i < left; i++)
				pair_close(&p[i]);
		}
		all_sleep(p, left, fds);
		device()->port[0].state = IBV_PORT_ACTIVE;
		fake_lock(fake_fabric());
		fake_port_set(fake_fabric(), sock, 0, 1, false);
		fake_unlock(fake_fabric());
		int why[2];
		for (int i = 0; i < left; i++) {
			end_both(&p[i], why);
			assert_true(why[0] == -ENETDOWN && why[1] == -ENETDOWN);
			pair_close(&p[i]);
		}
		device()->port[0].state = IBV_PORT_ACTIVE;
		close(sock);
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
	option("ZIPPER_VERBS_PORT_GRACE", NULL);
}

/* Linux lets 500 nested epoll sets watch a descriptor, as zipperd's workers do. */
void a_worker_has_many_links(void **state)
{
	enum { LOTS = 300 };
	struct fixture *f = *state;
	static struct pair p[LOTS];
	const int outer = epoll_create1(EPOLL_CLOEXEC);
	unsigned watched = 0;
	for (int i = 0; i < LOTS; i++) {
		p[i].a = fixture_connect(f);
		p[i].b = fixture_accept(f);
		fixture_settle(f, p[i].b);
		for (int k = 0; k < 2; k++) {
			struct zlink *link = k ? p[i].a : p[i].b;
			uint32_t events;
			const int fd = link->ops->fd(link, ZLINK_RX, &events);
			struct epoll_event e = {.events = EPOLLIN};
			watched += epoll_ctl(outer, EPOLL_CTL_ADD, fd, &e) == 0;
		}
	}
	close(outer);
	for (int i = 0; i < LOTS; i++)
		pair_close(&p[i]);
	assert_int_equal(watched, 2 * LOTS);
}

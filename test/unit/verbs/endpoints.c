/* SPDX-License-Identifier: BSD-3-Clause */
/* Several endpoints of one process: their resources by category, the registration of memory, and who makes them. */
#include "test/unit/verbs/parts.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "common/session/session.h"
#include "common/session/session_attach.h"
#include "common/transport/verbs/device/vshare.h"
#include "common/endpoint/ep_category.h"
#include "common/endpoint/ep_kept.h"

#define ENDPOINTS 5
#define PAGE ((size_t)4096)
#define WAY .user = "u", .job = "j", .key = no_key, .auth = &no_auth

static const uint8_t no_key[ZAUTH_KEY_BYTES];

static void no_random(uint8_t *buf, size_t len)
{
	memset(buf, 0, len);
}

static void no_ticket(uint8_t *ticket, const uint8_t *session, enum zauth_ticket what, const struct zctl_attach *a)
{
	(void)session;
	(void)what;
	(void)a;
	memset(ticket, 0, ZCTL_MAC_BYTES);
}

static const struct zauth_ops no_auth = {.random = no_random, .ticket = no_ticket};

static struct vlink *impl(struct zlink *link)
{
	return (struct vlink *)(void *)link;
}

/* Links that this process makes, each with an endpoint of its own; the ends that they are connected to have one
 * endpoint for all. */
struct several {
	struct zendpoint *endpoint[ENDPOINTS];
	struct pair pair[ENDPOINTS];
	int n;
};

static void exchange(struct pair *p)
{
	for (int i = 0; i < 8; i++) {
		struct zlink *from = i % 2 ? p->b : p->a, *to = i % 2 ? p->a : p->b;
		struct inbox in;
		inbox_init(&in);
		assert_int_equal(post_message(from, 0, 10), 0);
		assert_int_equal(from->ops->flush(from), 0);
		receive_until(to, &in, 1);
		inbox_fini(&in);
	}
}

static void open_several(struct several *s, struct fixture *f, int n)
{
	struct zerr err = {""};
	*s = (struct several){.n = n};
	for (int i = 0; i < n; i++) {
		struct pair *p = &s->pair[i];
		if (f->ops->endpoint_open(&s->endpoint[i], &err) < 0 ||
			f->ops->connect_plain(&p->a, &f->addr, PATIENCE_MS, &err) < 0 ||
			f->ops->settle(p->a, s->endpoint[i], s->endpoint[i], &err) != 0)
			fail_msg("%s", err.text);
		p->b = fixture_accept(f);
		fixture_settle(f, p->b);
		exchange(p);
	}
}

static void close_several(struct several *s, struct fixture *f)
{
	for (int i = 0; i < s->n; i++) {
		pair_close(&s->pair[i]);
		f->ops->endpoint_close(s->endpoint[i]);
	}
	if (f->endpoint)
		f->ops->endpoint_close(f->endpoint);
	f->endpoint = NULL;
}

/* The objects that it has made, as its line in the log says. */
static const struct zep_objects *made_by(struct zlink *link)
{
	assert_ptr_equal(impl(link)->share[ZLINK_RX], impl(link)->share[ZLINK_TX]);
	return impl(link)->share[ZLINK_RX]->home.kept.objects;
}

static bool is_single(struct zlink *link)
{
	return impl(link)->rx.queue.ex && impl(link)->tx.queue.ex;
}

/* The first endpoint, and those after it: where a thread domain shall have its page alone, the domain that would share
 * it is made with the next. */
void several_endpoints_take_what_their_category_says(void **state)
{
	static const struct {
		size_t ctx, pd, td[ENDPOINTS], parents;
		bool single;
	} expected[ZEP_CATEGORIES] = {
		[ZEP_MPI_EVERYWHERE] = {1, 1, {0}, 0, true},
		[ZEP_2XDYNAMIC] = {0, 0, {3, 4, 4, 4, 4}, 2, true},
		[ZEP_DYNAMIC] = {0, 0, {1, 2, 2, 2, 2}, 1, true},
		[ZEP_SHARED_DYNAMIC] = {0, 0, {1, 1, 1, 1, 1}, 1, true},
		[ZEP_STATIC] = {0, 0, {0}, 0, true},
		[ZEP_MPI_THREADS] = {0, 0, {0}, 0, false},
	};
	const bool domains = device()->tds > 0;
	struct fixture *f = *state;
	if (domains && device()->tds < 24) /* with the other side's */
		skip();
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		struct several s;
		option("ZIPPER_ENDPOINTS", zep_category_names[c]);
		open_several(&s, f, ENDPOINTS);
		for (int i = 0; i < ENDPOINTS; i++) {
			const struct zep_objects *made = made_by(s.pair[i].a);
			assert_int_equal(made[ZEP_CTX].n, expected[c].ctx);
			assert_int_equal(made[ZEP_PD].n, expected[c].pd);
			assert_int_equal(made[ZEP_TD].n, domains ? expected[c].td[i] : 0);
			assert_int_equal(made[ZEP_PARENT].n, domains ? expected[c].parents : 0);
			assert_int_equal(is_single(s.pair[i].a), domains && expected[c].single);
			for (int k = 0; k < i; k++) {
				const struct vhome *h = &impl(s.pair[i].a)->share[0]->home,
						   *other = &impl(s.pair[k].a)->share[0]->home;
				assert_int_equal(h->ctx != other->ctx, expected[c].ctx > 0);
				assert_int_equal(h->pd != other->pd, expected[c].pd > 0);
				assert_int_equal(h->domain != other->domain,
					expected[c].pd > 0 || (domains && expected[c].parents > 0));
			}
		}
		close_several(&s, f);
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* --- the application's memory --- */

static uint8_t *map(size_t len)
{
	uint8_t *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	memset(p, 0x5a, len);
	return p;
}

static void expose_page(struct zlink *link, enum zlink_half half, void *base)
{
	struct zrma_exposure e;
	assert_int_equal(link->ops->rma->expose(link, half, base, PAGE, &e), 0);
	link->ops->rma->conceal(link, &e);
}

static uint64_t registrations(void)
{
	return fake_fabric()->operations[FAKE_REG];
}

/* Where each endpoint has a context, memory is registered in each context that uses it, and kept there; otherwise once
 * for all. */
void memory_is_known_where_it_is_used(void **state)
{
	struct fixture *f = *state;
	if (!keeps())
		skip();
	for (int everywhere = 0; everywhere < 2; everywhere++) {
		struct several s;
		option("ZIPPER_ENDPOINTS", everywhere ? "mpi-everywhere" : "static");
		open_several(&s, f, 3);
		uint8_t *memory = map(PAGE);
		const uint64_t before = registrations();
		for (int i = 0; i < 9; i++)
			expose_page(s.pair[i % 3].a, i / 3 % 2 ? ZLINK_RX : ZLINK_TX, memory);
		assert_int_equal(registrations() - before, everywhere ? 3 : 1);
		munmap(memory, PAGE);
		close_several(&s, f);
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* So many ranges are watched at a time, of all endpoints, and so much memory may be locked, by all: kept memory that
 * one does not use makes room for another. */
void what_one_endpoint_keeps_makes_room_for_others(void **state)
{
	enum { KEPT = 256, LOCKED = 64 };
	struct fixture *f = *state;
	struct several s;
	if (!keeps())
		skip();
	option("ZIPPER_ENDPOINTS", "mpi-everywhere");
	open_several(&s, f, ENDPOINTS);
	uint8_t *memory = map((KEPT * ENDPOINTS) * PAGE);
	for (size_t i = 0; i < (size_t)KEPT * ENDPOINTS; i++)
		expose_page(s.pair[i / KEPT].a, ZLINK_TX, memory + i * PAGE);
	uint64_t before = registrations();
	for (int i = 0; i < 3; i++)
		expose_page(s.pair[ENDPOINTS - 1].a, ZLINK_TX, memory + (KEPT * ENDPOINTS - 1) * PAGE);
	assert_int_equal(registrations(), before); /* it is kept */
	munmap(memory, (KEPT * ENDPOINTS) * PAGE);
	close_several(&s, f);

	open_several(&s, f, 2);
	memory = map((2 * LOCKED) * PAGE);
	for (size_t i = 0; i < LOCKED; i++)
		expose_page(s.pair[0].a, ZLINK_TX, memory + i * PAGE);
	fault(FAKE_REG, ENOMEM, 0);
	expose_page(s.pair[1].a, ZLINK_TX, memory + LOCKED * PAGE);
	assert_false(is_pending(FAKE_REG));
	before = registrations();
	expose_page(s.pair[0].a, ZLINK_TX, memory);
	assert_int_equal(registrations(), before + 1); /* the other endpoint's was given up */
	munmap(memory, (2 * LOCKED) * PAGE);
	close_several(&s, f);
	option("ZIPPER_ENDPOINTS", NULL);
}

/* --- data channels of a rank --- */

struct heard {
	uint16_t type[4];
	int n;
};

static int hear(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct heard *h = ctx;
	struct zctl_msg msg;
	(void)raw;
	if (env->kind != ZWIRE_CTRL || h->n == 4 || zctl_decode(&msg, payload, env->len, NULL) != 0)
		return -EPROTO;
	h->type[h->n++] = msg.type;
	zctl_free(&msg);
	return 0;
}

static struct zlink *take_words(struct fixture *f, struct heard *h, int n)
{
	const struct zsink sink = {.take = hear, .ctx = h};
	struct zlink *l = fixture_accept(f);
	*h = (struct heard){.n = 0};
	while (h->n < n) {
		assert_true(l->ops->poll(l, &sink, 1) >= 0);
		if (h->n < n)
			assert_true(sleep_on(l, ZLINK_RX, PATIENCE_MS));
	}
	return l;
}

/* The endpoint is the caller's: made with the first link, and the same for the next. */
void channels_are_attached_to_the_callers_endpoint(void **state)
{
	const struct zctl_attach attach = {.vrank = 3};
	struct fixture *f = *state;
	struct zendpoint *own = NULL, *other = NULL;
	struct pair p[4];
	struct zerr err = {""};
	struct heard h;
	for (int i = 0; i < 4; i++) {
		struct zendpoint **to = i < 2 ? &own : &other;
		const int rc = i % 2 == 0
				       ? zsession_attach_to(&p[i].a, &(struct zsession_way){WAY, .zipper = &f->addr},
						 &attach, to, PATIENCE_MS, &err)
				       : zsession_attach_direct(&p[i].a, &f->addr, 0, &attach, to, PATIENCE_MS, &err);
		if (rc != 0)
			fail_msg("%s", err.text);
		p[i].b = take_words(f, &h, i % 2 == 0 ? 2 : 1);
		assert_int_equal(h.type[0], i % 2 == 0 ? ZCTL_HELLO : ZCTL_ATTACH);
		assert_int_equal(h.type[h.n - 1], ZCTL_ATTACH);
		if (!f->endpoint && f->ops->endpoint_open(&f->endpoint, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(f->ops->settle(p[i].b, f->endpoint, f->endpoint, &err), 0);
		exchange(&p[i]);
		assert_int_equal(impl(p[i].a)->tx.mode, VMODE_QUEUE);
		assert_ptr_equal(impl(p[i].a)->share[ZLINK_RX]->endpoint, *to);
		assert_ptr_equal(impl(p[i].a)->share[ZLINK_TX]->endpoint, *to);
	}
	assert_ptr_not_equal(own, other);
	for (int i = 0; i < 4; i++)
		pair_close(&p[i]);
	f->ops->endpoint_close(own);
	f->ops->endpoint_close(other);
}

/* A link that cannot be settled is closed, with the reason; other transports have no endpoints. */
void a_channel_that_cannot_be_settled(void **state)
{
	const struct zctl_attach attach = {.vrank = 3};
	struct fixture *f = *state;
	struct zendpoint *own = NULL;
	struct zlink *link = NULL;
	struct zlistener *tcp;
	struct zerr err = {""};
	struct zaddr addr;
	fault(FAKE_QP, EINVAL, 0);
	fake_fabric()->fault[FAKE_QP].times = 1000; /* with any inline data */
	assert_int_equal(zsession_attach_to(&link, &(struct zsession_way){WAY, .zipper = &f->addr}, &attach, &own,
				 PATIENCE_MS, &err),
		-EINVAL);
	assert_null(link);
	assert_int_equal(strncmp(err.text, "cannot connect to zipperd at fka:1@127.0.0.1:", 45), 0);
	assert_non_null(strstr(err.text, "cannot make a queue pair"));
	fake_fabric()->fault[FAKE_QP].value = 0;
	f->ops->close(fixture_accept(f));
	assert_int_equal(zaddr_parse(&addr, "tcp:127.0.0.1:0", &err), 0);
	assert_int_equal(ztransport_tcp.listen(&tcp, &addr, &err), 0);
	ztransport_tcp.listener_addr(tcp, &addr);
	struct zendpoint *none = NULL;
	assert_int_equal(zsession_attach_to(&link, &(struct zsession_way){WAY, .zipper = &addr}, &attach, &none,
				 PATIENCE_MS, &err),
		0);
	assert_null(none);
	link->ops->close(link);
	ztransport_tcp.unlisten(tcp);
	if (own)
		f->ops->endpoint_close(own);
}

/* An endpoint of links that this process makes forwards nothing: its buffers are registered with the device that they
 * are for, though it has links on two. */
void who_only_connects_registers_buffers_once(void **state)
{
	struct fixture *f = *state;
	struct zendpoint *own = NULL;
	struct zlink *link[2];
	struct zerr err = {""};
	struct fake_device *second = &fake_fabric()->device[1];
	*second = *device();
	strcpy(second->name, "fkb");
	fake_fabric()->ndevices = 2;
	assert_int_equal(f->ops->endpoint_open(&own, &err), 0);
	for (int i = 0; i < 2; i++) {
		device()->port[0].state = i == 0 ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
		second->port[0].state = i == 0 ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
		assert_int_equal(f->ops->connect_plain(&link[i], &f->addr, PATIENCE_MS, &err), 0);
		if (f->ops->settle(link[i], own, own, &err) != 0)
			fail_msg("%s", err.text);
		assert_string_equal(impl(link[i])->dev->name, i == 0 ? "fka" : "fkb");
	}
	for (const struct vslab *s = own->memory.slabs; s; s = s->next) {
		unsigned n = 0;
		for (int i = 0; i < VMEMORY_DOMAINS; i++)
			n += atomic_load(&s->region[i]) != NULL;
		assert_int_equal(n, 1);
	}
	device()->port[0].state = IBV_PORT_ACTIVE;
	for (int i = 0; i < 2; i++) {
		f->ops->close(link[i]);
		f->ops->close(fixture_accept(f));
	}
	f->ops->endpoint_close(own);
	fake_fabric()->ndevices = 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests of links to devices: addresses, partitions, ports; and the resources of endpoint categories. */
#include "test/unit/verbs/parts.h"
#include "common/endpoint/ep_category.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- addresses --- */

void queue_pairs_have_the_address(void **state)
{
	option("ZIPPER_VERBS_SERVICE_LEVEL", "5");
	option("ZIPPER_VERBS_PARTITION", device()->ib ? "5" : NULL);
	struct pair p = fixture_pair(*state);
	unsigned seen = 0;
	for (uint32_t i = 0; i < FAKE_QPS; i++) {
		const struct fake_qp *q = &fake_fabric()->qp[i];
		if (!q->used)
			continue;
		seen++;
		assert_int_equal(q->state, IBV_QPS_RTS);
		assert_int_equal(q->sl, 5);
		assert_int_equal(q->port, 1);
		assert_int_equal(q->global, !device()->ib);
		assert_true(q->retries < 7 && q->rnr_retries < 7); /* 7: without end */
		if (device()->ib) {
			assert_int_equal(q->dlid, device()->port[0].lid);
			assert_int_equal(device()->port[0].pkey[q->pkey_index], 0x8005);
		} else {
			assert_memory_equal(q->dgid, device()->port[0].gid, 16);
		}
	}
	assert_int_equal(seen, 4); /* one for each direction at either end */
	pair_close(&p);
	option("ZIPPER_VERBS_SERVICE_LEVEL", NULL);
	option("ZIPPER_VERBS_PARTITION", NULL);
}

/* The lower number of both ends counts; and no more than the port has. */
void the_lesser_mtu_counts(void **state)
{
	static const struct {
		const char *connecting, *accepting;
		enum ibv_mtu mtu;
	} cases[] = {{"auto", "auto", IBV_MTU_4096}, {"1024", "auto", IBV_MTU_1024}, {"4096", "256", IBV_MTU_256},
		{"512", "2048", IBV_MTU_512}};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair p;
		option("ZIPPER_VERBS_MTU", cases[i].connecting);
		p.a = fixture_connect(f);
		option("ZIPPER_VERBS_MTU", cases[i].accepting);
		p.b = fixture_accept(f);
		fixture_settle(f, p.b);
		struct inbox in;
		inbox_init(&in);
		for (uint64_t k = 0; k < 10; k++) {
			assert_int_equal(post_message(p.a, k, 1000), 0);
			assert_int_equal(p.a->ops->flush(p.a), 0);
			receive_until(p.b, &in, k + 1);
			struct zsink sink = inbox_sink(&in);
			assert_int_equal(p.a->ops->poll(p.a, &sink, 1), 0);
		}
		inbox_fini(&in);
		for (uint32_t n = 0; n < FAKE_QPS; n++)
			if (fake_fabric()->qp[n].used)
				assert_int_equal(fake_fabric()->qp[n].mtu, cases[i].mtu);
		pair_close(&p);
	}
	option("ZIPPER_VERBS_MTU", NULL);
}

/* A port that wants a global address on InfiniBand, too: the other end learns it. */
void whoever_needs_a_global_address(void **state)
{
	struct fixture *f = *state;
	if (!device()->ib)
		skip();
	for (int connecting = 0; connecting < 2; connecting++) {
		struct inbox in;
		struct pair p;
		inbox_init(&in);
		device()->grh = connecting;
		p.a = fixture_connect(f);
		p.b = fixture_accept(f);
		device()->grh = !connecting;
		fixture_settle(f, p.b);
		for (uint64_t k = 0; k < 10; k++) {
			assert_int_equal(post_message(p.a, k, 10), 0);
			assert_int_equal(p.a->ops->flush(p.a), 0);
			receive_until(p.b, &in, k + 1);
			struct inbox none;
			inbox_init(&none);
			struct zsink sink = inbox_sink(&none);
			assert_int_equal(p.a->ops->poll(p.a, &sink, 1), 0);
			inbox_fini(&none);
		}
		unsigned seen = 0;
		for (uint32_t i = 0; i < FAKE_QPS; i++) {
			const struct fake_qp *q = &fake_fabric()->qp[i];
			if (!q->used)
				continue;
			seen++;
			assert_true(q->global && q->dlid == device()->port[0].lid);
			assert_memory_equal(q->dgid, device()->port[0].gid, 16);
		}
		assert_int_equal(seen, 4);
		inbox_fini(&in);
		pair_close(&p);
	}
	device()->grh = false;
}

/* The offer of the connecting end is taken, and refused. */
static void settle_fails(struct fixture *f, struct zlink *link, int expected, const char *text)
{
	struct zerr err = {""};
	assert_int_equal(take_offer(f, link, &err), expected);
	if (!strstr(err.text, text))
		fail_msg("%s", err.text);
}

/* A rank's host may have both, and the connection for set-up may start from the wrong one. */
void links_are_of_one_kind(void **state)
{
	struct fixture *f = *state;
	const bool ib = device()->ib;
	struct zlink *a = fixture_connect(f), *b = fixture_accept(f);
	char text[160];
	device()->ib = !ib;
	snprintf(text, sizeof(text), "fka:1 is on %s and %s on %s: if its host has another port, ZIPPER_DEVICE",
		ib ? "RoCE" : "InfiniBand", b->peer, ib ? "InfiniBand" : "RoCE");
	settle_fails(f, b, -EPROTONOSUPPORT, text);
	device()->ib = ib;
	f->ops->close(a);
	f->ops->close(b);
}

void subnets_are_not_crossed(void **state)
{
	struct fixture *f = *state;
	if (!device()->ib)
		skip();
	struct zlink *a = fixture_connect(f), *b = fixture_accept(f);
	device()->port[0].gid[7] = 7;
	settle_fails(f, b, -EHOSTUNREACH, "fka:1 is in the InfiniBand subnet fe80000000000007 and 127.0.0.1");
	device()->port[0].gid[7] = 0;
	f->ops->close(a);
	f->ops->close(b);
}

/* A daemon listens all the same, and needs the port when a link is to be used. */
void a_port_that_is_not_active_yet(void **state)
{
	struct fixture *f = *state;
	struct zlistener *listener;
	struct zaddr addr;
	struct zerr err = {""};
	fixture_address(f, f->kind->address, &addr);
	device()->port[0].state = IBV_PORT_INIT;
	link_patient(false);
	assert_int_equal(f->ops->listen(&listener, &addr, &err), -ENETDOWN);
	assert_int_equal(strncmp(err.text, "cannot listen on fka:1@", 23), 0);
	assert_non_null(strstr(err.text, ": fka:1 is not active (init)"));
	link_patient(true);
	assert_int_equal(f->ops->listen(&listener, &addr, &err), 0);
	assert_int_equal(link_warnings, 1);
	assert_string_equal(link_warning, "fka:1 is not active (init): connections over it are refused until it is");
	f->ops->unlisten(listener);
	link_patient(false);
	device()->port[0].state = IBV_PORT_ACTIVE;
	struct zlink *a = fixture_connect(f), *b = fixture_accept(f);
	device()->port[0].state = IBV_PORT_INIT;
	settle_fails(f, b, -ENETDOWN, "fka:1 is not active (init)");
	device()->port[0].state = IBV_PORT_ACTIVE;
	f->ops->close(a);
	f->ops->close(b);
	struct pair p = fixture_pair(f);
	pair_close(&p);
}

void a_partition_that_the_port_is_not_in(void **state)
{
	struct fixture *f = *state;
	struct zlink *link;
	struct zerr err;
	if (!device()->ib)
		skip();
	option("ZIPPER_VERBS_PARTITION", "6");
	assert_int_equal(f->ops->connect(&link, &f->addr, PATIENCE_MS, &err), -ENOENT);
	assert_non_null(strstr(err.text, "fka:1 is not in partition 0x0006"));
	option("ZIPPER_VERBS_PARTITION", NULL);
	/* a connection that waits in the listener's queue */
	link = fixture_accept(f);
	f->ops->close(link);
}

static void expect_partition(struct fixture *f, uint16_t pkey)
{
	struct pair p = fixture_pair(f);
	for (uint32_t i = 0; i < FAKE_QPS; i++) {
		const struct fake_qp *q = &fake_fabric()->qp[i];
		if (q->used)
			assert_int_equal(device()->port[0].pkey[q->pkey_index], pkey);
	}
	pair_close(&p);
}

/* Where no partition is named: the default one, but not as a limited member if there is another; both ends tell which
 * one they are in. */
void a_partition_is_found(void **state)
{
	struct fixture *f = *state;
	uint16_t *table = device()->port[0].pkey, was[FAKE_PKEYS];
	static const uint16_t tables[][FAKE_PKEYS + 1] = {{0xffff, 0, 0x8005, 0, 0, 0xffff},
		{0x8005, 0x7fff, 0xffff, 0, 0, 0xffff}, {0x8001, 0x7fff, 0, 0, 0, 0x8001},
		{0x7fff, 0, 0, 0x8005, 0x8007, 0x8005}};
	if (!device()->ib)
		skip();
	memcpy(was, table, sizeof(was));
	option("ZIPPER_VERBS_PARTITION", NULL);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		memcpy(table, tables[i], sizeof(was));
		expect_partition(f, tables[i][FAKE_PKEYS]);
	}
	/* a difference is told at once */
	struct zlink *a, *b;
	memcpy(table, (uint16_t[FAKE_PKEYS]){0x8005, 0x8007}, sizeof(was));
	a = fixture_connect(f);
	option("ZIPPER_VERBS_PARTITION", "7");
	b = fixture_accept(f);
	settle_fails(f, b, -EHOSTUNREACH, "fka:1 is in partition 0x0007 and ");
	f->ops->close(a);
	f->ops->close(b);
	option("ZIPPER_VERBS_PARTITION", NULL);
	memcpy(table, (uint16_t[FAKE_PKEYS]){0x7fff}, sizeof(was));
	a = fixture_connect(f);
	b = fixture_accept(f);
	settle_fails(f, b, -EHOSTUNREACH, "are both limited members of partition 0x7fff, who do not hear each other");
	f->ops->close(a);
	f->ops->close(b);
	memset(table, 0, sizeof(was));
	struct zlink *none;
	struct zerr err;
	assert_int_equal(f->ops->connect(&none, &f->addr, PATIENCE_MS, &err), -ENOENT);
	assert_non_null(strstr(err.text, "fka:1 is in no partition"));
	f->ops->close(fixture_accept(f));
	memcpy(table, was, sizeof(was));
}

/* As the only partition that there is; otherwise none of the tests uses one. */
void limited_membership_is_the_last_choice(void **state)
{
	struct fixture *f = *state;
	struct zlistener *listener;
	struct zaddr addr;
	struct zerr err = {""};
	if (!device()->ib)
		skip();
	option("ZIPPER_VERBS_PARTITION", "5");
	device()->port[0].pkey[FAKE_PKEYS - 1] = 0;
	fixture_address(f, f->kind->address, &addr);
	assert_int_equal(f->ops->listen(&listener, &addr, &err), 0);
	assert_int_equal(link_warnings, 1);
	assert_non_null(strstr(link_warning, "fka:1 is a limited member of partition 0x0005"));
	for (int i = 0; i < 2; i++) { /* connecting ends are told once, too */
		struct zlink *a = fixture_connect(f), *b = fixture_accept(f), *second = fixture_connect(f);
		assert_int_equal(link_warnings, 2 + i);
		f->ops->close(second);
		f->ops->close(fixture_accept(f));
		struct zendpoint *own; /* nor for each endpoint */
		struct zlink *third;
		assert_int_equal(f->ops->endpoint_open(&own, &err), 0);
		assert_int_equal(f->ops->connect_plain(&third, &f->addr, PATIENCE_MS, &err), 0);
		assert_int_equal(f->ops->settle(third, own, own, &err), 0);
		assert_int_equal(link_warnings, 2 + i);
		f->ops->close(third);
		f->ops->endpoint_close(own);
		f->ops->close(fixture_accept(f));
		f->ops->close(a);
		f->ops->close(b);
	}
	f->ops->unlisten(listener);
	device()->port[0].pkey[FAKE_PKEYS - 1] = 0x8005;
	option("ZIPPER_VERBS_PARTITION", NULL);
}

/* Version 2 where both ends have it, version 1 where one end has no other; addresses that fit nobody are reported. */
void versions_of_roce_must_agree(void **state)
{
	static const struct {
		const char *connecting, *accepting;
		int version; /* 0: none */
	} cases[] = {{"1", "1", 1}, {"1", "12", 1}, {"12", "12", 2}, {"12", "1", 0}, {"1", "2", 0}};
	struct fixture *f = *state;
	if (device()->ib)
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		device()->v1 = strchr(cases[i].connecting, '1');
		device()->v2 = strchr(cases[i].connecting, '2');
		struct pair p = {.a = fixture_connect(f)};
		struct inbox in;
		p.b = fixture_accept(f);
		inbox_init(&in);
		device()->v1 = strchr(cases[i].accepting, '1');
		device()->v2 = strchr(cases[i].accepting, '2');
		if (cases[i].version)
			fixture_settle(f, p.b);
		else
			settle_fails(f, p.b, -EPROTONOSUPPORT,
				cases[i].connecting[1] ? "fka:1 has an address of RoCE version 1 and 127.0.0.1"
						       : "fka:1 has an address of RoCE version 2 and 127.0.0.1");
		for (uint64_t k = 0; k < 10 && cases[i].version; k++) {
			struct zsink sink = inbox_sink(&in);
			assert_int_equal(post_message(p.a, k, 10), 0);
			assert_int_equal(p.a->ops->flush(p.a), 0);
			receive_until(p.b, &in, k + 1);
			assert_int_equal(p.a->ops->poll(p.a, &sink, 1), 0);
		}
		for (uint32_t q = 0; q < FAKE_QPS && cases[i].version; q++)
			if (fake_fabric()->qp[q].used)
				assert_int_equal(fake_fabric()->qp[q].v1, cases[i].version == 1);
		inbox_fini(&in);
		pair_close(&p);
	}
	device()->v1 = false;
	device()->v2 = true;
}

/* Of an interface with addresses of several kinds or networks: the address that has a way to the peer's offered one,
 * whatever the TCP connection starts from. */
void the_address_suits_the_peers(void **state)
{
	static const struct {
		const char *peer, *first, *second; /* of our table */
		int expected;
	} cases[] = {
		{"fe80::1", "::ffff:127.0.0.1", "fe80::2", 1},
		{"fe80::1", "fe80::2", "::ffff:127.0.0.1", 0},
		{"fd00::1", "fe80::2", "fd00::2", 1},
		{"::ffff:198.51.100.1", "fe80::2", "::ffff:198.51.100.9", 1},
		{"::ffff:198.51.100.1", "::ffff:192.0.2.9", "::ffff:198.51.100.9", 1},
		{"::ffff:198.51.100.1", "::ffff:198.51.100.9", "::ffff:192.0.2.9", 0},
	};
	struct fixture *f = *state;
	struct fake_port *port = &device()->port[0], was = *port;
	if (device()->ib)
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(inet_pton(AF_INET6, cases[i].peer, port->gid), 1);
		port->more_gids = 0;
		struct pair p = {.a = fixture_connect(f), .b = fixture_accept(f)};
		inet_pton(AF_INET6, cases[i].first, port->gid);
		inet_pton(AF_INET6, cases[i].second, port->more[0]);
		port->more_gids = 1;
		fixture_settle(f, p.b);
		assert_int_equal(((struct vlink *)(void *)p.b)->address.gid_index, cases[i].expected);
		assert_true(vlink_is_ready((struct vlink *)(void *)p.b));
		pair_close(&p);
		*port = was;
	}
}

/* As iWARP and EFA are. */
void other_adapters_are_refused(void **state)
{
	struct fixture *f = *state;
	struct zlistener *listener;
	struct zlink *link;
	struct zaddr addr;
	struct zerr err = {""};
	fixture_address(f, f->kind->address, &addr);
	device()->iwarp = true;
	assert_int_equal(f->ops->listen(&listener, &addr, &err), -EPROTONOSUPPORT);
	assert_int_equal(strncmp(err.text, "cannot listen on fka:1@", 23), 0);
	assert_non_null(strstr(err.text, ": fka is an iWARP adapter: only InfiniBand and RoCE adapters are supported"));
	assert_int_equal(f->ops->connect(&link, &f->addr, PATIENCE_MS, &err), -ENODEV);
	assert_non_null(strstr(err.text, "active port; fka is an iWARP adapter: only InfiniBand"));
	f->ops->close(fixture_accept(f));
	device()->iwarp = false;
}

/* Every device of the host is opened to find ours: once, and not for every link. */
void devices_are_looked_for_once(void **state)
{
	struct fixture *f = *state;
	const uint64_t *opened = &fake_fabric()->operations[FAKE_OPEN];
	struct pair p[10];
	fake_fabric()->device[1] = *device();
	strcpy(fake_fabric()->device[1].name, "fkb");
	fake_fabric()->device[1].port[0].state = IBV_PORT_DOWN;
	fake_fabric()->ndevices = 2;
	uint64_t before = *opened;
	for (int i = 0; i < 10; i++)
		p[i] = fixture_pair(f);
	assert_true(*opened - before <= 3);
	/* unless it is no longer right */
	device()->port[0].state = IBV_PORT_DOWN;
	fake_fabric()->device[1].port[0].state = IBV_PORT_ACTIVE;
	struct zlink *other = fixture_connect(f);
	assert_string_equal(((struct vlink *)(void *)other)->dev->name, "fkb");
	f->ops->close(other);
	f->ops->close(fixture_accept(f));
	device()->port[0].state = IBV_PORT_ACTIVE;
	for (int i = 0; i < 10; i++)
		pair_close(&p[i]);
	fake_fabric()->ndevices = 1;
}

/* --- endpoint categories --- */

void categories_ask_for_what_they_are(void **state)
{
	const bool domains = device()->tds > 0;
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		option("ZIPPER_ENDPOINTS", zep_category_names[c]);
		struct fixture *f = *state;
		struct pair p = fixture_pair(f);
		unsigned in_domain = 0, single = 0;
		uint32_t contexts = 0;
		bool seen[FAKE_CONTEXTS] = {false};
		for (uint32_t i = 0; i < FAKE_QPS; i++) {
			const struct fake_qp *q = &fake_fabric()->qp[i];
			in_domain += q->used && q->domain;
			single += q->used && q->single;
			if (q->used && !seen[q->context]) {
				seen[q->context] = true;
				contexts++;
			}
		}
		const bool dynamic = c == ZEP_2XDYNAMIC || c == ZEP_DYNAMIC || c == ZEP_SHARED_DYNAMIC;
		assert_int_equal(in_domain, dynamic && domains ? 4 : 0);
		assert_int_equal(single, domains && c != ZEP_MPI_THREADS
						 ? 4
						 : 0); /* domains: otherwise the fake has no such completion queues */
		assert_int_equal(contexts, c == ZEP_MPI_EVERYWHERE ? 2 : 1);
		pair_close(&p);
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* Links of one endpoint share it, as it is one thread's. */
void each_endpoint_has_another_vector(void **state)
{
	static const char *const categories[] = {"static", "2xdynamic", "mpi-everywhere"};
	for (size_t c = 0; c < 3; c++) {
		option("ZIPPER_ENDPOINTS", categories[c]);
		struct fixture *f = *state;
		struct pair p = fixture_pair(f), other = fixture_pair(f);
		unsigned queues[FAKE_VECTORS] = {0}, used = 0;
		for (uint32_t i = 0; i < FAKE_QPS; i++)
			if (fake_fabric()->qp[i].used)
				queues[((struct fake_cq *)fake_ptr(fake_fabric(), fake_fabric()->qp[i].send_cq))
						->vector]++;
		for (int v = 0; v < FAKE_VECTORS; v++) {
			assert_true(queues[v] == 0 || queues[v] == 4);
			used += queues[v] > 0;
		}
		assert_int_equal(used, 2); /* connecting ends, accepting ends */
		pair_close(&p);
		pair_close(&other);
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* A device's provider is told by its environment variable, and not told to do what it does anyway. */
void blueflame_can_be_switched_off(void **state)
{
	static const char *const values[] = {"yes", "no"};
	unsetenv("MLX5_SHUT_UP_BF");
	for (int i = 0; i < 2; i++) {
		option("ZIPPER_VERBS_BLUEFLAME", values[i]);
		struct pair p = fixture_pair(*state);
		pair_close(&p);
		const char *set = getenv("MLX5_SHUT_UP_BF");
		assert_true(i == 0 ? !set : set && strcmp(set, "1") == 0);
		struct fixture *f = *state;
		f->ops->endpoint_close(f->endpoint); /* and the device goes with it */
		f->endpoint = NULL;
	}
	option("ZIPPER_VERBS_BLUEFLAME", NULL);
	unsetenv("MLX5_SHUT_UP_BF");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages: every type survives the way over the wire; messages that are cut, too long or otherwise wrong are
 * refused. */
#define _GNU_SOURCE /* memmem */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/control/ctl.h"
#include "common/control/seal.h"
#include "common/control/ctl_name.h"
#include "config.h"
#include "test/unit/common/flipper.h"

#define CAP 65536

static struct zctl_part two_parts[] = {{"lgm", 3}, {"das4", 2}};
static struct zctl_run two_runs[] = {{0, 3, 0, 0}, {3, 2, 1, 0}};
static struct zctl_dirstat two_dirs[] = {{"lgm", "das4", 1, 2, 3, 4, 5, 6, 7, 8, 9},
	{"das4", "lgm", 7, 8, 9, 10, 11, 12, 13, 14, 15}};
static struct zctl_attached two_attached[] = {{1, 1, 3}, {2, 2, 0}};
static struct zctl_worker_status two_workers[] = {{"lgm", "das4", 0, 77, 0, 79, 80}, {"das4", "lgm", 1, 78, 3, 81, 82}};
static struct zctl_job_status two_jobs[] = {{7, "alice", "j-1", ZCTL_JOB_RUNS, 1, 0, 4, 4, 1, 1, 0, 2, 1, 6, 2, 1, ""},
	{9, "bob", "j-2", ZCTL_JOB_ENDED, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, "rank 3 died"}};
static struct zctl_part_status three_parts[] = {{"lgm", "lgm", 3, 3}, {"das4", "wan", 1, 1}, {"lgm", "lgm", 0, 0}};
static struct zctl_lane_status one_lane[] = {
	{0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, {[0] = 12, [ZCTL_LATENCIES - 1] = 13}}};
static struct zctl_to_part two_counts[] = {{0, 1, 2}, {3, 4, 5}};

/* One message of every type. */
static const struct zctl_msg samples[] = {
	{.type = ZCTL_HELLO,
		.u.hello = {.protocol = ZCTL_PROTOCOL,
			.release = PACKAGE_VERSION,
			.service = ZCTL_SERVICE_RANK,
			.user = "alice",
			.job = "j-1",
			.method = ZCTL_METHOD_MUNGE,
			.expires_s = 0x0102030405060708,
			.seal = ZSEAL_INTEGRITY,
			.nonce = {1, 2, [31] = 255}}},
	{.type = ZCTL_HELLO,
		.u.hello = {.protocol = ZCTL_PROTOCOL,
			.release = PACKAGE_VERSION,
			.service = ZCTL_SERVICE_ADMIN,
			.user = "alice"}},
	{.type = ZCTL_CHALLENGE, .u.challenge = {.nonce = {9, [31] = 8}, .seal = ZSEAL_ENCRYPT}},
	{.type = ZCTL_PROOF, .u.proof = {.mac = {7, [31] = 6}, .munge = "MUNGE:AwQFAAD=:"}},
	{.type = ZCTL_JOIN,
		.u.join = {.part = "lgm",
			.rank = 2,
			.size = 0x01020304,
			.mixed = 1,
			.parts = "lgm,das4",
			.entries = "lgm,wan+2",
			.host = "node001.example",
			.abi = 0x0102030405060708,
			.vrank = 6,
			.direct = 1,
			.ports = "lgm=tcp:10.1.0.1:77 das4=shm:@x",
			.local = "shm:@x",
			.node = 0x1122334455667788,
			.tuning = 0x99,
			.endpoints = ZCTL_ENDPOINTS_MAX,
			.records = 1,
			.rail = ZCTL_RAILS_MAX - 1,
			.nrails = ZCTL_RAILS_MAX,
			.age_ms = 77,
			.universe = 4096,
			.tag_ub = 5,
			.run = 0x0807060504030201,
			.waits = 1,
			.tracks = 5}},
	{.type = ZCTL_WORLD,
		.u.world = {.vrank = 4,
			.run = 0x1817161514131211,
			.tracks = ZCTL_TRACKS_MAX,
			.external32 = 1,
			.eager_bytes = 1,
			.frag_bytes = 2,
			.rdv_window = 3,
			.universe = 65536,
			.tag_ub = 6,
			.nparts = 2,
			.nruns = 2,
			.parts = two_parts,
			.runs = two_runs}},
	{.type = ZCTL_WORLD,
		.u.world = {.vrank = 4,
			.nparts = 2,
			.nruns = 2,
			.nattached = 2,
			.parts = two_parts,
			.runs = two_runs,
			.attached = two_attached}},
	{.type = ZCTL_DIRECT,
		.u.direct = {.what = ZCTL_DIRECT_CONNECT,
			.vrank = 9,
			.endpoint = 3,
			.nonce = {1, [31] = 2},
			.masked = {3, [31] = 4},
			.addresses = "shm:@x tcp:10.1.0.1:77"}},
	{.type = ZCTL_TRAFFIC, .u.traffic = {.nparts = 2, .parts = two_counts}},
	{.type = ZCTL_QUIT, .u.dead = {.code = 1, .part = UINT32_MAX, .text = "data channel broke"}},
	{.type = ZCTL_PING},
	{.type = ZCTL_MEET, .u.meet = {.name = "1-12", .from = "lgm", .to = "das4"}},
	{.type = ZCTL_MET},
	{.type = ZCTL_REACH,
		.u.reach = {.from = "lgm",
			.to = "wan",
			.address = "mlx5_0:1@zip02:7474",
			.pass = {1, [31] = 2},
			.mac = {3, [31] = 4},
			.share = 1 + 1 + 2 * ZCTL_TRACKS_MAX + 3}},
	{.type = ZCTL_NAMING,
		.u.naming = {.what = ZCTL_NAMING_PUBLISH,
			.number = 77,
			.vrank = 5,
			.service = "a name, with \xc3\xa9\n\x01",
			.port = "tag#0$description#node001$"}},
	{.type = ZCTL_STATE, .u.state = {.what = ZCTL_STATE_ENDED, .vrank = 7, .code = 3}},
	{.type = ZCTL_NAMING, .u.naming = {.what = ZCTL_NAMING_UNPUBLISH, .answer = ZCTL_NAMING_FULL}},
	{.type = ZCTL_REACHED, .u.reached.pass = {8, [31] = 9}},
	{.type = ZCTL_ATTACH,
		.u.attach = {.ticket = {3, [31] = 4},
			.nonce = {5, [31] = 6},
			.vrank = 5,
			.part = 6,
			.endpoint = 7,
			.seal = ZSEAL_INSIDE,
			.track = ZCTL_TRACKS_MAX - 1}},
	{.type = ZCTL_CREATE,
		.u.create = {.parts = "a,b,c",
			.entries = "x+8,b,x",
			.sizes = {1, 2, 3},
			.join_timeout_ms = 99,
			.again = 1,
			.shares = 5}},
	{.type = ZCTL_CREATE, .u.create = {.parts = "a,b,c", .sizes = {1, 0, 4000000000u}, .join_timeout_ms = 99}},
	{.type = ZCTL_CREATE, .u.create = {.parts = "lgm,das4", .sizes = {3, 2}, .nruns = 2, .runs = two_runs}},
	{.type = ZCTL_CREATED},
	{.type = ZCTL_EVENT, .u.event = {.kind = ZCTL_EV_DEAD, .number = 137, .text = "rank 3 died"}},
	{.type = ZCTL_OPEN, .u.open = {.part = 3, .endpoint = ZCTL_ENDPOINTS_MAX - 1, .track = 4}},
	{.type = ZCTL_DEAD, .u.dead = {.code = 1, .part = 2, .text = "it is over"}},
	{.type = ZCTL_ABORT, .u.dead = {.code = 2}},
	{.type = ZCTL_STATS},
	{.type = ZCTL_STATS_REPLY, .u.stats = {.ndirs = 2, .dirs = two_dirs}},
	{.type = ZCTL_STATS_REPLY},
	{.type = ZCTL_STATUS, .u.status = {.ended = 1, .job = 2, .lane = 3}},
	{.type = ZCTL_STATUS_REPLY,
		.u.status_reply = {.all = 1,
			.draining = 1,
			.more = {1, 2, 3},
			.uptime_ms = 4,
			.release = "0.1.0",
			.connections = 5,
			.max_connections = 6,
			.strangers = 7,
			.jobs = 8,
			.max_jobs = 9,
			.circuits = 10,
			.refused = 11,
			.memory_used = 12,
			.memory = 13,
			.nworkers = 2,
			.worker = two_workers,
			.njobs = 2,
			.job = two_jobs,
			.nparts = 3,
			.part = three_parts,
			.nlanes = 1,
			.lane = one_lane}},
	{.type = ZCTL_CONTROL,
		.u.control = {.what = ZCTL_CONTROL_SET, .user = "alice", .name = "max_jobs", .value = "a value"}},
	{.type = ZCTL_CONTROLLED, .u.controlled = {.text = "draining: 2 jobs run"}},
	{.type = ZCTL_TRUNK, .u.trunk = {.from = "wan", .share = ZCTL_SHARE_SESSIONS}},
	{.type = ZCTL_TRUNKED},
	{.type = ZCTL_ERROR, .u.error = {.code = EACCES, .text = "no"}},
};
#define NSAMPLES (sizeof(samples) / sizeof(samples[0]))

static void assert_same_status(struct zctl_status_reply *x, struct zctl_status_reply *y)
{
	assert_int_equal(x->nworkers, y->nworkers);
	assert_int_equal(x->njobs, y->njobs);
	assert_int_equal(x->nparts, y->nparts);
	assert_int_equal(x->nlanes, y->nlanes);
	assert_memory_equal(x->worker, y->worker, x->nworkers * sizeof(*x->worker));
	assert_memory_equal(x->job, y->job, x->njobs * sizeof(*x->job));
	assert_memory_equal(x->part, y->part, x->nparts * sizeof(*x->part));
	assert_memory_equal(x->lane, y->lane, x->nlanes * sizeof(*x->lane));
	x->worker = y->worker = NULL;
	x->job = y->job = NULL;
	x->part = y->part = NULL;
	x->lane = y->lane = NULL;
	assert_memory_equal(x, y, sizeof(*x));
}

static void assert_same(const struct zctl_msg *a, const struct zctl_msg *b)
{
	struct zctl_msg x = *a, y = *b;
	assert_int_equal(x.type, y.type);
	if (x.type == ZCTL_WORLD) {
		assert_int_equal(x.u.world.nparts, y.u.world.nparts);
		assert_int_equal(x.u.world.nruns, y.u.world.nruns);
		for (uint32_t i = 0; i < x.u.world.nparts; i++) {
			assert_string_equal(x.u.world.parts[i].name, y.u.world.parts[i].name);
			assert_int_equal(x.u.world.parts[i].size, y.u.world.parts[i].size);
		}
		assert_memory_equal(x.u.world.runs, y.u.world.runs, x.u.world.nruns * sizeof(*x.u.world.runs));
		assert_int_equal(x.u.world.nattached, y.u.world.nattached);
		if (x.u.world.nattached)
			assert_memory_equal(x.u.world.attached, y.u.world.attached,
				x.u.world.nattached * sizeof(*x.u.world.attached));
		x.u.world.parts = y.u.world.parts = NULL;
		x.u.world.runs = y.u.world.runs = NULL;
		assert_int_equal(x.u.world.vrank, y.u.world.vrank);
		assert_int_equal(x.u.world.rdv_window, y.u.world.rdv_window);
	} else if (x.type == ZCTL_TRAFFIC) {
		assert_int_equal(x.u.traffic.nparts, y.u.traffic.nparts);
		assert_memory_equal(x.u.traffic.parts, y.u.traffic.parts,
			x.u.traffic.nparts * sizeof(*x.u.traffic.parts));
	} else if (x.type == ZCTL_CREATE && x.u.create.nruns) {
		assert_int_equal(x.u.create.nruns, y.u.create.nruns);
		assert_memory_equal(x.u.create.runs, y.u.create.runs, x.u.create.nruns * sizeof(*x.u.create.runs));
		assert_memory_equal(x.u.create.sizes, y.u.create.sizes, sizeof(x.u.create.sizes));
	} else if (x.type == ZCTL_STATS_REPLY) {
		assert_int_equal(x.u.stats.ndirs, y.u.stats.ndirs);
		for (uint32_t i = 0; i < x.u.stats.ndirs; i++) {
			assert_string_equal(x.u.stats.dirs[i].from, y.u.stats.dirs[i].from);
			assert_int_equal(x.u.stats.dirs[i].msgs, y.u.stats.dirs[i].msgs);
			assert_int_equal(x.u.stats.dirs[i].queue_high_bytes, y.u.stats.dirs[i].queue_high_bytes);
			assert_int_equal(x.u.stats.dirs[i].direct_bytes, y.u.stats.dirs[i].direct_bytes);
			assert_int_equal(x.u.stats.dirs[i].shared_bytes, y.u.stats.dirs[i].shared_bytes);
		}
	} else if (x.type == ZCTL_STATUS_REPLY) {
		assert_same_status(&x.u.status_reply, &y.u.status_reply);
	} else {
		assert_memory_equal(&x.u, &y.u, sizeof(x.u)); /* both were zeroed first */
	}
}

static void survives_the_wire(void **state)
{
	static uint8_t buf[CAP];
	(void)state;
	for (size_t i = 0; i < NSAMPLES; i++) {
		struct zctl_msg back;
		struct zerr err = {.text = ""};
		int len = zctl_encode(buf, CAP, &samples[i]);
		assert_true(len >= 2);
		assert_int_equal(buf[0] | buf[1] << 8, samples[i].type);
		assert_int_equal(zctl_decode(&back, buf, (size_t)len, &err), 0);
		assert_same(&samples[i], &back);
		zctl_free(&back);
		assert_int_equal(zctl_encode(buf, (size_t)len, &samples[i]), len);
		assert_int_equal(zctl_encode(buf, (size_t)len - 1, &samples[i]), -EMSGSIZE);
	}
}

static void refuses_what_is_cut_or_longer(void **state)
{
	static uint8_t buf[CAP];
	(void)state;
	for (size_t i = 0; i < NSAMPLES; i++) {
		int len = zctl_encode(buf, CAP, &samples[i]);
		for (int cut = 0; cut <= len + 1; cut++) {
			struct zctl_msg back;
			struct zerr err = {.text = ""};
			uint8_t *exact = malloc((size_t)cut + 1); /* a sanitizer sees reading beyond */
			memset(exact, 0, (size_t)cut + 1);
			memcpy(exact, buf, (size_t)(cut < len ? cut : len));
			int rc = zctl_decode(&back, exact, (size_t)cut, &err);
			assert_int_equal(rc, cut == len ? 0 : -EPROTO);
			assert_true((rc == 0) == (err.text[0] == '\0'));
			zctl_free(&back);
			free(exact);
		}
	}
}

static int decode_changed(struct zctl_msg msg)
{
	static uint8_t buf[CAP];
	struct zctl_msg back;
	struct zerr err;
	int len = zctl_encode(buf, CAP, &msg);
	assert_true(len > 0);
	int rc = zctl_decode(&back, buf, (size_t)len, &err);
	zctl_free(&back);
	return rc;
}

static const struct zctl_msg *sample(uint16_t type)
{
	for (size_t i = 0; i < NSAMPLES; i++)
		if (samples[i].type == type)
			return &samples[i];
	fail();
	return NULL;
}

static void refuses_what_makes_no_sense(void **state)
{
	struct zctl_msg m;
	(void)state;
	m = *sample(ZCTL_HELLO);
	m.u.hello.service = 0;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.hello.service = ZCTL_SERVICE_RANK;
	m.u.hello.method = ZCTL_METHOD_MUNGE + 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.hello.method = ZCTL_METHOD_KEY;
	m.u.hello.service = ZCTL_SERVICE_TRUNK + 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.hello.service = ZCTL_SERVICE_HOP;
	m.u.hello.seal = ZSEAL_LEVELS;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_CHALLENGE);
	m.u.challenge.seal = ZSEAL_INSIDE - 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_ATTACH);
	m.u.attach.seal = ZSEAL_LEVELS;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_DIRECT);
	m.u.direct.seal = ZSEAL_LEVELS;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_JOIN);
	m.u.join.mixed = 2;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.join.mixed = 0;
	m.u.join.records = 2;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.join.records = 0;
	const char *bad_parts[] = {"", ",", "a,", ",a", "a,,b", "a,a"};
	for (size_t i = 0; i < sizeof(bad_parts) / sizeof(bad_parts[0]); i++) {
		m = *sample(ZCTL_JOIN);
		strcpy(m.u.join.parts, bad_parts[i]);
		assert_int_equal(decode_changed(m), -EPROTO);
	}
	m = *sample(ZCTL_JOIN);
	m.u.join.part[0] = '\0'; /* a name */
	assert_int_equal(decode_changed(m), -EPROTO);
	m = (struct zctl_msg){.type = ZCTL_CREATE,
		.u.create = {.parts = "lgm,das4", .sizes = {3, 2}, .nruns = 2, .runs = two_runs}};
	assert_int_equal(decode_changed(m), 0);
	m.u.create.sizes[1] = 3; /* the map leaves one out */
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.create.sizes[1] = 0;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.create.nruns = 1; /* all that is there is in order, but any number of ranks might come to the other part */
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.create.nruns = 0; /* allowed without a map */
	assert_int_equal(decode_changed(m), 0);
	m = *sample(ZCTL_JOIN);
	m.u.join.endpoints = 1;
	assert_int_equal(decode_changed(m), 0);
	m.u.join.endpoints = 0;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.join.endpoints = ZCTL_ENDPOINTS_MAX + 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_JOIN);
	m.u.join.rail = m.u.join.nrails;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.join.nrails = ZCTL_RAILS_MAX + 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_ATTACH);
	m.u.attach.endpoint = ZCTL_ENDPOINTS_MAX;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_ATTACH);
	m.u.attach.track = ZCTL_TRACKS_MAX;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_OPEN);
	m.u.open.endpoint = ZCTL_ENDPOINTS_MAX;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_OPEN);
	m.u.open.track = ZCTL_TRACKS_MAX;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_JOIN);
	m.u.join.tracks = ZCTL_TRACKS_MAX + 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_WORLD);
	m.u.world.tracks = ZCTL_TRACKS_MAX + 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_DIRECT);
	m.u.direct.what = 0;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.direct.what = 4;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_DIRECT);
	m.u.direct.endpoint = ZCTL_ENDPOINTS_MAX;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_NAMING);
	m.u.naming.what = 0;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.naming.what = ZCTL_NAMING_UNPUBLISH + 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.naming.what = ZCTL_NAMING_LOOKUP;
	assert_int_equal(decode_changed(m), 0);
	m.u.naming.answer = ZCTL_NAMING_FULL + 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_STATE);
	m.u.state.what = 0;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.state.what = ZCTL_STATE_OVER + 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_EVENT);
	m.u.event.kind = ZCTL_EV_LOST + 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m.u.event.kind = 0;
	assert_int_equal(decode_changed(m), -EPROTO);
}

static int decode_world(uint32_t vrank, const struct zctl_run *run, uint32_t nruns)
{
	struct zctl_msg m = *sample(ZCTL_WORLD);
	struct zctl_run copy[4];
	memcpy(copy, run, nruns * sizeof(*run));
	m.u.world.vrank = vrank;
	m.u.world.runs = copy;
	m.u.world.nruns = nruns;
	return decode_changed(m);
}

static void refuses_a_world_with_holes(void **state)
{
	(void)state;
	assert_int_equal(decode_world(4, two_runs, 2), 0);
	assert_int_equal(decode_world(5, two_runs, 2), -EPROTO);
	assert_int_equal(decode_world(0, two_runs, 1), -EPROTO);
	assert_int_equal(decode_world(0, two_runs, 0), -EPROTO);
	assert_int_equal(decode_world(0, (struct zctl_run[]){{0, 3, 0, 0}, {4, 2, 1, 0}}, 2), -EPROTO);
	assert_int_equal(decode_world(0, (struct zctl_run[]){{0, 3, 0, 0}, {3, 2, 2, 0}}, 2), -EPROTO);
	assert_int_equal(decode_world(0, (struct zctl_run[]){{0, 3, 0, 0}, {3, 2, 1, 1}}, 2), -EPROTO);
	assert_int_equal(decode_world(0, (struct zctl_run[]){{0, 3, 0, 0}, {3, 2, 1, UINT32_MAX}}, 2), -EPROTO);
	assert_int_equal(decode_world(0, (struct zctl_run[]){{0, 3, 0, 0}, {3, 0, 1, 0}, {3, 2, 1, 0}}, 3), -EPROTO);
	assert_int_equal(decode_world(0, (struct zctl_run[]){{0, 2, 0, 0}, {2, 1, 1, 0}, {3, 1, 0, 2}, {4, 1, 1, 1}},
				 4),
		0);
}

static void texts_are_printable(void **state)
{
	static uint8_t buf[CAP];
	struct zctl_msg m = {.type = ZCTL_DEAD}, back;
	struct zerr err;
	(void)state;
	strcpy(m.u.dead.text, "a\033[31m\xc3\xa9\n");
	int len = zctl_encode(buf, CAP, &m);
	assert_int_equal(zctl_decode(&back, buf, (size_t)len, &err), 0);
	assert_string_equal(back.u.dead.text, "a?[31m???");
	buf[len - 1] = '\n'; /* from a peer that does not clean its texts */
	assert_int_equal(zctl_decode(&back, buf, (size_t)len, &err), -EPROTO);
	m = *sample(ZCTL_NAMING);
	len = zctl_encode(buf, CAP, &m);
	buf[len - 1] = '\0'; /* in the port: the name would be shorter than it is said to be */
	assert_int_equal(zctl_decode(&back, buf, (size_t)len, &err), -EPROTO);
	m = *sample(ZCTL_HELLO);
	len = zctl_encode(buf, CAP, &m);
	uint8_t *name = memmem(buf, (size_t)len, "alice", 5);
	assert_non_null(name);
	name[0] = ','; /* in the user's name */
	assert_int_equal(zctl_decode(&back, buf, (size_t)len, &err), -EPROTO);
}

/* A peer of another release can be told why it is not served, whatever its HELLO holds behind its version. */
static void another_protocol_is_named(void **state)
{
	static const uint8_t later[] = {ZCTL_HELLO, 0, 99, 0, 0, 0, 5, 0, '7', '.', '1', '.', '0', 0xff, 0xfe, 0xfd};
	const struct zctl_msg ours = *sample(ZCTL_HELLO);
	struct zctl_msg m;
	struct zerr err;
	(void)state;
	assert_int_equal(zctl_decode(&m, later, sizeof(later), &err), 0);
	assert_int_equal(m.u.hello.protocol, 99);
	assert_string_equal(m.u.hello.release, "7.1.0");
	assert_int_equal(m.u.hello.service, 0);
	assert_true(zctl_is_foreign(&m.u.hello, &err));
	assert_non_null(strstr(err.text, "protocol 99 (7.1.0)"));
	assert_non_null(strstr(err.text, "(" PACKAGE_VERSION ")"));
	assert_false(zctl_is_foreign(&ours.u.hello, &err));
	assert_int_equal(zctl_decode(&m, later, sizeof(later) - 6, &err), -EPROTO); /* cut in the release */
}

#define LINE_BYTES 8192

/* One message in one protocol, as a line of a golden file. It is read again, and written the same. */
static void format_golden(char line[LINE_BYTES], const struct zctl_msg *sample, uint32_t protocol)
{
	uint8_t buf[LINE_BYTES / 2 - 8], same[sizeof(buf)];
	struct zctl_msg m = *sample, back;
	struct zerr err = {""};
	if (m.type == ZCTL_HELLO) {
		m.u.hello.protocol = protocol;
		strcpy(m.u.hello.release, "0.1.0");
	}
	int len = zctl_encode_as(buf, sizeof(buf), protocol, &m);
	assert_true(len > 0);
	for (int i = 0; i < len; i++)
		snprintf(line + 2 * i, 3, "%02x", buf[i]);
	strcat(line, "\n");
	assert_int_equal(zctl_decode_as(&back, buf, (size_t)len, protocol, &err), 0);
	assert_int_equal(zctl_encode_as(same, sizeof(same), protocol, &back), len);
	assert_memory_equal(same, buf, (size_t)len);
	zctl_free(&back);
}

/* A protocol without this type neither says nor takes it. */
static void assert_lacks(const struct zctl_msg *sample, uint32_t protocol)
{
	uint8_t buf[LINE_BYTES];
	struct zctl_msg back;
	struct zerr err;
	assert_int_equal(zctl_encode_as(buf, sizeof(buf), protocol, sample), -EINVAL);
	int len = zctl_encode(buf, sizeof(buf), sample);
	assert_int_equal(zctl_decode_as(&back, buf, (size_t)len, protocol, &err), -EPROTO);
	assert_non_null(strstr(err.text, "no such type"));
}

/* The bytes of each protocol that is served stay the same: test/golden/README.md. */
static void protocols_do_not_change(void **state)
{
	const char *top = getenv("ZIP_TOP_SRCDIR"), *record = getenv("ZIP_RECORD");
	const bool write = record && strcmp(record, "yes") == 0;
	char path[4096], line[LINE_BYTES], golden[LINE_BYTES];
	(void)state;
	for (uint32_t p = write ? ZCTL_PROTOCOL : ZCTL_PROTOCOL_OLDEST; p <= ZCTL_PROTOCOL; p++) {
		snprintf(path, sizeof(path), "%s/test/golden/messages-%u.hex", top ? top : "..", p);
		FILE *f = fopen(path, write ? "w" : "r");
		if (!f)
			fail_msg("%s is not there: record it, see the README.md beside it", path);
		for (size_t i = 0; i < NSAMPLES; i++) {
			if ((p < ZCTL_PROTOCOL_STATUS && samples[i].type >= ZCTL_STATUS) ||
				(p < ZCTL_PROTOCOL_TRUNKS && samples[i].type >= ZCTL_TRUNK)) {
				assert_lacks(&samples[i], p);
				continue;
			}
			format_golden(line, &samples[i], p);
			if (write)
				fputs(line, f);
			else if (!fgets(golden, sizeof(golden), f) || strcmp(line, golden) != 0)
				fail_msg("%s:%zu: protocol %u has changed in message type %u: see the README.md there",
					path, i + 1, p, samples[i].type);
		}
		if (!write && fgets(golden, sizeof(golden), f))
			fail_msg("%s has more lines than there are samples", path);
		fclose(f);
	}
}

static void assert_bad_status(const struct zctl_status_reply *reply, const char *text)
{
	static uint8_t buf[CAP];
	const struct zctl_msg m = {.type = ZCTL_STATUS_REPLY, .u.status_reply = *reply};
	struct zctl_msg back;
	struct zerr err;
	int len = zctl_encode(buf, CAP, &m);
	assert_int_equal(zctl_decode(&back, buf, (size_t)len, &err), -EPROTO);
	assert_non_null(strstr(err.text, text));
}

static void jobs_of_a_status_fit_their_parts(void **state)
{
	struct zctl_status_reply r = {.release = "1",
		.njobs = 2,
		.job = two_jobs,
		.nparts = 2,
		.part = three_parts,
		.nlanes = 1,
		.lane = one_lane};
	struct zctl_lane_status out = one_lane[0];
	struct zctl_job_status odd = two_jobs[1];
	(void)state;
	assert_bad_status(&r, "do not fit together");
	r.nparts = 3;
	r.nlanes = 0;
	assert_bad_status(&r, "do not fit together");
	r.nlanes = 1;
	out.to = 2;
	r.lane = &out;
	assert_bad_status(&r, "leads to no part");
	odd.phase = ZCTL_JOB_ENDED + 1;
	r = (struct zctl_status_reply){.release = "1", .njobs = 1, .job = &odd, .nparts = 1, .part = three_parts};
	assert_bad_status(&r, "no such phase");
}

static void no_more_counts_than_buckets(void **state)
{
	static uint8_t buf[CAP];
	struct zctl_job_status job = two_jobs[0];
	const struct zctl_msg m = {.type = ZCTL_STATUS_REPLY,
		.u.status_reply = {.release = "1",
			.njobs = 1,
			.job = &job,
			.nparts = 2,
			.part = three_parts,
			.nlanes = 1,
			.lane = one_lane}};
	struct zctl_msg back;
	struct zerr err;
	(void)state;
	int len = zctl_encode(buf, CAP, &m);
	uint8_t *count = buf + len - 8 * ZCTL_LATENCIES - 4;
	assert_int_equal(*count, ZCTL_LATENCIES);
	*count = ZCTL_LATENCIES + 1;
	assert_int_equal(zctl_decode(&back, buf, (size_t)len + 8, &err), -EPROTO);
	assert_non_null(strstr(err.text, "too many counts"));
}

/* Over shm a message is decoded in memory that its sender can still write to. */
static void checks_what_it_keeps(void **state)
{
	uint8_t *buf = flipper_memory(CAP);
	struct zctl_msg m = {.type = ZCTL_DEAD}, back;
	struct zerr err;
	(void)state;
	assert_non_null(buf);
	memset(m.u.dead.text, 'a', ZCTL_TEXT_MAX);
	int len = zctl_encode(buf, CAP, &m);
	pid_t peer = flipper_start(buf + len - ZCTL_TEXT_MAX, 'a', '\n');
	for (int i = 0; i < 300000; i++)
		if (zctl_decode(&back, buf, (size_t)len, &err) == 0)
			assert_string_equal(back.u.dead.text, m.u.dead.text);
	flipper_stop(peer);
	munmap(buf, CAP);
}

/* Counts that announce more than there is must not become allocations. */
static void huge_lists_are_refused(void **state)
{
	uint8_t buf[64] = {ZCTL_STATS_REPLY, 0, 0xff, 0xff, 0xff, 0xff};
	struct zctl_msg back;
	struct zerr err;
	(void)state;
	assert_int_equal(zctl_decode(&back, buf, sizeof(buf), &err), -EPROTO);
	assert_non_null(strstr(err.text, "too long"));
}

static void splits_part_names(void **state)
{
	char name[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1], long_name[ZCTL_NAME_MAX + 2], many[512] = "";
	(void)state;
	assert_int_equal(zctl_name_split_parts("lgm,das4", name, ZCTL_PARTS_MAX), 2);
	assert_string_equal(name[1], "das4");
	assert_int_equal(zctl_name_split_parts("lgm", NULL, 0), 1);
	assert_int_equal(zctl_name_split_parts("a,b,c", name, 2), -EINVAL);
	assert_int_equal(zctl_name_split_parts("a b", name, 2), -EINVAL);
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(zctl_name_split_parts(long_name, name, 2), -EINVAL);
	assert_int_equal(zctl_name_ok(long_name), 0);
	assert_int_equal(zctl_name_ok(long_name + 1), 1);
	for (int i = 0; i < ZCTL_PARTS_MAX; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "%sp%d", i ? "," : "", i);
	assert_int_equal(zctl_name_split_parts(many, name, ZCTL_PARTS_MAX), ZCTL_PARTS_MAX);
	strcat(many, ",q");
	assert_int_equal(zctl_name_split_parts(many, NULL, 0), -EINVAL);
}

static void random_bytes_are_harmless(void **state)
{
	unsigned seed = (unsigned)time(NULL);
	static uint8_t buf[CAP];
	(void)state;
	if (getenv("ZIP_SEED"))
		seed = (unsigned)strtoul(getenv("ZIP_SEED"), NULL, 0);
	print_message("# ZIP_SEED=%u\n", seed);
	srand(seed);
	for (int round = 0; round < 200000; round++) {
		struct zctl_msg back;
		struct zerr err;
		int len = zctl_encode(buf, CAP, &samples[(size_t)rand() % NSAMPLES]);
		for (int n = rand() % 4; n >= 0; n--)
			buf[rand() % len] = (uint8_t)rand();
		int rc = zctl_decode(&back, buf, (size_t)(rand() % 8 ? len : rand() % (len + 1)), &err);
		assert_true(rc == 0 || rc == -EPROTO);
		zctl_free(&back);
	}
}

static void splits_entries(void **state)
{
	static const char *const bad[] = {"a,b", "a,b,c,d", "a,b,", ",b,c", "a,,c", "a,b,c,", "a+,b,c", "a+0,b,c",
		"a+9,b,c", "a+11,b,c", "a+1+1,b,c", "+1,b,c", "a b,c,d", "a,b,c+x"};
	static char name[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	uint32_t hops[ZCTL_PARTS_MAX];
	struct zctl_msg m = *sample(ZCTL_JOIN);
	(void)state;
	assert_int_equal(zctl_name_split_entries("x+8,b,x", "a,b,c", name, hops), 3);
	assert_string_equal(name[0], "x");
	assert_string_equal(name[1], "b");
	assert_string_equal(name[2], "x");
	assert_int_equal(hops[0], 8);
	assert_int_equal(hops[1], 0);
	assert_int_equal(hops[2], 0);
	assert_int_equal(zctl_name_split_entries("", "a,b", name, hops), 2);
	assert_string_equal(name[1], "b");
	assert_int_equal(hops[1], 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(zctl_name_split_entries(bad[i], "a,b,c", name, hops), -EINVAL);
		strcpy(m.u.join.parts, "lgm,das4,x");
		strcpy(m.u.join.entries, bad[i]);
		assert_int_equal(decode_changed(m), -EPROTO);
	}
	m = *sample(ZCTL_REACH);
	strcpy(m.u.reach.to, m.u.reach.from);
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_REACH);
	m.u.reach.share = ZCTL_SHARE_MAX + 1;
	assert_int_equal(decode_changed(m), -EPROTO);
	m = *sample(ZCTL_TRUNK);
	m.u.trunk.share = 0;
	assert_int_equal(decode_changed(m), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_the_wire),
		cmocka_unit_test(refuses_what_is_cut_or_longer),
		cmocka_unit_test(refuses_what_makes_no_sense),
		cmocka_unit_test(refuses_a_world_with_holes),
		cmocka_unit_test(texts_are_printable),
		cmocka_unit_test(another_protocol_is_named),
		cmocka_unit_test(protocols_do_not_change),
		cmocka_unit_test(jobs_of_a_status_fit_their_parts),
		cmocka_unit_test(no_more_counts_than_buckets),
		cmocka_unit_test(checks_what_it_keeps),
		cmocka_unit_test(huge_lists_are_refused),
		cmocka_unit_test(splits_part_names),
		cmocka_unit_test(splits_entries),
		cmocka_unit_test(random_bytes_are_harmless),
	};
	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* zipcast over any transport: messages of all sizes by all algorithms, overlapping groups, failures. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/unit/zipcast/cases.h"
#include "test/unit/within.h"
#include "common/base/clock.h"

static const char *const algorithms[] = {"sequential", "tree", "chain", "pipeline", "hybrid-chain", "hybrid-pipeline"};
#define ALGORITHMS (sizeof(algorithms) / sizeof(algorithms[0]))

#define LARGEST 300000 /* bytes of a message, if sizes vary */
static const uint32_t sites[CAST_NODES_MAX] = {0, 1, 1, 0, 2, 2, 1, 0, 2, 1, 1, 0, 0, 2, 1, 2};

/* Every block went once to every member except the root, and with hybrids once into every site except the root's. */
static void check_sent(const struct cast_member *m, const struct zipcast_group_config *config, uint32_t messages)
{
	const uint32_t n = config->nmembers, block = config->block_bytes ? config->block_bytes : ZIPCAST_BLOCK_BYTES;
	uint64_t blocks = 0, bytes = 0, got_blocks, got_bytes, entered[3] = {0, 0, 0};
	bool there[3] = {false, false, false};
	for (uint32_t i = 1; i <= messages; i++) {
		const uint64_t size = cast_size(config->number, i, LARGEST);
		blocks += (size + block - 1) / block;
		bytes += size;
	}
	for (uint32_t to = 0; to < n; to++) {
		uint64_t sum_blocks = 0, sum_bytes = 0;
		there[sites[to]] = true;
		for (uint32_t from = 0; from < n; from++) {
			zipcast_group_sent(m[from].group, to, &got_blocks, &got_bytes);
			sum_blocks += got_blocks;
			sum_bytes += got_bytes;
			entered[sites[to]] += sites[from] != sites[to] ? got_blocks : 0;
		}
		assert_int_equal(sum_blocks, to ? blocks : 0);
		assert_int_equal(sum_bytes, to ? bytes : 0);
	}
	for (uint32_t s = 0; s < 3 && strncmp(config->algorithm, "hybrid", 6) == 0; s++)
		assert_int_equal(entered[s], there[s] && s != sites[0] ? blocks : 0);
	zipcast_group_sent(m[0].group, n, &got_blocks, &got_bytes);
	assert_int_equal(got_blocks + got_bytes, 0);
}

/* Messages of random sizes, all queued at once. */
static void multicast(struct cast *c, uint32_t number, const char *algorithm, const uint32_t *members, uint32_t n,
	uint32_t block_bytes)
{
	struct cast_member m[CAST_NODES_MAX] = {{.cast = c}};
	struct zipcast_group_config config = {number, n, members, algorithm, block_bytes, sites};
	cast_group(c, m, &config);
	for (uint32_t i = 1; i <= 6; i++)
		cast_send(&m[0], i, cast_size(number, i, LARGEST));
	cast_wait_complete(m, n, 6);
	check_sent(m, &config, 6);
	cast_destroy(m, n);
}

static void all_algorithms(const char *transport, uint32_t n, enum zipcast_waiting waiting)
{
	struct cast c;
	uint32_t members[CAST_NODES_MAX];
	cast_open(&c, transport, n, waiting);
	for (uint32_t a = 0; a < ALGORITHMS; a++) {
		for (uint32_t i = 0; i < n; i++)
			members[i] = (i + a) % n; /* another root each time */
		multicast(&c, a, algorithms[a], members, n, a % 2 ? 0 : 10000);
	}
	cast_close(&c);
}

void two_members(void **state)
{
	all_algorithms(*state, 2, ZIPCAST_HYBRID);
}

void seven_members(void **state)
{
	all_algorithms(*state, 7, ZIPCAST_HYBRID);
}

void eight_sleeping_members(void **state)
{
	all_algorithms(*state, 8, ZIPCAST_INTERRUPTS);
}

void thirteen_members(void **state)
{
	all_algorithms(*state, 13, ZIPCAST_HYBRID);
}

void three_polling_members(void **state)
{
	all_algorithms(*state, 3, ZIPCAST_POLL);
}

/* Each member is the root of a group of the same members, and all send at once (the paper's Figure 10). */
void overlapping_groups(void **state)
{
	enum { N = 5 };
	struct cast c;
	static struct cast_member m[N][CAST_NODES_MAX];
	cast_open(&c, *state, N, ZIPCAST_HYBRID);
	for (uint32_t g = 0; g < N; g++) {
		uint32_t members[N];
		for (uint32_t i = 0; i < N; i++)
			members[i] = (i + g) % N;
		cast_group(&c, m[g],
			&(struct zipcast_group_config){.number = 100 + g,
				.nmembers = N,
				.members = members,
				.block_bytes = 65536});
	}
	for (uint32_t i = 1; i <= 5; i++)
		for (uint32_t g = 0; g < N; g++)
			cast_send(&m[g][0], i, cast_size(100 + g, i, 500000));
	for (uint32_t g = 0; g < N; g++)
		cast_wait_complete(m[g], N, 5);
	for (uint32_t g = 0; g < N; g++)
		cast_destroy(m[g], N);
	cast_close(&c);
}

/* A node closes in the middle of a long message: its group fails once in all others, and another group goes on. */
void failure_of_a_member(void **state)
{
	const char *transport = *state;
	static const uint32_t all[] = {0, 1, 2, 3, 4, 5}, others[] = {2, 1, 0, 4};
	struct cast c;
	static struct cast_member m[CAST_NODES_MAX], o[CAST_NODES_MAX];
	memset(m, 0, sizeof(m));
	memset(o, 0, sizeof(o));
	cast_open(&c, transport, 6, ZIPCAST_HYBRID);
	cast_group(&c, m, &(struct zipcast_group_config){.number = 1, .nmembers = 6, .members = all});
	cast_group(&c, o, &(struct zipcast_group_config){.number = 2, .nmembers = 4, .members = others});
	cast_send(&m[0], 1, 100000);
	cast_wait_complete(m, 6, 1);
	uint8_t *data = calloc(1, 64 << 20);
	assert_non_null(data);
	m[0].kept = data;
	assert_int_equal(zipcast_send(m[0].group, data, 64 << 20), 0);
	cast_send(&o[0], 1, 2000000);
	cast_close_node(&c, 3);
	cast_wait_failed(m, 6);
	cast_wait_complete(o, 4, 1);
	for (uint32_t i = 2; i <= 4; i++)
		cast_send(&o[0], i, cast_size(2, i, 400000));
	cast_wait_complete(o, 4, 4);
	for (uint32_t i = 0; i < 6; i++)
		assert_true(i == 3 || m[i].failed == 1);
	assert_non_null(strstr(m[0].why, "node 3"));
	assert_int_equal(zipcast_send(m[0].group, data, 1), -EPIPE);
	m[3].group = NULL; /* freed with its node */
	m[0].buffer = NULL;
	cast_destroy(m, 6);
	cast_destroy(o, 4);
	free(data);
	cast_close(&c);
}

static bool receives(struct cast_member *m)
{
	pthread_mutex_lock(&m->cast->lock);
	bool begun = m->begun;
	pthread_mutex_unlock(&m->cast->lock);
	return begun;
}

/* A member that connects late still learns that the others are ready to receive: here node 7, which sends node 5 the
 * blocks that node 5 needs. */
void member_that_comes_late(void **state)
{
	static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};
	const struct zipcast_group_config config = {.number = 3, .nmembers = 8, .members = all, .block_bytes = 4096};
	char why[ZIPCAST_WHY_BYTES] = "";
	static struct cast_member m[8];
	struct cast c;
	cast_open(&c, *state, 8, ZIPCAST_HYBRID);
	for (uint32_t i = 0; i < 8; i++) {
		m[i] = (struct cast_member){.cast = &c, .node = i, .number = 3, .root = i == 0};
		for (int k = 0; i == 7 && k < 6000 && !receives(&m[5]); k++)
			usleep(10000);
		if (cast_create(&m[i], &config, why) != 0)
			fail_msg("node %u: %s", i, why);
		if (i == 6)
			cast_send(&m[0], 1, 16384);
	}
	assert_true(receives(&m[5]));
	cast_wait_complete(m, 8, 1);
	cast_send(&m[0], 2, 100000);
	cast_wait_complete(m, 8, 2);
	cast_destroy(m, 8);
	cast_close(&c);
}

void no_memory_for_a_message(void **state)
{
	static const uint32_t all[] = {0, 1, 2, 3};
	struct cast c;
	static struct cast_member m[CAST_NODES_MAX];
	cast_open(&c, *state, 4, ZIPCAST_HYBRID);
	memset(m, 0, sizeof(m));
	m[2].refuses = true;
	cast_group(&c, m, &(struct zipcast_group_config){.number = 9, .nmembers = 4, .members = all});
	static uint8_t data[5000000];
	m[0].kept = data;
	assert_int_equal(zipcast_send(m[0].group, data, sizeof(data)), 0);
	cast_wait_failed(m, 4);
	assert_non_null(strstr(m[1].why, "node 2 has no memory"));
	cast_destroy(m, 4);
	cast_close(&c);
}

/* A member that leaves an idle group fails nobody. The next message fails in all members that are left, also in those
 * that reach the root only through the member that left. */
void leaving_an_idle_group(void **state)
{
	static const uint32_t all[] = {0, 1, 2, 3};
	static const char *const how[] = {"chain", "tree", "pipeline"};
	for (uint32_t a = 0; a < 3; a++) {
		struct cast c;
		static struct cast_member m[4], other[3];
		memset(m, 0, sizeof(m));
		memset(other, 0, sizeof(other));
		cast_open(&c, *state, 4, ZIPCAST_HYBRID);
		cast_group(&c, m,
			&(struct zipcast_group_config){.number = 1,
				.nmembers = 4,
				.members = all,
				.algorithm = how[a]});
		cast_group(&c, other,
			&(struct zipcast_group_config){.number = 2,
				.nmembers = 3,
				.members = all,
				.algorithm = how[a]});
		cast_send(&m[0], 1, 200000);
		cast_wait_complete(m, 4, 1);
		zipcast_group_destroy(m[1 + a].group);
		m[1 + a].group = NULL;
		cast_send(&other[0], 1, 300000); /* once this has arrived, all earlier words have been heard */
		cast_wait_complete(other, 3, 1);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(m[i].failed, 0);
		static uint8_t data[100000];
		m[0].kept = data;
		assert_int_equal(zipcast_send(m[0].group, data, sizeof(data)), 0);
		for (uint32_t i = 0; i < 4; i++)
			if (i != 1 + a)
				cast_wait_failed(&m[i], 1);
		char who[64];
		snprintf(who, sizeof(who), "node %u has destroyed group 1", 1 + a);
		assert_string_equal(m[0].why, who);
		cast_destroy(m, 4);
		cast_destroy(other, 3);
		cast_close(&c);
	}
}

/* A node that closes while its group is idle is named as the reason, also in members that do not reach it: their
 * neighbours leave with it. */
void going_from_an_idle_group(void **state)
{
	static const uint32_t all[] = {0, 1, 2, 3};
	static uint8_t data[100000];
	struct cast c;
	static struct cast_member m[4];
	memset(m, 0, sizeof(m));
	cast_open(&c, *state, 4, ZIPCAST_HYBRID);
	cast_group(&c, m,
		&(struct zipcast_group_config){.number = 1, .nmembers = 4, .members = all, .algorithm = "chain"});
	cast_send(&m[0], 1, 200000);
	cast_wait_complete(m, 4, 1);
	cast_close_node(&c, 2);
	m[2].group = NULL; /* freed with its node */
	cast_wait_failed(&m[1], 1);
	cast_wait_failed(&m[3], 1);
	m[0].kept = data;
	int rc = zipcast_send(m[0].group, data, sizeof(data));
	assert_true(rc == 0 || rc == -EPIPE);
	cast_wait_failed(&m[0], 1);
	assert_string_equal(m[0].why, "node 2 has destroyed group 1");
	cast_destroy(m, 4);
	cast_close(&c);
}

/* One member cannot make the group, as it does not reach another member. Members that reach it hear of that, also if
 * they come later. */
void a_group_that_one_cannot_make(void **state)
{
	static const uint32_t all[] = {0, 1, 2}, two[] = {1, 2};
	for (int late = 0; late < 2; late++) {
		struct cast c;
		static struct cast_member first[2], m[3];
		char why[ZIPCAST_WHY_BYTES];
		memset(first, 0, sizeof(first));
		cast_open(&c, *state, 3, ZIPCAST_HYBRID);
		cast_group(&c, first, &(struct zipcast_group_config){.number = 1, .nmembers = 2, .members = two});
		cast_close_node(&c, 0);
		struct zipcast_group_config config = {.number = 2, .nmembers = 3, .members = all, .algorithm = "chain"};
		for (uint32_t i = 0; i < 3; i++)
			m[i] = (struct cast_member){.cast = &c, .node = i, .number = 2, .root = i == 0};
		if (!late)
			assert_int_equal(cast_create(&m[2], &config, why), 0);
		assert_true(cast_create(&m[1], &config, why) < 0);
		assert_true(why[0] != '\0');
		if (late)
			assert_int_equal(cast_create(&m[2], &config, why), 0);
		cast_wait_failed(&m[2], 1);
		assert_non_null(strstr(m[2].why, "node 1"));
		assert_int_equal(m[1].failed, 0);
		assert_int_equal(cast_create(&m[1], &config, why), -EEXIST);
		cast_destroy(&m[2], 1);
		cast_destroy(first, 2);
		cast_close(&c);
	}
}

void different_groups_of_one_number(void **state)
{
	struct cast c;
	static struct cast_member m[2];
	static const uint32_t all[] = {0, 1};
	char why[ZIPCAST_WHY_BYTES];
	struct zipcast_events none = {.arg = NULL};
	memset(m, 0, sizeof(m));
	cast_open(&c, *state, 2, ZIPCAST_HYBRID);
	/* Each node creates group 5 in its own way. */
	for (uint32_t i = 0; i < 2; i++) {
		static const char *const idea[] = {"chain", "pipeline"};
		struct zipcast_group_config config = {.number = 5, .nmembers = 2, .members = all, .algorithm = idea[i]};
		m[i] = (struct cast_member){.cast = &c, .node = i, .number = 5, .root = i == 0};
		assert_int_equal(cast_create(&m[i], &config, why), 0);
	}
	cast_wait_failed(m, 2);
	assert_non_null(strstr(m[0].why, "group 5"));
	/* and groups that create refuses */
	struct zipcast_group *g;
	struct zipcast_group_config config = {.number = 5, .nmembers = 2, .members = all};
	assert_int_equal(zipcast_group_create(&g, c.zc[0], &config, &none, why), -EEXIST);
	config.number = 6;
	config.algorithm = "magic";
	assert_int_equal(zipcast_group_create(&g, c.zc[0], &config, &none, why), -EINVAL);
	assert_non_null(strstr(why, "magic"));
	config.algorithm = "hybrid-chain";
	assert_int_equal(zipcast_group_create(&g, c.zc[0], &config, &none, why), -EINVAL);
	static const uint32_t twice[] = {0, 0}, strange[] = {0, 7};
	config = (struct zipcast_group_config){.number = 6, .nmembers = 2, .members = twice};
	assert_int_equal(zipcast_group_create(&g, c.zc[0], &config, &none, why), -EINVAL);
	config.members = strange;
	assert_int_equal(zipcast_group_create(&g, c.zc[0], &config, &none, why), -EINVAL);
	assert_non_null(strstr(why, "node 7"));
	assert_int_equal(zipcast_send(m[1].group, why, 1), -EPERM);
	cast_destroy(m, 2);
	cast_close(&c);
}

/* Each of two members takes itself for the root, so neither waits for anything. */
void two_roots(void **state)
{
	static const uint32_t order[2][2] = {{0, 1}, {1, 0}};
	static struct cast_member m[2];
	char why[ZIPCAST_WHY_BYTES];
	struct cast c;
	cast_open(&c, *state, 2, ZIPCAST_HYBRID);
	for (uint32_t i = 0; i < 2; i++) {
		struct zipcast_group_config config = {.number = 5, .nmembers = 2, .members = order[i]};
		m[i] = (struct cast_member){.cast = &c, .node = i, .number = 5, .root = true};
		assert_int_equal(cast_create(&m[i], &config, why), 0);
	}
	cast_wait_failed(m, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_non_null(strstr(m[i].why, "made group 5 with other members"));
	cast_destroy(m, 2);
	cast_close(&c);
}

/* One node takes itself for a member, and two others do not, before or after it. All three hear that. */
void a_member_too_many(void **state)
{
	static const uint32_t all[] = {0, 1, 2};
	for (uint32_t first = 0; first < 3; first++) {
		static struct cast_member m[3], o[3];
		char why[ZIPCAST_WHY_BYTES];
		struct cast c;
		memset(o, 0, sizeof(o));
		cast_open(&c, *state, 3, ZIPCAST_HYBRID);
		/* the links are there */
		cast_group(&c, o, &(struct zipcast_group_config){.number = 1, .nmembers = 3, .members = all});
		cast_send(&o[0], 1, 1000);
		cast_wait_complete(o, 3, 1);
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t k = (first + i) % 3;
			struct zipcast_group_config config = {.number = 5,
				.nmembers = k == 2 ? 3 : 2,
				.members = all,
				.algorithm = k == 2 ? "sequential" : "chain"};
			m[k] = (struct cast_member){.cast = &c, .node = k, .number = 5, .root = k == 0};
			assert_int_equal(cast_create(&m[k], &config, why), 0);
		}
		cast_wait_failed(m, 3);
		for (uint32_t i = 0; i < 3; i++)
			assert_non_null(strstr(m[i].why, "5"));
		cast_destroy(m, 3);
		cast_destroy(o, 3);
		cast_close(&c);
	}
}

/* A node is there, and has a group with the others, but does not make this group: the others hear its name. */
void a_member_that_never_comes(void **state)
{
	static const uint32_t all[] = {0, 1};
	static struct cast_member m[2], o[2];
	char why[ZIPCAST_WHY_BYTES], missing[64];
	struct cast c;
	memset(o, 0, sizeof(o));
	cast_timeout_ms = 1500;
	cast_open(&c, *state, 2, ZIPCAST_HYBRID);
	cast_timeout_ms = 60000;
	cast_group(&c, o, &(struct zipcast_group_config){.number = 1, .nmembers = 2, .members = all});
	cast_send(&o[0], 1, 1000);
	cast_wait_complete(o, 2, 1);
	for (uint32_t i = 0; i < 2; i++) {
		struct zipcast_group_config config = {.number = 2 + i, .nmembers = 2, .members = all};
		m[i] = (struct cast_member){.cast = &c, .node = i, .number = 2 + i, .root = i == 0};
		assert_int_equal(cast_create(&m[i], &config, why), 0);
	}
	cast_wait_failed(m, 2);
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(missing, sizeof(missing), ") has not made group %u within 1500 ms", 2 + i);
		assert_non_null(strstr(m[i].why, missing));
		snprintf(missing, sizeof(missing), "node %u (", 1 - i);
		assert_non_null(strstr(m[i].why, missing));
	}
	cast_send(&o[0], 2, 1000);
	cast_wait_complete(o, 2, 2);
	/* a member that makes it after all hears at once */
	struct zipcast_group_config config = {.number = 2, .nmembers = 2, .members = all};
	struct cast_member late = {.cast = &c, .node = 1, .number = 2};
	assert_int_equal(cast_create(&late, &config, why), 0);
	cast_wait_failed(&late, 1);
	cast_destroy(&late, 1);
	cast_destroy(m, 2);
	cast_destroy(o, 2);
	cast_close(&c);
}

/* A stranger without the key does not get in, and neither does noise. */
void strangers(void **state)
{
	struct cast c;
	char why[ZIPCAST_WHY_BYTES];
	static const uint8_t wrong[ZIPCAST_KEY_BYTES] = "another key";
	struct zipcast *stranger;
	struct zipcast_group *g;
	static const uint32_t members[] = {1, 0};
	(void)state;
	cast_open(&c, "tcp", 2, ZIPCAST_HYBRID);
	cast_close_node(&c, 1);
	struct zipcast_config config = {.me = 1,
		.listen = "tcp:127.0.0.1:0",
		.session = "test",
		.key = wrong,
		.timeout_ms = 20000};
	assert_int_equal(zipcast_open(&stranger, &config, why), 0);
	const char *address[] = {zipcast_address(c.zc[0]), zipcast_address(stranger)};
	assert_int_equal(zipcast_meet(stranger, address, 2, why), 0);
	struct zipcast_group_config gc = {.number = 1, .nmembers = 2, .members = members};
	assert_int_equal(zipcast_group_create(&g, stranger, &gc, &(struct zipcast_events){.arg = NULL}, why), -EACCES);
	assert_string_equal(why, "node 0: it has another key");
	zipcast_close(stranger);
	cast_close(&c);
}

/* A node that connects after the group has failed hears of that. */
void member_that_comes_too_late(void **state)
{
	static const uint32_t all[] = {0, 1, 2, 3};
	const struct zipcast_group_config config = {.number = 4, .nmembers = 4, .members = all, .algorithm = "chain"};
	char why[ZIPCAST_WHY_BYTES] = "";
	static struct cast_member m[4];
	struct cast c;
	cast_open(&c, *state, 4, ZIPCAST_HYBRID);
	for (uint32_t i = 0; i < 4; i++)
		m[i] = (struct cast_member){.cast = &c, .node = i, .number = 4, .root = i == 0, .refuses = i == 1};
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(cast_create(&m[i], &config, why), 0);
	static uint8_t data[1000];
	m[0].kept = data;
	assert_int_equal(zipcast_send(m[0].group, data, sizeof(data)), 0);
	cast_wait_failed(m, 3);
	assert_int_equal(cast_create(&m[3], &config, why), 0);
	cast_wait_failed(&m[3], 1);
	assert_non_null(strstr(m[3].why, "node 1 has no memory"));
	cast_destroy(m, 4);
	cast_close(&c);
}

/* One member destroys its group in the middle of a message, and frees the memory at once. Other groups on the same
 * links go on. Nobody waits for longer than it takes to hear of it. */
void destroying_in_the_middle(void **state)
{
	static const uint32_t all[] = {0, 1, 2, 3};
	static struct cast_member m[4], o[4];
	enum { BYTES = 64 << 20 };
	struct cast c;
	int slow = 0;
	uint8_t *data = calloc(1, BYTES);
	assert_non_null(data);
	cast_open(&c, *state, 4, ZIPCAST_HYBRID);
	memset(o, 0, sizeof(o));
	cast_group(&c, o, &(struct zipcast_group_config){.number = 1000, .nmembers = 4, .members = all});
	cast_send(&o[0], 1, 1000000);
	cast_wait_complete(o, 4, 1);
	for (uint32_t k = 0; k < 8; k++) {
		memset(m, 0, sizeof(m));
		cast_group(&c, m, &(struct zipcast_group_config){.number = k, .nmembers = 4, .members = all});
		m[0].kept = data;
		assert_int_equal(zipcast_send(m[0].group, data, BYTES), 0);
		cast_send(&o[0], k + 2, 3000000);
		for (int wait = 0; wait < 60000 && !receives(&m[1 + k % 3]); wait++)
			usleep(1000);
		usleep(k * 500);
		const int64_t start_ms = zclock_ms();
		cast_destroy(&m[1 + k % 3], 1);
		slow += zclock_ms() - start_ms > 1900; /* as if a member never answered */
		m[1 + k % 3].group = NULL;
		m[1 + k % 3].buffer = NULL;
		cast_wait_complete(o, 4, k + 2);
		for (uint32_t i = 0; i < 4; i++)
			if (m[i].group && m[i].complete == 0)
				cast_wait_failed(&m[i], 1);
		cast_destroy(m, 4);
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(o[i].failed, 0);
	cast_destroy(o, 4);
	free(data);
	cast_close(&c);
	assert_within(slow, 0, 3);
}

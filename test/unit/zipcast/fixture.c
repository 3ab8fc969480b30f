/* SPDX-License-Identifier: BSD-3-Clause */
/* See fixture.h. */
#include "test/unit/zipcast/fixture.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT_S 120 /* a longer wait means a lost message, also on a busy machine */

const uint8_t cast_key[ZIPCAST_KEY_BYTES] = "0123456789abcdefghijklmnopqrstu";

const struct cast_zipper *cast_zipper;
uint32_t cast_timeout_ms = 60000;

static void bridge(struct zipcast_config *config)
{
	static const char *const fabric[] = {"a", "b"};
	config->fabric = fabric[config->me % 2];
	config->zipper = cast_zipper->address[config->me % 2];
	config->user = cast_zipper->user;
	config->user_key = cast_zipper->key;
}

void cast_open(struct cast *c, const char *transport, uint32_t n, enum zipcast_waiting waiting)
{
	const char *address[CAST_NODES_MAX];
	char why[ZIPCAST_WHY_BYTES] = "", listen[128];
	*c = (struct cast){.n = n, .dir = "/tmp/zipcast.XXXXXX"};
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	assert_non_null(mkdtemp(c->dir));
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(transport, "tcp") == 0)
			snprintf(listen, sizeof(listen), "tcp:127.0.0.1:0");
		else if (strcmp(transport, "verbs") == 0)
			snprintf(listen, sizeof(listen), "fka:1@127.0.0.1:0");
		else
			snprintf(listen, sizeof(listen), "shm:%s/node%u", c->dir, i);
		struct zipcast_config config = {.me = i,
			.listen = listen,
			.session = "test",
			.key = cast_key,
			.waiting = waiting,
			.timeout_ms = cast_timeout_ms};
		if (cast_zipper)
			bridge(&config);
		if (zipcast_open(&c->zc[i], &config, why) != 0)
			fail_msg("node %u: %s", i, why);
		address[i] = zipcast_address(c->zc[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		if (zipcast_meet(c->zc[i], address, n, why) != 0)
			fail_msg("node %u: %s", i, why);
}

void cast_close_node(struct cast *c, uint32_t node)
{
	zipcast_close(c->zc[node]);
	c->zc[node] = NULL;
}

void cast_close(struct cast *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		cast_close_node(c, i);
	rmdir(c->dir);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
}

/* --- messages: their bytes follow from group, number and place --- */

uint64_t cast_size(uint64_t salt, uint32_t message, uint64_t largest)
{
	uint64_t x = (salt + message) * 0x9e3779b97f4a7c15u;
	x ^= x >> 29;
	return 1 + x % (message % 3 ? largest : largest / 50 + 1);
}

static uint8_t byte_at(uint64_t salt, uint32_t message, uint64_t i)
{
	return (uint8_t)(salt * 131 + message * 17 + i + (i >> 8) * 7 + (i >> 16) * 3);
}

static bool is_right(const struct cast_member *m, uint32_t message, const uint8_t *data, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		if (data[i] != byte_at(m->salt, message, i))
			return false;
	return true;
}

static void *incoming(void *arg, uint64_t bytes)
{
	struct cast_member *m = arg;
	pthread_mutex_lock(&m->cast->lock);
	m->begun = true;
	pthread_mutex_unlock(&m->cast->lock);
	return m->buffer = m->refuses ? NULL : malloc(bytes);
}

static void complete(void *arg, void *data, uint64_t bytes)
{
	struct cast_member *m = arg;
	const bool kept = data == m->kept || m->keeps_all;
	bool right = kept || m->unchecked || is_right(m, m->complete + 1, data, bytes);
	pthread_mutex_lock(&m->cast->lock);
	if (data == m->buffer)
		m->buffer = NULL;
	if (!kept)
		free(data);
	m->complete++;
	m->damaged += !right;
	pthread_cond_broadcast(&m->cast->changed);
	pthread_mutex_unlock(&m->cast->lock);
	if (m->behind)
		m->behind(m);
}

static void failed(void *arg, const char *why)
{
	struct cast_member *m = arg;
	pthread_mutex_lock(&m->cast->lock);
	free(m->buffer); /* sanitizers find later writes to it */
	m->buffer = NULL;
	m->failed++;
	m->suspect = zipcast_group_suspect(m->group);
	snprintf(m->why, sizeof(m->why), "%s", why);
	pthread_cond_broadcast(&m->cast->changed);
	pthread_mutex_unlock(&m->cast->lock);
}

static void ended(void *arg)
{
	struct cast_member *m = arg;
	pthread_mutex_lock(&m->cast->lock);
	m->ended++;
	pthread_cond_broadcast(&m->cast->changed);
	pthread_mutex_unlock(&m->cast->lock);
}

void cast_fill(uint64_t salt, uint32_t message, uint8_t *data, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		data[i] = byte_at(salt, message, i);
}

int cast_try_send(struct cast_member *root, uint32_t message, uint64_t bytes)
{
	uint8_t *data = malloc(bytes);
	assert_non_null(data);
	cast_fill(root->salt, message, data, bytes);
	pthread_mutex_lock(&root->cast->lock);
	root->buffer = data;
	pthread_mutex_unlock(&root->cast->lock);
	return zipcast_send(root->group, data, bytes);
}

void cast_send(struct cast_member *root, uint32_t message, uint64_t bytes)
{
	int rc = cast_try_send(root, message, bytes);
	if (rc != 0)
		fail_msg("group %u: send: %s: %s", root->number, strerror(-rc), root->why);
}

/* --- groups --- */

struct creation {
	struct cast_member *member;
	const struct zipcast_group_config *config;
	char why[ZIPCAST_WHY_BYTES];
	int rc;
};

int cast_create(struct cast_member *m, const struct zipcast_group_config *config, char why[ZIPCAST_WHY_BYTES])
{
	struct zipcast_events events = {m->root ? NULL : incoming, complete, failed, m};
	int rc = zipcast_group_create(&m->group, m->cast->zc[m->node], config, &events, why);
	if (rc == 0)
		zipcast_group_on_end(m->group, ended);
	return rc;
}

static void *create(void *arg)
{
	struct creation *c = arg;
	c->rc = cast_create(c->member, c->config, c->why);
	return NULL;
}

void cast_group(struct cast *c, struct cast_member *m, const struct zipcast_group_config *config)
{
	pthread_t thread[CAST_NODES_MAX];
	struct creation creation[CAST_NODES_MAX];
	for (uint32_t i = 0; i < config->nmembers; i++) {
		m[i] = (struct cast_member){.cast = c,
			.node = config->members[i],
			.number = config->number,
			.root = i == 0,
			.salt = config->number,
			.refuses = m[i].refuses,
			.behind = m[i].behind};
		creation[i] = (struct creation){.member = &m[i], .config = config};
		assert_int_equal(pthread_create(&thread[i], NULL, create, &creation[i]), 0);
	}
	for (uint32_t i = 0; i < config->nmembers; i++)
		pthread_join(thread[i], NULL);
	for (uint32_t i = 0; i < config->nmembers; i++)
		if (creation[i].rc != 0)
			fail_msg("group %u, node %u: %s", config->number, m[i].node, creation[i].why);
}

void cast_destroy(struct cast_member *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		zipcast_group_destroy(m[i].group);
		free(m[i].buffer);
	}
}

static void wait_for(struct cast_member *m, const uint32_t *counter, uint32_t value)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	pthread_mutex_lock(&m->cast->lock);
	int rc = 0;
	while (*counter < value && rc == 0 && (counter == &m->failed || !m->failed))
		rc = pthread_cond_timedwait(&m->cast->changed, &m->cast->lock, &until);
	bool there = *counter >= value;
	pthread_mutex_unlock(&m->cast->lock);
	if (!there)
		fail_msg("group %u, node %u: %u complete, %u failed: %s", m->number, m->node, m->complete, m->failed,
			m->why);
}

void cast_wait_complete(struct cast_member *m, uint32_t n, uint32_t messages)
{
	for (uint32_t i = 0; i < n; i++) {
		wait_for(&m[i], &m[i].complete, messages);
		assert_int_equal(m[i].damaged, 0);
	}
}

void cast_wait_failed(struct cast_member *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (m[i].cast->zc[m[i].node])
			wait_for(&m[i], &m[i].failed, 1);
}

void cast_wait_ended(struct cast_member *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (m[i].group)
			wait_for(&m[i], &m[i].ended, 1);
}

void cast_passed(void *member)
{
	struct cast_member *m = member;
	pthread_mutex_lock(&m->cast->lock);
	m->passed++;
	pthread_cond_broadcast(&m->cast->changed);
	pthread_mutex_unlock(&m->cast->lock);
}

void cast_wait_passed(struct cast_member *m, uint32_t n, uint32_t barriers)
{
	for (uint32_t i = 0; i < n; i++)
		if (m[i].group)
			wait_for(&m[i], &m[i].passed, barriers);
}

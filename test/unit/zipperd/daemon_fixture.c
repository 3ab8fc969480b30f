/* SPDX-License-Identifier: BSD-3-Clause */
/* The real zipperd as a child and fake ranks, see daemon_fixture.h. */
#define _GNU_SOURCE
#include "test/unit/zipperd/daemon_fixture.h"
#include "common/session/session_attach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define START_MS 60000
#define TIMEOUT_MS 60000

int64_t fixture_now_ms(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void fixture_nap(int ms)
{
	poll(NULL, 0, ms);
}

/* --- the daemon --- */

int fixture_descriptors;

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void write_config(const struct daemon_fixture *d, const char *listen, const char *options, char *path,
	size_t cap)
{
	char text[4096], words[2048], *save, *word;
	int n = snprintf(text, sizeof(text), "key_file = %s/keys\n", d->dir);
	snprintf(words, sizeof(words), "%s", listen);
	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *dir = strstr(word, "%d");
		if (dir)
			*dir = '\0';
		n += snprintf(text + n, sizeof(text) - (size_t)n, "listen = %s%s%s\n", word, dir ? d->dir : "",
			dir ? dir + 2 : "");
	}
	/* Also where there are few cores: the test is about threads that meet. */
	if (!options || !strstr(options, "threads="))
		n += snprintf(text + n, sizeof(text) - (size_t)n, "threads = direction\n");
	snprintf(words, sizeof(words), "%s", options ? options : "");
	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s\n", word);
	snprintf(path, cap, "%s/conf", d->dir);
	write_file(path, text);
}

static void read_ready(struct daemon_fixture *d, int fd)
{
	char text[2048];
	size_t n = 0;
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	while (n < sizeof(text) - 1 && poll(&pfd, 1, START_MS) > 0) {
		ssize_t got = read(fd, text + n, sizeof(text) - 1 - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	text[n] = '\0';
	assert_true(n > 1 && strcmp(text + n - 2, "\n\n") == 0);
	char *save;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct zerr err;
		assert_non_null(strchr(line, '='));
		assert_int_equal(zaddr_parse(&d->addr[d->naddrs++], strchr(line, '=') + 1, &err), 0);
	}
}

void daemon_start(struct daemon_fixture *d, const char *listen, const char *options)
{
	char program[512], conf[96], path[96], number[16];
	const char *top = getenv("ZIP_TOP_BUILDDIR");
	int ready[2];
	memset(d, 0, sizeof(*d));
	snprintf(program, sizeof(program), "%s/zipperd/zipperd", top ? top : "..");
	snprintf(d->dir, sizeof(d->dir), "/tmp/zipperd-test.XXXXXX");
	assert_non_null(mkdtemp(d->dir));
	snprintf(path, sizeof(path), "%s/keys", d->dir);
	write_file(path, "# user key\n" FIXTURE_USER " " FIXTURE_KEY "\n" FIXTURE_OTHER " "
			 "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff\n" FIXTURE_EXPIRED
			 " " FIXTURE_KEY " until=2020-12-31\n");
	write_config(d, listen, options, conf, sizeof(conf));
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	snprintf(path, sizeof(path), "%s/log", d->dir);
	d->pid = fork();
	assert_true(d->pid >= 0);
	if (d->pid == 0) {
		int log = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		const rlim_t most = (rlim_t)fixture_descriptors;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fixture_descriptors)
			setrlimit(RLIMIT_NOFILE, &(struct rlimit){most, most});
		dup2(log, STDERR_FILENO);
		fcntl(ready[1], F_SETFD, 0);
		snprintf(number, sizeof(number), "%d", ready[1]);
		execl(program, "zipperd", "-c", conf, "--ready-fd", number, (char *)NULL);
		fprintf(stderr, "%s: %s\n", program, strerror(errno));
		_exit(127);
	}
	close(ready[1]);
	read_ready(d, ready[0]);
	close(ready[0]);
}

int daemon_stop(struct daemon_fixture *d)
{
	int status = 0;
	char command[160];
	kill(d->pid, SIGTERM);
	int64_t end = fixture_now_ms() + START_MS;
	while (waitpid(d->pid, &status, WNOHANG) == 0) {
		if (fixture_now_ms() > end)
			kill(d->pid, SIGKILL);
		fixture_nap(5);
	}
	snprintf(command, sizeof(command), "%s/log", d->dir);
	FILE *log = fopen(command, "r");
	char line[1024];
	while (log && fgets(line, sizeof(line), log))
		fprintf(stderr, "#   %s", line);
	if (log)
		fclose(log);
	snprintf(command, sizeof(command), "rm -rf '%s'", d->dir);
	assert_int_equal(system(command), 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool daemon_has_logged(const struct daemon_fixture *d, const char *text)
{
	static char log[1 << 18];
	char path[96];
	snprintf(path, sizeof(path), "%s/log", d->dir);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	log[fread(log, 1, sizeof(log) - 1, f)] = '\0';
	fclose(f);
	return strstr(log, text);
}

bool daemon_logged(const struct daemon_fixture *d, const char *text)
{
	for (int64_t end = fixture_now_ms() + TIMEOUT_MS; fixture_now_ms() < end;) {
		if (daemon_has_logged(d, text))
			return true;
		fixture_nap(10);
	}
	return false;
}

long daemon_cpu_ticks(const struct daemon_fixture *d)
{
	char path[64], text[1024];
	long utime, stime;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)d->pid);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	char *p = strrchr(text, ')');
	assert_non_null(p);
	assert_int_equal(sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &utime, &stime), 2);
	return utime + stime;
}

/* field: "VmRSS:" and the like. */
static long read_status(const struct daemon_fixture *d, const char *field)
{
	char path[64], line[256];
	long kib = -1;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)d->pid);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, field, strlen(field)) == 0)
			kib = strtol(line + strlen(field), NULL, 10);
	fclose(f);
	return kib;
}

long daemon_memory_kib(const struct daemon_fixture *d)
{
	return read_status(d, "VmHWM:");
}

long daemon_memory_now_kib(const struct daemon_fixture *d)
{
	return read_status(d, "VmRSS:");
}

/* --- fake ranks --- */

void fixture_params(struct zsession_params *p, const struct zaddr *addr, const char *job)
{
	struct zerr err;
	memset(p, 0, sizeof(*p));
	p->zipper = *addr;
	snprintf(p->user, sizeof(p->user), "%s", FIXTURE_USER);
	snprintf(p->job, sizeof(p->job), "%s", job);
	p->auth = &zauth_module;
	p->timeout_ms = TIMEOUT_MS;
	assert_int_equal(zauth_module.parse_key(p->key, FIXTURE_KEY, &err), 0);
}

static int take_reason(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct zctl_msg msg;
	struct zerr err;
	(void)raw;
	assert_int_equal(zctl_decode(&msg, payload, env->len, &err), 0);
	assert_int_equal(msg.type, ZCTL_ERROR);
	strcpy(ctx, msg.u.error.text);
	return 0;
}

void fixture_read_reason(struct zlink *z, char *reason)
{
	while (z->ops->poll(z, &(struct zsink){.take = take_reason, .ctx = reason}, 1) >= 0)
		fixture_nap(1);
}

void fixture_be_other(struct zsession_params *p)
{
	strcpy(p->user, FIXTURE_OTHER);
	p->key[0] = p->key[ZAUTH_KEY_BYTES - 1] = 0xff;
}

void fake_init(struct fake_rank *r, const char *job, const char *parts, const char *part, uint32_t rank, uint32_t size,
	const struct zaddr *addr)
{
	memset(r, 0, sizeof(*r));
	r->job = job;
	r->addr = *addr;
	r->max_len = 3000;
	r->join.rank = rank;
	r->join.size = size;
	r->join.abi = 42;
	r->join.vrank = ZCTL_VRANK_ANY;
	r->join.endpoints = 1;
	r->join.nrails = 1;
	r->join.age_ms = 3600 * 1000;
	snprintf(r->join.parts, sizeof(r->join.parts), "%s", parts);
	snprintf(r->join.part, sizeof(r->join.part), "%s", part);
	snprintf(r->join.host, sizeof(r->join.host), "host%u", rank);
}

static void *join_one(void *arg)
{
	struct fake_rank *r = arg;
	struct zsession_params p;
	fixture_params(&p, &r->addr, r->job);
	if (r->other)
		fixture_be_other(&p);
	p.hops = r->hop;
	p.nhops = r->nhops;
	p.passes = r->passes;
	r->rc = zsession_open(&r->session, &p, ZCTL_SERVICE_RANK, &r->err);
	if (r->rc == 0) {
		memcpy(r->key, zsession_key(r->session), sizeof(r->key));
		r->seal = zsession_seal(r->session);
	}
	if (r->rc == 0)
		r->rc = zsession_join(r->session, &r->join, &r->world, &r->err);
	return NULL;
}

void fake_join_all(struct fake_rank *r, int n)
{
	pthread_t thread[FAKE_PEERS_MAX];
	assert_true(n <= FAKE_PEERS_MAX);
	for (int i = 0; i < n; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, join_one, &r[i]), 0);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

uint32_t fake_part_of(const struct fake_rank *r, uint32_t vrank)
{
	for (uint32_t i = 0; i < r->world.nruns; i++)
		if (vrank - r->world.runs[i].vrank < r->world.runs[i].count)
			return r->world.runs[i].part;
	fail_msg("vrank %u is not in the world", vrank);
	return 0;
}

static uint32_t count_ranks(const struct fake_rank *r)
{
	const struct zctl_world *w = &r->world;
	return w->nruns ? w->runs[w->nruns - 1].vrank + w->runs[w->nruns - 1].count : 0;
}

uint32_t fake_station(const struct fake_rank *r, uint32_t vrank)
{
	return r->endpoint * count_ranks(r) + vrank;
}

static uint32_t own_station(const struct fake_rank *r)
{
	return fake_station(r, r->world.vrank);
}

void fake_add_endpoint(struct fake_rank *rank, struct fake_rank *endpoint)
{
	struct fake_rank **at = &rank->next;
	*endpoint = (struct fake_rank){.endpoint = 1,
		.rank = rank,
		.job = rank->job,
		.addr = rank->addr,
		.join = rank->join,
		.world = rank->world,
		.max_len = rank->max_len};
	for (; *at; at = &(*at)->next)
		endpoint->endpoint++;
	*at = endpoint;
}

struct zsession_way fake_way(const struct fake_rank *r)
{
	return (struct zsession_way){.zipper = &r->addr,
		.hops = r->hop,
		.nhops = r->nhops,
		.passes = r->passes,
		.user = r->other ? FIXTURE_OTHER : FIXTURE_USER,
		.job = r->job,
		.key = r->rank ? r->rank->key : r->key,
		.seal = r->rank ? r->rank->seal : r->seal,
		.auth = &zauth_module};
}

int fake_attach(struct fake_rank *r, uint32_t part)
{
	const struct zctl_attach a = {.vrank = r->world.vrank, .part = part, .endpoint = r->endpoint};
	if (r->link[part])
		return 0;
	const struct zsession_way way = fake_way(r);
	return zsession_attach_to(&r->link[part], &way, &a, NULL, TIMEOUT_MS, &r->err);
}

/* Length and content of message seq of a stream: both ends compute them. */
static uint32_t content(uint8_t *buf, uint32_t src, uint32_t dst, uint64_t seq, uint32_t max_len)
{
	uint32_t x = src * 2654435761u ^ dst * 40503u ^ (uint32_t)seq * 2246822519u;
	x ^= x >> 15;
	uint32_t len = max_len ? x % (max_len + 1) : 0;
	for (uint32_t i = 0; i < len; i++) {
		x = x * 1664525u + 1013904223u;
		buf[i] = (uint8_t)(x >> 24);
	}
	return len;
}

static int post(struct zlink *link, const struct zwire_env *env, const void *payload)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	zwire_encode(raw, env);
	return link->ops->post(link, raw, payload, env->len);
}

int fake_post(struct fake_rank *r, uint32_t part, const struct zwire_env *env, const void *payload)
{
	int rc = post(r->link[part], env, payload);
	return rc == 0 ? r->link[part]->ops->flush(r->link[part]) : rc;
}

static bool send_ack(struct fake_rank *r, uint32_t v)
{
	struct fake_peer *p = &r->peer[v];
	struct zlink *link = r->link[fake_part_of(r, v)];
	struct zwire_env env = {.kind = ZWIRE_ACK, .src = own_station(r), .dst = fake_station(r, v), .ack = p->taken};
	if (p->told == p->taken || !link || post(link, &env, NULL) != 0)
		return false;
	p->told = p->taken;
	return true;
}

/* To all receivers that have got as much so far as the first receiver that can have more. */
static int choose_group(struct fake_rank *r, struct zwire_receiver *list)
{
	int n = 0;
	for (uint32_t v = 0; v < FAKE_PEERS_MAX; v++) {
		const struct fake_peer *p = &r->peer[v];
		if (!p->listed || p->bye || p->held || p->sent >= p->goal || p->sent - p->acked >= FAKE_WINDOW)
			continue;
		if (n == 0 || p->sent + 1 == list[0].seq)
			list[n++] =
				(struct zwire_receiver){.dst = fake_station(r, v), .seq = p->sent + 1, .ack = p->taken};
	}
	return n;
}

int fake_post_list(struct fake_rank *r, const struct zwire_receiver *list, int n, const struct zwire_env *env,
	const void *payload)
{
	uint8_t bytes[(ZWIRE_RECEIVERS_MAX + 1) * ZWIRE_RECEIVER_BYTES];
	struct zwire_env head = {.kind = ZWIRE_RECEIVERS,
		.src = own_station(r),
		.dst = ZWIRE_NOBODY,
		.len = (uint32_t)n * ZWIRE_RECEIVER_BYTES};
	for (int i = 0; i < n; i++)
		zwire_put_receiver(bytes + i * ZWIRE_RECEIVER_BYTES, &list[i]);
	int rc = post(r->link[r->carrier], &head, bytes);
	return rc == 0 && env ? post(r->link[r->carrier], env, payload) : rc;
}

static bool send_listed(struct fake_rank *r)
{
	static uint8_t buf[ZWIRE_MAX_PAYLOAD];
	struct zwire_receiver list[FAKE_PEERS_MAX];
	bool any = false;
	int n;
	while ((n = choose_group(r, list)) > 0) {
		struct zwire_env env = {.kind = ZWIRE_EAGER, .src = own_station(r), .dst = ZWIRE_NOBODY, .tag = 1};
		env.offset = env.len = content(buf, env.src, ZWIRE_NOBODY, list[0].seq, r->max_len);
		if (fake_post_list(r, list, n, &env, buf) != 0)
			break;
		for (int i = 0; i < n; i++) {
			struct fake_peer *p = &r->peer[list[i].dst - fake_station(r, 0)];
			p->sent++;
			p->told = p->taken;
		}
		r->nlists++;
		r->nlisted += (uint64_t)n;
		any = true;
	}
	return any;
}

static bool send_some(struct fake_rank *r, uint32_t v)
{
	static uint8_t buf[ZWIRE_MAX_PAYLOAD];
	struct fake_peer *p = &r->peer[v];
	uint32_t part = fake_part_of(r, v);
	bool any = false;
	while (!p->listed && !p->bye && !p->held && p->sent < p->goal && p->sent - p->acked < FAKE_WINDOW) {
		struct zwire_env env = {.kind = ZWIRE_EAGER,
			.src = own_station(r),
			.dst = fake_station(r, v),
			.seq = p->sent + 1,
			.ack = p->taken};
		env.len = content(buf, env.src, env.dst, env.seq, r->max_len);
		env.offset = env.len;
		if (fake_attach(r, part) != 0 || post(r->link[part], &env, buf) != 0)
			break;
		p->sent++;
		p->told = p->taken;
		any = true;
	}
	return any;
}

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct fake_rank *r = ctx;
	(void)raw;
	uint32_t from = env->src - fake_station(r, 0);
	if (env->dst != own_station(r) || from >= count_ranks(r)) {
		r->bad++;
		return 0;
	}
	struct fake_peer *p = &r->peer[from];
	if (env->ack > p->acked)
		p->acked = env->ack;
	if (env->kind == ZWIRE_EAGER && env->seq == p->taken + 1) {
		static uint8_t buf[ZWIRE_MAX_PAYLOAD];
		uint32_t len = content(buf, env->src, env->tag ? ZWIRE_NOBODY : env->dst, env->seq,
			(uint32_t)env->comm ? 0 : r->max_len);
		if (len != env->len || memcmp(buf, payload, len) != 0)
			r->bad++;
		p->taken++;
	} else if (env->kind == ZWIRE_EAGER && env->seq > p->taken + 1) {
		r->bad++; /* with one rail nothing follows a refused message */
	} else if (env->kind == ZWIRE_NAK) {
		p->naks++;
		p->held = env->seq;
	} else if (env->kind == ZWIRE_RESUME) {
		p->resumes++;
		if (p->held != env->seq)
			r->bad++;
		p->held = 0;
		p->sent = env->seq - 1;
	} else if (env->kind == ZWIRE_BYE) {
		p->bye = true;
		p->acked = p->sent;
	}
	return 0;
}

static void open_channel(struct fake_rank *r, const struct zctl_open *open)
{
	while (r && r->endpoint != open->endpoint)
		r = r->next;
	assert_non_null(r);
	r->opens++;
	if (!r->ignores_open)
		fake_attach(r, open->part);
}

static bool read_control(struct fake_rank *r)
{
	struct zctl_msg msg;
	struct zerr err;
	if (!r->session || r->dead)
		return false;
	int rc = zsession_poll(r->session, &msg, &err);
	if (rc < 0) {
		r->dead = true;
		snprintf(r->dead_text, sizeof(r->dead_text), "%.200s", err.text);
	}
	if (rc <= 0)
		return rc < 0;
	if (msg.type == ZCTL_DEAD) {
		r->dead = true;
		snprintf(r->dead_text, sizeof(r->dead_text), "%s", msg.u.dead.text);
	} else if (msg.type == ZCTL_OPEN) {
		open_channel(r, &msg.u.open);
	}
	zctl_free(&msg);
	return true;
}

bool fake_turn(struct fake_rank *r)
{
	bool any = read_control(r);
	uint32_t n = count_ranks(r);
	if (r->dead || (r->rank && r->rank->dead))
		return any;
	for (uint32_t part = 0; part < r->world.nparts && !r->deaf; part++) {
		struct zsink sink = {.take = take, .ctx = r};
		if (r->link[part])
			any |= r->link[part]->ops->poll(r->link[part], &sink, 16) > 0;
	}
	any |= send_listed(r);
	for (uint32_t v = 0; v < n; v++) {
		if (fake_part_of(r, v) == fake_part_of(r, r->world.vrank))
			continue;
		any |= send_some(r, v);
		any |= send_ack(r, v);
	}
	for (uint32_t part = 0; part < r->world.nparts; part++)
		if (r->link[part])
			r->link[part]->ops->flush(r->link[part]);
	return any;
}

bool fake_run(struct fake_rank *r, int n, bool (*done)(struct fake_rank *, int n), int ms)
{
	int64_t end = fixture_now_ms() + ms;
	while (!done(r, n)) {
		bool any = false;
		for (int i = 0; i < n; i++)
			if (r[i].session || (r[i].rank && r[i].rank->session))
				any |= fake_turn(&r[i]);
		if (fixture_now_ms() > end)
			return false;
		if (!any)
			usleep(100);
	}
	return true;
}

/* r must be in the order of vranks. */
bool fake_all_taken(struct fake_rank *r, int n)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			const struct fake_peer *out = &r[i].peer[r[k].world.vrank];
			const struct fake_peer *in = &r[k].peer[r[i].world.vrank];
			if (out->acked < out->goal || (out->goal && in->taken != out->goal))
				return false;
		}
	return true;
}

bool fake_all_dead(struct fake_rank *r, int n)
{
	for (int i = 0; i < n; i++)
		if (r[i].session && !r[i].dead)
			return false;
	return true;
}

static void close_all(struct fake_rank *r)
{
	for (struct fake_rank *e = r; e; e = e->next) {
		for (int i = 0; i < 4; i++)
			if (e->link[i])
				e->link[i]->ops->close(e->link[i]);
		memset(e->link, 0, sizeof(e->link));
	}
	zctl_world_free(&r->world);
}

void fake_bye_channels(struct fake_rank *r)
{
	const struct zwire_env bye = {.kind = ZWIRE_BYE, .src = own_station(r), .dst = ZWIRE_NOBODY};
	for (int i = 0; i < 4; i++)
		if (r->link[i])
			fake_post(r, (uint32_t)i, &bye, NULL);
}

void fake_bye(struct fake_rank *r)
{
	for (struct fake_rank *e = r; e; e = e->next)
		fake_bye_channels(e);
	zsession_close(r->session);
	r->session = NULL;
	close_all(r);
}

void fake_kill(struct fake_rank *r)
{
	/* A dying process closes its link without BYE. zsession has no call for that, so the link is closed under it.
	 */
	struct zlink **link = (struct zlink **)(void *)r->session;
	(*link)->ops->close(*link);
	free(r->session);
	r->session = NULL;
	close_all(r);
}

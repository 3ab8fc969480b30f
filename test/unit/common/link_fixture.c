/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture of the transport tests, see link_fixture.h. */
#include "test/unit/common/link_fixture.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/config/conf.h"
#include "common/transport/base/socket.h"
#include "common/transport/verbs/device/verbs_options.h"
#include "common/transport/transports.h"

static int connect_raw_tcp(const struct zaddr *addr)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(addr->port)};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(addr->port)};
	bool is6 = strchr(addr->host, ':') != NULL;
	v6.sin6_addr = in6addr_loopback;
	assert_int_equal(is6 || inet_pton(AF_INET, addr->host, &v4.sin_addr), 1);
	int fd = socket(is6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, is6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4,
				 is6 ? sizeof(v6) : sizeof(v4)),
		0);
	return fd;
}

static int connect_raw_verbs(const struct zaddr *addr)
{
	struct zaddr tcp;
	assert_true(zaddr_tcp(addr, &tcp));
	return connect_raw_tcp(&tcp);
}

static int connect_raw_unix(const struct zaddr *addr)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	memcpy(sa.sun_path, addr->host, sizeof(sa.sun_path) - 1);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static char verbs_address[128], verbs_nobody[128], verbs_peer[64]; /* from ZIP_TEST_VERBS */

/* Port 1 (tcpmux) of the loopback, below the ports that the kernel hands out. */
const struct link_kind link_kinds[] = {
	{"tcp", "tcp:127.0.0.1:0", "127.0.0.1:", "tcp:127.0.0.1:1", -ECONNREFUSED, connect_raw_tcp, true, false, false,
		ZSEAL_NONE},
	{"tcp6", "tcp:[::1]:0", "[::1]:", "tcp:[::1]:1", -ECONNREFUSED, connect_raw_tcp, true, false, false,
		ZSEAL_NONE},
	{"integrity", "tcp:127.0.0.1:0", "127.0.0.1:", "tcp:127.0.0.1:1", -ECONNREFUSED, connect_raw_tcp, false, false,
		false, ZSEAL_INTEGRITY},
	{"encrypt", "tcp:127.0.0.1:0", "127.0.0.1:", "tcp:127.0.0.1:1", -ECONNREFUSED, connect_raw_tcp, false, false,
		false, ZSEAL_ENCRYPT},
	{"shm", "shm:%s/sock", "pid %d uid ", "shm:%s/none", -ENOENT, connect_raw_unix, false, false, false,
		ZSEAL_NONE},
	{"verbs", verbs_address, verbs_peer, verbs_nobody, -ECONNREFUSED, connect_raw_verbs, true, false, false,
		ZSEAL_NONE},
	{"warmverbs", verbs_address, verbs_peer, verbs_nobody, -ECONNREFUSED, connect_raw_verbs, true, true, false,
		ZSEAL_NONE},
	{"ownverbs", verbs_address, verbs_peer, verbs_nobody, -ECONNREFUSED, connect_raw_verbs, true, true, true,
		ZSEAL_NONE},
};
const size_t link_kind_count = sizeof(link_kinds) / sizeof(link_kinds[0]);

static struct verbs_settings {
	struct zverbs_options verbs;
	char *device;
} settings;
static const struct zconf_row rows[] = {ZVERBS_ENDPOINTS_ROW(struct verbs_settings), ZVERBS_ROWS(struct verbs_settings),
	ZVERBS_MEMORY_ROWS(struct verbs_settings), {.name = NULL}};

char link_warning[512];
unsigned link_warnings;
bool link_unwarned;

static void keep_warning(const char *text)
{
	link_warnings++;
	snprintf(link_warning, sizeof(link_warning), "%s", text);
}

void link_patient(bool patient)
{
	settings.verbs.patient = patient;
}

static bool verbs_works(void)
{
	static char dir[512];
	const char *where = getenv("ZIP_TEST_VERBS"), *top = getenv("ZIP_TOP_BUILDDIR");
	static const char *const others[] = {"ZIPPER_RECONNECT", NULL}; /* lib/tap.sh sets it */
	struct zerr err = {""};
	if (!where || !strchr(where, '@'))
		return false;
	snprintf(verbs_address, sizeof(verbs_address), "%s:0", where);
	snprintf(verbs_nobody, sizeof(verbs_nobody), "%s:1", where);
	snprintf(verbs_peer, sizeof(verbs_peer), "%s:", strchr(where, '@') + 1);
	snprintf(dir, sizeof(dir), "%s/common/.libs", top ? top : "..");
	if (zconf_defaults(rows, &settings, &err) < 0 || zconf_environ(rows, &settings, "ZIPPER", others, &err) < 0)
		fail_msg("%s", err.text);
	settings.verbs.warn = link_unwarned ? NULL : keep_warning;
	ztransports_configure(dir, &settings.verbs);
	if (!ztransports_find(ZADDR_VERBS, &err))
		fail_msg("%s", err.text);
	return true;
}

const struct zauth_ops *link_auth;

void fixture_seal(const struct fixture *f, struct zlink *link, bool connects)
{
	static const uint8_t key[ZAUTH_KEY_BYTES] = {1, [31] = 2};
	struct zseal with;
	struct zerr err;
	if (f->kind->seal == ZSEAL_NONE)
		return;
	link_auth->seal(&with, f->kind->seal, key, connects ? ZAUTH_ASKS : ZAUTH_ANSWERS, NULL);
	assert_int_equal(link->ops->seal(link, &with, &err), 0);
	assert_null(link->ops->seal);
}

bool link_kind_works(const struct link_kind *kind)
{
	if (kind->seal != ZSEAL_NONE)
		return link_auth != NULL;
	if (kind->address == verbs_address)
		return verbs_works();
	struct zaddr addr;
	struct zlistener *listener;
	if (strcmp(kind->name, "tcp6") != 0) /* a machine may have no IPv6 */
		return true;
	if (zaddr_parse(&addr, kind->address, NULL) < 0 || ztransport_tcp.listen(&listener, &addr, NULL) < 0)
		return false;
	ztransport_tcp.unlisten(listener);
	return true;
}

int count_fds(void)
{
	int n = 0;
	DIR *dir = opendir("/proc/self/fd");
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

void fixture_address(const struct fixture *f, const char *text, struct zaddr *addr)
{
	char buf[200];
	struct zerr err;
	const char *mark = strstr(text, "%s");
	if (mark)
		snprintf(buf, sizeof(buf), "%.*s%s%s", (int)(mark - text), text, f->dir, mark + 2);
	else
		snprintf(buf, sizeof(buf), "%s", text);
	if (zaddr_parse(addr, buf, &err) < 0)
		fail_msg("%s", err.text);
}

bool link_kind_has_rma(const struct link_kind *kind)
{
	const struct fixture anywhere = {.dir = "/"};
	struct zaddr addr;
	fixture_address(&anywhere, kind->address, &addr);
	const struct ztransport *ops = ztransports_find(addr.kind, NULL);
	return ops && ops->rma;
}

int fixture_setup(void **state)
{
	struct zerr err;
	struct fixture *f = calloc(1, sizeof(*f));
	assert_non_null(f);
	f->kind = *state;
	*state = f;
	f->fds = count_fds();
	strcpy(f->dir, "/tmp/zip-link-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	struct zaddr addr;
	fixture_address(f, f->kind->address, &addr);
	f->ops = ztransports_find(addr.kind, &err);
	assert_non_null(f->ops);
	if (f->ops->listen(&f->listener, &addr, &err) < 0)
		fail_msg("%s", err.text);
	f->ops->listener_addr(f->listener, &f->addr);
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	char path[100];
	f->ops->unlisten(f->listener);
	if (f->endpoint)
		f->ops->endpoint_close(f->endpoint);
	while (f->nown > 0)
		f->ops->endpoint_close(f->own[--f->nown]);
	free(f->own);
	snprintf(path, sizeof(path), "%s/sock", f->dir);
	int left = access(path, F_OK) == 0;
	int gone = rmdir(f->dir);
	int leak = count_fds() - f->fds;
	free(f);
	if (leak)
		print_error("%d descriptors leaked\n", leak);
	if (left || gone < 0)
		print_error("files were left\n");
	return leak || left || gone < 0;
}

static struct zendpoint *new_endpoint(struct fixture *f)
{
	struct zerr err;
	f->own = realloc(f->own, (f->nown + 1) * sizeof(*f->own)); // NOLINT(bugprone-sizeof-expression): pointers
	assert_non_null(f->own);
	if (f->ops->endpoint_open(&f->own[f->nown], &err) < 0)
		fail_msg("%s", err.text);
	return f->own[f->nown++];
}

static struct zlink *connect_own(struct fixture *f)
{
	struct zendpoint *rx = new_endpoint(f), *tx = new_endpoint(f);
	struct zlink *link = NULL;
	struct zerr err;
	if (f->ops->connect_plain(&link, &f->addr, PATIENCE_MS, &err) < 0 || f->ops->settle(link, rx, tx, &err) < 0)
		fail_msg("%s", err.text);
	return link;
}

struct zlink *fixture_connect(struct fixture *f)
{
	struct zlink *link = NULL;
	struct zerr err;
	if (f->kind->own)
		return connect_own(f);
	if (f->ops->connect(&link, &f->addr, PATIENCE_MS, &err) < 0)
		fail_msg("%s", err.text);
	assert_ptr_equal(link->ops, f->ops);
	fixture_seal(f, link, true);
	return link;
}

struct zlink *fixture_accept(struct fixture *f)
{
	struct zlink *link = NULL;
	struct zerr err;
	struct pollfd p = {.fd = f->ops->listener_fd(f->listener), .events = POLLIN};
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	if (f->ops->accept(f->listener, &link, &err) < 0)
		fail_msg("%s", err.text);
	assert_ptr_equal(link->ops, f->ops);
	fixture_seal(f, link, false);
	return link;
}

static int take_nothing(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	(void)env, (void)raw, (void)payload;
	*(int *)ctx += 1;
	return 0;
}

void fixture_settle(struct fixture *f, struct zlink *link)
{
	struct zerr err = {""};
	uint32_t events;
	int taken = 0;
	const struct zsink none = {.take = take_nothing, .ctx = &taken};
	if (!f->ops->settle)
		return;
	struct pollfd p = {.fd = f->ops->fd(link, ZLINK_RX, &events), .events = POLLIN};
	assert_true(poll(&p, 1, f->may_be_plain ? 20 : PATIENCE_MS) == 1 || f->may_be_plain);
	assert_int_equal(f->ops->poll(link, &none, 1), 0);
	if (!f->kind->own && !f->endpoint && f->ops->endpoint_open(&f->endpoint, &err) < 0)
		fail_msg("%s", err.text);
	struct zendpoint *rx = f->kind->own ? new_endpoint(f) : f->endpoint,
			 *tx = f->kind->own ? new_endpoint(f) : f->endpoint;
	if (f->ops->settle(link, rx, tx, &err) < 0)
		fail_msg("%s", err.text);
}

/* One message; both ends poll until it is there. */
static void exchange(struct zlink *from, struct zlink *to)
{
	int taken = 0, others = 0, rc;
	const struct zsink sink = {.take = take_nothing, .ctx = &taken}, none = {.take = take_nothing, .ctx = &others};
	while ((rc = post_message(from, 0, 500)) == -EAGAIN || taken == 0) {
		if (rc == 0)
			rc = from->ops->flush(from);
		assert_true(rc == 0 || rc == -EAGAIN);
		do {
			assert_true(from->ops->poll(from, &none, 1) >= 0);
			assert_true(to->ops->poll(to, &sink, 1) >= 0);
			poll(NULL, 0, 1);
		} while (rc == 0 && taken == 0);
		if (taken)
			break;
	}
	assert_int_equal(taken, 1);
	assert_int_equal(others, 0);
}

struct pair fixture_pair(struct fixture *f)
{
	struct pair p;
	p.a = fixture_connect(f);
	p.b = fixture_accept(f);
	fixture_settle(f, p.b);
	for (int i = 0; i < 4 && f->kind->warm; i++) {
		exchange(p.a, p.b);
		exchange(p.b, p.a);
	}
	return p;
}

void pair_close(struct pair *p)
{
	if (p->a)
		p->a->ops->close(p->a);
	if (p->b)
		p->b->ops->close(p->b);
	p->a = p->b = NULL;
}

uint64_t scaled(uint64_t count)
{
	const char *text = getenv("ZIP_TEST_SCALE");
	uint64_t scale = text ? strtoull(text, NULL, 10) : 1;
	return scale > 1 ? count / scale : count;
}

uint32_t mix(uint64_t k)
{
	k = (k + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
	k = (k ^ (k >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)(k >> 32);
}

#define SHIFTS 4093u /* prime, so that a shift by any whole number of messages shows */

/* Filled before any thread is started. */
static uint8_t noise[ZWIRE_MAX_PAYLOAD + SHIFTS];

__attribute__((constructor)) static void fill_noise(void)
{
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)mix(i);
}

const void *payload_of(uint64_t k, size_t len)
{
	return noise + (k * 31 + len) % SHIFTS;
}

static struct zwire_env env_of(uint64_t k, size_t len)
{
	return (struct zwire_env){
		.kind = ZWIRE_EAGER,
		.src = 1,
		.dst = mix(k),
		.comm = ~k,
		.tag = -1,
		.len = (uint32_t)len,
		.seq = k,
		.offset = len,
	};
}

void message_env(uint8_t raw[ZWIRE_ENV_BYTES], uint64_t k, size_t len)
{
	struct zwire_env env = env_of(k, len);
	zwire_encode(raw, &env);
}

int post_message(struct zlink *link, uint64_t k, size_t len)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	message_env(raw, k, len);
	int rc = link->ops->post(link, raw, len ? payload_of(k, len) : NULL, len);
	if (rc != 0 && rc != -EAGAIN)
		fail_msg("post of message %llu: %s", (unsigned long long)k, strerror(-rc));
	return rc;
}

void inbox_init(struct inbox *in)
{
	memset(in, 0, sizeof(*in));
	in->memory = malloc(ZWIRE_MAX_PAYLOAD);
	assert_non_null(in->memory);
}

void inbox_fini(struct inbox *in)
{
	free(in->memory);
}

static void *inbox_place(void *ctx, const struct zwire_env *env)
{
	struct inbox *in = ctx;
	if (in->placed)
		in->wrong = "place was called twice for one message";
	if (env->len == 0)
		in->wrong = "place was called for an empty payload";
	if (!in->place_one_in || mix(env->seq * 3) % in->place_one_in)
		return NULL;
	in->placed = true;
	in->placements++;
	memset(in->memory, 0, env->len < 64 ? env->len : 64);
	return in->memory;
}

/* No assertion here, as it may run in any thread. */
static int inbox_take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct inbox *in = ctx;
	uint8_t expected[ZWIRE_ENV_BYTES];
	if (in->fail_with)
		return in->fail_with;
	if (in->placed != (payload == in->memory))
		in->wrong = "payload is not where it was placed";
	if (!in->placed && in->refuse_one_in && in->refused != env->seq + 1 &&
		mix(env->seq * 5) % in->refuse_one_in == 0) {
		in->refused = env->seq + 1;
		in->refusals++;
		return -EAGAIN;
	}
	in->placed = false;
	message_env(expected, in->next, env->len);
	if (env->seq != in->next || env->comm != ~in->next)
		in->wrong = "message out of order";
	else if (memcmp(raw, expected, sizeof(expected)) != 0)
		in->wrong = "envelope changed on the way";
	else if (env->len && memcmp(payload, payload_of(in->next, env->len), env->len) != 0)
		in->wrong = "payload changed on the way";
	in->next++;
	in->bytes += env->len;
	return in->wrong ? -EBADMSG : 0;
}

struct zsink inbox_sink(struct inbox *in)
{
	return (struct zsink){.place = inbox_place, .take = inbox_take, .ctx = in};
}

bool sleep_on(struct zlink *link, enum zlink_half half, int timeout_ms)
{
	uint32_t events;
	int fd = link->ops->fd(link, half, &events);
	if (link->ops->arm(link, half))
		return true;
	struct pollfd p = {.fd = fd, .events = events & EPOLLIN ? POLLIN : POLLOUT};
	return poll(&p, 1, timeout_ms) == 1;
}

void receive_until(struct zlink *link, struct inbox *in, uint64_t count)
{
	struct zsink sink = inbox_sink(in);
	while (in->next < count) {
		uint64_t left = count - in->next;
		int n = link->ops->poll(link, &sink, left < 16 ? (unsigned)left : 16);
		if (in->wrong)
			fail_msg("message %llu: %s", (unsigned long long)in->next, in->wrong);
		if (n < 0 && n != -EAGAIN)
			fail_msg("poll for message %llu: %s", (unsigned long long)in->next, strerror(-n));
		if (n == 0 && !sleep_on(link, ZLINK_RX, PATIENCE_MS))
			fail_msg("message %llu does not come", (unsigned long long)in->next);
	}
	assert_true(in->next == count);
}

int receive_to_end(struct zlink *link, struct inbox *in)
{
	struct zsink sink = inbox_sink(in);
	for (;;) {
		int n = link->ops->poll(link, &sink, 16);
		if (in->wrong)
			fail_msg("message %llu: %s", (unsigned long long)in->next, in->wrong);
		if (n < 0 && n != -EAGAIN)
			return n;
		if (n == 0 && !sleep_on(link, ZLINK_RX, PATIENCE_MS))
			fail_msg("the peer's end is not noticed");
	}
}

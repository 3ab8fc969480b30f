/* SPDX-License-Identifier: BSD-3-Clause */
/* The real zipperd between two bare ranks: they join, open their channels, and exchange messages as fragments within a
 * window, as libzipper does with large messages. No MPI. README.md tells how to run it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <poll.h>
#include <unistd.h>

#include "bench/measure.h"
#include "common/session/session.h"
#include "common/session/session_attach.h"

#define BUDGET 16
#define TIMEOUT_MS 10000
#define PROCESSES 4 /* two ranks, and zipperd's two workers */
static const char key[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

struct endpoint {
	struct zlink *link;
	struct zwait wait;
	uint32_t me, other, frag, window;
	uint64_t sent, may_send;    /* bytes */
	uint64_t received, granted; /* bytes */
	uint8_t *into;
	size_t left;
};

static bool arm_rx(void *half)
{
	struct zlink *l = half;
	return l->ops->arm(l, ZLINK_RX) == 0;
}

static bool arm_tx(void *half)
{
	struct zlink *l = half;
	return l->ops->arm(l, ZLINK_TX) == 0;
}

static void wait_for(struct endpoint *e, enum zlink_half half)
{
	uint32_t events;
	int fd = e->link->ops->fd(e->link, half, &events);
	struct sleeper s = {fd, events & EPOLLIN ? POLLIN : POLLOUT, half == ZLINK_RX ? arm_rx : arm_tx, e->link};
	measure_wait(&e->wait, &s, 1);
}

static void post(struct endpoint *e, struct zwire_env *env, const void *payload)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	int rc;
	env->src = e->me;
	env->dst = e->other;
	zwire_encode(raw, env);
	while ((rc = e->link->ops->post(e->link, raw, payload, env->len)) == -EAGAIN)
		wait_for(e, ZLINK_TX);
	if (rc < 0)
		measure_die("post: %s", strerror(-rc));
	zwait_reset(&e->wait);
}

static void flush(struct endpoint *e)
{
	while (e->link->ops->flush(e->link) == -EAGAIN)
		wait_for(e, ZLINK_TX);
}

static void *place(void *ctx, const struct zwire_env *env)
{
	struct endpoint *e = ctx;
	return env->kind == ZWIRE_DATA && env->len <= e->left ? e->into : NULL;
}

static int take(void *ctx, const struct zwire_env *env, const uint8_t *raw, const void *payload)
{
	struct endpoint *e = ctx;
	(void)raw;
	if (env->kind == ZWIRE_CTS) {
		e->may_send = env->offset;
		return 0;
	}
	if (env->len > e->left)
		return -EAGAIN;
	if (payload != e->into)
		memcpy(e->into, payload, env->len);
	e->into += env->len;
	e->left -= env->len;
	e->received += env->len;
	return 0;
}

static void look(struct endpoint *e)
{
	struct zsink sink = {.place = place, .take = take, .ctx = e};
	int n = e->link->ops->poll(e->link, &sink, BUDGET);
	if (n < 0 && n != -EAGAIN)
		measure_die("poll: %s", strerror(-n));
	if (n > 0)
		zwait_reset(&e->wait);
	else
		wait_for(e, ZLINK_RX);
	if (e->granted - e->received < e->window / 2) {
		e->granted = e->received + e->window;
		post(e, &(struct zwire_env){.kind = ZWIRE_CTS, .offset = e->granted}, NULL);
		flush(e);
	}
}

static void send_message(void *ctx, const void *bytes, size_t len)
{
	struct endpoint *e = ctx;
	for (size_t done = 0; done < len;) {
		size_t n = len - done < e->frag ? len - done : e->frag;
		while (e->sent + n > e->may_send)
			look(e);
		post(e, &(struct zwire_env){.kind = ZWIRE_DATA, .len = (uint32_t)n, .offset = done},
			(const uint8_t *)bytes + done);
		done += n;
		e->sent += n;
	}
	flush(e);
}

static void receive_message(void *ctx, void *bytes, size_t len)
{
	struct endpoint *e = ctx;
	e->into = bytes;
	e->left = len;
	while (e->left)
		look(e);
}

static void join(struct endpoint *e, const struct zaddr *addr, const char *part, struct zsession **session)
{
	struct zsession_params p = {.zipper = *addr,
		.user = "bench",
		.job = "bench",
		.auth = &zauth_module,
		.timeout_ms = TIMEOUT_MS};
	struct zctl_join in =
		{.size = 1, .parts = "a,b", .host = "here", .vrank = ZCTL_VRANK_ANY, .endpoints = 1, .nrails = 1};
	struct zctl_world w;
	struct zerr err;
	snprintf(in.part, sizeof(in.part), "%s", part);
	if (zauth_module.parse_key(p.key, key, &err) != 0 || zsession_open(session, &p, ZCTL_SERVICE_RANK, &err) != 0 ||
		zsession_join(*session, &in, &w, &err) != 0)
		measure_die("%s", err.text);
	const struct zctl_attach a = {.vrank = w.vrank, .part = !w.vrank};
	const struct zsession_way way = {.zipper = addr,
		.user = p.user,
		.job = p.job,
		.key = zsession_key(*session),
		.seal = zsession_seal(*session),
		.auth = &zauth_module};
	if (zsession_attach_to(&e->link, &way, &a, NULL, TIMEOUT_MS, &err) != 0)
		measure_die("%s", err.text);
	e->me = w.vrank;
	e->other = !w.vrank;
	e->frag = w.frag_bytes ? w.frag_bytes : e->link->ops->fragment_bytes;
	e->window = w.rdv_window;
	e->granted = e->may_send = e->window;
	zwait_init(&e->wait, PROCESSES > zwait_cores());
	zctl_world_free(&w);
}

static void leave(struct endpoint *e, struct zsession *session)
{
	post(e, &(struct zwire_env){.kind = ZWIRE_BYE}, NULL);
	flush(e);
	zsession_close(session);
	e->link->ops->close(e->link);
}

/* The address that zipperd prints, one for both fabrics. */
static pid_t start_daemon(const char *dir, const char *listen, struct zaddr *addr)
{
	char keys[128], option[160], key_option[160], text[512] = "";
	int ready[2];
	struct zerr err;
	const char *program = getenv("ZIPPERD") ? getenv("ZIPPERD") : "../zipperd/zipperd";
	snprintf(keys, sizeof(keys), "%s/keys", dir);
	FILE *f = fopen(keys, "w");
	if (!f || fchmod(fileno(f), 0600) != 0 || fprintf(f, "bench %s\n", key) < 0 || fclose(f) != 0 ||
		pipe(ready) != 0)
		measure_die("%s: %s", keys, strerror(errno));
	snprintf(option, sizeof(option), "listen=a,b=%s", listen);
	snprintf(key_option, sizeof(key_option), "key_file=%s", keys);
	pid_t pid = fork();
	if (pid == 0) {
		char number[16];
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(number, sizeof(number), "%d", ready[1]);
		execl(program, "zipperd", "-o", option, "-o", key_option, "-o", "log_level=warn", "--ready-fd", number,
			(char *)NULL);
		measure_die("%s: %s", program, strerror(errno));
	}
	close(ready[1]);
	FILE *in = fdopen(ready[0], "r");
	if (pid < 0 || !in || !fgets(text, sizeof(text), in) || !strchr(text, '='))
		measure_die("zipperd did not start");
	fclose(in);
	text[strcspn(text, "\n")] = '\0';
	if (zaddr_parse(addr, strchr(text, '=') + 1, &err) != 0)
		measure_die("%s", err.text);
	return pid;
}

/* The words behind the contestant's address; NULL: there is no such contestant. */
static const char *words_of(const char *name)
{
	static const char *const known[][2] = {{"tcp", ""}, {"shm", ""}, {"integrity", "/integrity=yes"},
		{"encrypt", "/encrypt=yes"}};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i][0]) == 0)
			return known[i][1];
	return NULL;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/zip-bench-XXXXXX", listen[64], path[64], title[64];
	struct endpoint e = {0};
	struct carrier c = {send_message, receive_message, &e};
	struct zsession *session;
	struct zaddr addr;
	int status = 0;
	const char *words = argc == 2 ? words_of(argv[1]) : NULL;
	if (!words) {
		fputs("usage: forward tcp|shm|integrity|encrypt\n", stderr);
		return 2;
	}
	if (!mkdtemp(dir))
		measure_die("mkdtemp: %s", strerror(errno));
	if (strcmp(argv[1], "shm") == 0)
		snprintf(listen, sizeof(listen), "shm:%s/sock", dir);
	else
		snprintf(listen, sizeof(listen), "tcp:127.0.0.1:0%s", words);
	pid_t zipperd = start_daemon(dir, listen, &addr);
	pid_t receiver = fork();
	if (receiver == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		join(&e, &addr, "b", &session);
		measure_receive(&c, &measure_default_plan);
		leave(&e, session);
		exit(0);
	}
	join(&e, &addr, "a", &session);
	snprintf(title, sizeof(title), "zipperd, %s", argv[1]);
	measure_send(&c, &measure_default_plan, title);
	leave(&e, session);
	waitpid(receiver, &status, 0);
	kill(zipperd, SIGTERM);
	waitpid(zipperd, NULL, 0);
	snprintf(path, sizeof(path), "%s/keys", dir);
	unlink(path);
	rmdir(dir);
	return status != 0;
}

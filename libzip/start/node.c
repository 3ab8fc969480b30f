/* SPDX-License-Identifier: BSD-3-Clause */
/* The zipperd of this node, see node.h. */
#include "libzip/start/node.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/installed.h"
#include "common/base/log.h"
#include "libzip/start/env.h"
#include "libzip/start/launcher.h"

#define FABRIC "(node)"	     /* of the ranks, as the node's zipperd knows it */
#define START_MS 10000	     /* for the node's zipperd to listen */
#define START_ITSELF_MS 2000 /* without a zipperd, until a rank that is not the first one starts it */
#define LOOK_MS 20

extern char **environ;

/* The name of the fabric by which our part comes to the zipper: its element of the entries, without hops. */
static void find_fabric(char out[ZCTL_NAME_MAX + 1], const char *entries, const struct zctl_join *join)
{
	const char *part = join->parts, *at = entries;
	const size_t len = strlen(join->part);

	snprintf(out, ZCTL_NAME_MAX + 1, "%s", join->part);
	while (*at && !(strncmp(part, join->part, len) == 0 && (part[len] == ',' || part[len] == '\0'))) {
		part += strcspn(part, ",");
		at += strcspn(at, ",");
		part += *part == ',';
		at += *at == ',';
	}
	if (*at)
		snprintf(out, ZCTL_NAME_MAX + 1, "%.*s", (int)strcspn(at, ",+"), at);
}

/* Is the zipper on another host, and reached without hops? Only such a way gains. */
static bool is_far(const struct zhops *way)
{
	return way->n == 0 && !zaddr_traits(&way->first)->this_host;
}

static void find_program(char path[PATH_MAX], const struct zenv *env)
{
	if (env->node_program) {
		snprintf(path, PATH_MAX, "%s", env->node_program);
		return;
	}
	zinstalled_find(path, zenv_rows, PKGLIBDIR, SBINDIR, "zipperd");
	if (strlen(path) + sizeof("/zipperd") <= PATH_MAX)
		strcat(path, "/zipperd");
}

static bool is_wanted(const struct zenv *env, const struct zhops *ways, int n, int here)
{
	char program[PATH_MAX];
	bool far = false;

	for (int i = 0; i < n; i++)
		far |= is_far(&ways[i]);
	if (!far || env->node == ZSESSION_NODE_NO)
		return false;
	find_program(program, env);
	return env->node == ZSESSION_NODE_YES || (here >= ZSESSION_NODE_RANKS && access(program, X_OK) == 0);
}

/* The same for the ranks of our part and job on this host, and known to nobody without the key. */
static int name_socket(struct zaddr *out, const struct zsession_params *p, const struct zctl_join *join,
	struct zerr *err)
{
	uint8_t hash[ZAUTH_KEY_BYTES];
	char text[64];

	/* Any number that no credential ends at makes a hash of its own. */
	p->auth->derive(hash, p->key, p->job, join->part, UINT64_MAX);
	int n = snprintf(text, sizeof(text), "shm:@zipper-node-%u-", (unsigned)geteuid());
	for (int i = 0; i < 8; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%02x", hash[i]);
	return zaddr_parse(out, text, err);
}

/* With the node's zipperd: while there is one it stays. */
static struct zsession *presence;

/* 0; -ECONNREFUSED: nobody listens; others with text. */
static int greet(const struct zsession_params *p, const struct zaddr *addr, struct zerr *err)
{
	struct zsession_params own = *p;

	own.zipper = *addr;
	own.hops = NULL;
	own.nhops = 0;
	own.passes = NULL;
	own.who = "the zipperd of this node";
	const int rc = zsession_open(&presence, &own, ZCTL_SERVICE_RANK, err);
	p->auth->wipe(own.key, sizeof(own.key));
	return rc;
}

void znode_leave(void)
{
	if (presence)
		zsession_close(presence);
	presence = NULL;
}

struct words { /* a command line */
	char *word[64];
	int n;
};

static void add(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct words *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (w->n < (int)(sizeof(w->word) / sizeof(w->word[0])) - 1 && vasprintf(&w->word[w->n], fmt, ap) >= 0)
		w->n++;
	va_end(ap);
	w->word[w->n] = NULL;
}

static void add_option(struct words *w, const char *option)
{
	add(w, "-o");
	add(w, "%s", option);
}

static void free_words(struct words *w)
{
	while (w->n > 0)
		free(w->word[--w->n]);
}

/* Of a daemon: nothing preloaded, nothing of the job. NULL: no memory. */
static char **make_environment(void)
{
	size_t n = 0, kept = 0;

	while (environ[n])
		n++;
	char **out = malloc((n + 1) * sizeof(*out));
	for (size_t i = 0; out && i < n; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 && strncmp(environ[i], "ZIPPER_", 7) != 0 &&
			strncmp(environ[i], "PMI", 3) != 0)
			out[kept++] = environ[i];
	if (out)
		out[kept] = NULL;
	return out;
}

/* Starts the program with this descriptor as standard input. 0 or a positive errno. */
static int start(const char *program, char *const argv[], int input)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;
	char **envp = make_environment();
	int rc = envp ? posix_spawn_file_actions_init(&files) : ENOMEM;

	if (rc != 0)
		goto out;
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", 1, 0);
	rc = posix_spawn(&pid, program, &files, &attr, argv, envp);
	while (rc == 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) /* it goes on in a child of its own */
		;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
out:
	free(envp);
	return rc;
}

/* The key goes through a pipe, where nobody can see it. */
static int write_key(int fd, const struct zsession_params *p)
{
	char line[512], hex[2 * ZAUTH_KEY_BYTES + 1];

	for (int i = 0; i < ZAUTH_KEY_BYTES; i++)
		sprintf(hex + 2 * i, "%02x", p->key[i]);
	const int len =
		snprintf(line, sizeof(line), "%s %s %llu %s\n", p->user, p->job, (unsigned long long)p->expires_s, hex);
	const bool whole = write(fd, line, (size_t)len) == len;
	explicit_bzero(line, sizeof(line));
	explicit_bzero(hex, sizeof(hex));
	return whole ? 0 : EIO;
}

/* Does the way lead over the node's zipperd? */
static bool is_led(const struct zhops *way)
{
	return way->n > 0 && strcmp(way->hop[0].from, FABRIC) == 0;
}

/* Does a way before that one go on by the same fabric? */
static bool is_listed(const struct zhops *ways, int i)
{
	for (int k = 0; k < i; k++)
		if (is_led(&ways[k]) && strcmp(ways[k].hop[0].to, ways[i].hop[0].to) == 0)
			return true;
	return false;
}

static int start_zipperd(const struct zenv *env, const struct zsession_params *p, const struct zaddr *addr,
	const struct zhops *ways, int n, struct zerr *err)
{
	char path[PATH_MAX], listen[1024] = "listen=" FABRIC, at[128];
	struct words w = {.n = 0};
	int fd[2];

	find_program(path, env);
	zaddr_format(addr, at, sizeof(at));
	add(&w, "zipperd");
	add(&w, "--node");
	for (int i = 0; i < n; i++) {
		char next[ZCTL_NAME_MAX + 16];
		if (!is_led(&ways[i]) || is_listed(ways, i))
			continue;
		snprintf(listen + strlen(listen), sizeof(listen) - strlen(listen), ",%s", ways[i].hop[0].to);
		snprintf(next, sizeof(next), "next=%s", ways[i].hop[0].to);
		add_option(&w, next);
	}
	snprintf(listen + strlen(listen), sizeof(listen) - strlen(listen), "=%s", at);
	add_option(&w, listen);
	add_option(&w, "trunks=yes");
	add_option(&w, "log_level=warn");
	add(&w, "-o");
	add(&w, "module_dir=%s", env->module_dir);
	int rc = pipe2(fd, O_CLOEXEC) == 0 ? 0 : errno;
	if (rc == 0) {
		rc = write_key(fd[1], p);
		close(fd[1]);
		if (rc == 0)
			rc = start(path, w.word, fd[0]);
		close(fd[0]);
	}
	free_words(&w);
	return rc == 0 ? 0 : zerr_set(err, -rc, "%s: %s", path, strerror(rc));
}

/* Nobody listens, or one that is ending. */
static bool is_missing(int rc)
{
	return rc == -ECONNREFUSED || rc == -ECONNRESET || rc == -EPIPE || rc == -ESHUTDOWN;
}

/* Waits until it listens. The first rank starts it; another one does, too, if nobody has. */
static int await_zipperd(const struct zenv *env, const struct zsession_params *p, const struct zaddr *addr,
	const struct zhops *ways, int n, int number, struct zerr *err)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	const int64_t begun_ms = zclock_ms();
	bool started = false;
	int rc;

	while (is_missing(rc = greet(p, addr, err))) {
		const int64_t waited_ms = zclock_ms() - begun_ms;
		if (waited_ms >= START_MS)
			return zerr_set(err, -ETIMEDOUT, "the zipperd of this node does not start");
		if (!started && (number <= 0 || waited_ms >= START_ITSELF_MS)) {
			rc = start_zipperd(env, p, addr, ways, n, err);
			if (rc != 0)
				return rc;
			started = true;
		}
		nanosleep(&pause, NULL);
	}
	return rc;
}

int znode_enter(const struct zenv *env, const struct zsession_params *p, const struct zctl_join *join,
	struct zhops *ways, const char (*entries)[ZCTL_ENTRIES_MAX], int n, struct zerr *err)
{
	struct zaddr addr;
	int here, number;

	zlauncher_local(&number, &here);
	if (!is_wanted(env, ways, n, here) || p->munge)
		return 0;
	int rc = name_socket(&addr, p, join, err);
	if (rc != 0)
		return rc;
	for (int i = 0; i < n; i++) {
		if (!is_far(&ways[i]))
			continue;
		struct zhop *hop = &ways[i].hop[0];
		snprintf(hop->from, sizeof(hop->from), FABRIC);
		find_fabric(hop->to, entries[i], join);
		hop->addr = ways[i].first;
		if (hop->addr.seal == 0) /* the zipper says what protects its connections, as to ranks */
			hop->addr.seal = 1 + ZSEAL_NONE;
		ways[i].first = addr;
		ways[i].n = 1;
	}
	rc = await_zipperd(env, p, &addr, ways, n, number, err);
	if (rc == 0)
		return 0;
	if (env->node == ZSESSION_NODE_YES)
		return zerr_prefix(err, rc, "ZIPPER_NODE");
	zlog(number > 0 ? ZLOG_INFO : ZLOG_WARN, "the ranks of this node do not share connections (ZIPPER_NODE): %s",
		err->text);
	for (int i = 0; i < n; i++)
		if (is_led(&ways[i])) {
			ways[i].first = ways[i].hop[0].addr;
			ways[i].n = 0;
		}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts probes on hosts and takes what they say, see visit.h. */
#include "launch/check/visit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "launch/base/process.h"

#define AT_A_TIME 16
#define LOOK_MS 50
#define OUTPUT_MAX_BYTES (256 * 1024) /* of one visit; the rest is dropped */

/* The time by the clock that hosts are compared with. */
static int64_t wall_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_both(int fd[2])
{
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

static int spawn(struct zvisit *v, const struct zpart_params *p, int out[2], int errs[2])
{
	struct zargv argv = {0}, envp = {0};
	int rc = zpart_command(&argv, &v->place, p, &v->failed);
	zenviron_build(&envp, &p->environ);
	if (rc == 0 && envp.failed)
		rc = zerr_set(&v->failed, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = zprocess_pipe(out, &v->failed);
	if (rc == 0)
		rc = zprocess_pipe(errs, &v->failed);
	if (rc == 0) {
		struct zspawn s = {.argv = argv.words, .envp = envp.words, .fd = {-1, out[1], errs[1], -1}};
		rc = zprocess_spawn(&s, &v->failed);
	}
	zargv_free(&argv);
	zargv_free(&envp);
	return rc;
}

static void start(struct zvisit *v, struct zpart_params *p, int limit_ms)
{
	int out[2] = {-1, -1}, errs[2] = {-1, -1};
	p->options = &v->options;
	v->began_ms = wall_ms();
	int rc = spawn(v, p, out, errs);
	v->fd[0] = out[0];
	v->fd[1] = errs[0];
	out[0] = errs[0] = -1;
	close_both(out);
	close_both(errs);
	v->pid = rc > 0 ? rc : 0;
	v->end_ms = zclock_ms() + limit_ms;
	if (rc <= 0)
		close_both(v->fd);
}

static void add(char **text, size_t *len, const char *more, size_t n)
{
	char *longer = *len + n < OUTPUT_MAX_BYTES ? realloc(*text, *len + n + 1) : NULL;
	if (!longer)
		return;
	memcpy(longer + *len, more, n);
	*len += n;
	longer[*len] = '\0';
	*text = longer;
}

/* Reads what is there. */
static void take(struct zvisit *v)
{
	char text[4096];
	for (int i = 0; i < 2; i++) {
		struct pollfd p = {.fd = v->fd[i], .events = POLLIN};
		while (p.fd >= 0 && poll(&p, 1, 0) > 0) {
			ssize_t n = read(p.fd, text, sizeof(text));
			if (n <= 0) {
				close(p.fd);
				v->fd[i] = p.fd = -1;
			} else {
				add(i == 0 ? &v->output : &v->errors, &v->len[i], text, (size_t)n);
			}
		}
	}
}

static void end(struct zvisit *v)
{
	take(v);
	close_both(v->fd);
	v->pid = 0;
	v->ended_ms = wall_ms();
}

/* Its processes end with their mpiexec. */
static void stop(struct zvisit *v)
{
	kill(-v->pid, SIGKILL);
	waitpid(v->pid, NULL, 0);
	end(v);
}

static void tick(struct zvisit *v, int64_t now)
{
	char text[128];
	take(v);
	if (waitpid(v->pid, NULL, WNOHANG) == v->pid) {
		end(v);
	} else if (v->len[0] == 0 && zreach_has_failed(&v->reach, v->pid, false, now, text, sizeof(text))) {
		zerr_set(&v->failed, -EHOSTUNREACH, "%s", text);
		stop(v);
	} else if (now >= v->end_ms) {
		v->late = true;
		stop(v);
	}
}

void zvisit_all(struct zvisit *v, int n, int limit_ms, struct zpart_params *p,
	void (*fill)(void *ctx, int part, struct zenviron *), void *ctx)
{
	int next = 0, running = 0;
	while (next < n || running > 0) {
		for (; next < n && running < AT_A_TIME; next++) {
			fill(ctx, v[next].part, &p->environ);
			start(&v[next], p, limit_ms);
			running += v[next].pid > 0;
		}
		poll(NULL, 0, LOOK_MS);
		running = 0;
		for (int i = 0; i < next; i++) {
			if (v[i].pid > 0)
				tick(&v[i], zclock_ms());
			running += v[i].pid > 0;
		}
	}
	for (int i = 0; i < n; i++) {
		add(&v[i].output, &v[i].len[0], "", 0);
		add(&v[i].errors, &v[i].len[1], "", 0);
	}
}

void zvisit_free(struct zvisit *v)
{
	free(v->output);
	free(v->errors);
	v->output = v->errors = NULL;
	for (int i = 0; v->words && i < v->options.nsections; i++)
		zargv_free(&v->words[i]);
	free(v->words);
	free(v->options.sections);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and stops zipperds of our own. */
#include "launch/start/daemon.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/base/argv.h"
#include "common/base/clock.h"
#include "common/config/conf_value.h"
#include "launch/base/environ.h"
#include "launch/base/process.h"
#include "common/transport/verbs/device/verbs_options.h"

#define START_MS                                                                                                       \
	60000 /* until it must listen, for busy machines and slow name look-ups; its end would be seen at once */
#define STOP_MS 1000

extern char **environ;

/* Writes the name of this daemon's file of a kind, as "keys1". Returns buf. */
static const char *file_name(const struct zdaemon_params *p, const char *kind, char buf[32])
{
	snprintf(buf, 32, "%s%d", kind, p->number);
	return buf;
}

static int write_key(const struct zdaemon_params *p, const struct zscratch *scratch, struct zerr *err)
{
	char line[ZCTL_NAME_MAX + 80], name[32];
	int n = snprintf(line, sizeof(line), "%s %s\n", p->user, p->key);
	int rc = zscratch_write(scratch, file_name(p, "keys", name), line, (size_t)n, err);
	explicit_bzero(line, sizeof(line));
	return rc;
}

static void print_listen(FILE *out, const struct zdaemon_params *p, const struct zroute *route,
	const struct zscratch *scratch)
{
	char text[320], name[32];
	int nshm = 0;
	for (int i = 0; i < route->nports; i++) {
		if (zaddr_traits(&route->port[i].addr)->this_host) {
			nshm++;
			continue;
		}
		zaddr_format(&route->port[i].addr, text, sizeof(text));
		fprintf(out, "listen = \"%s=%s\"\n", route->port[i].fabric, text);
	}
	if (nshm == 0)
		return;
	fputs("listen = \"", out);
	for (int i = 0; i < route->nports; i++)
		if (zaddr_traits(&route->port[i].addr)->this_host)
			fprintf(out, "%s%s", route->port[i].fabric, --nshm ? "," : "");
	fprintf(out, "=shm:%s/%s\"\n", scratch->dir, file_name(p, "socket", name));
}

/* Prints the fabrics over which zipperd may connect ranks with other zipperds. */
static void print_next(FILE *out, const struct zroute *route)
{
	for (int i = 0; i < route->nports; i++)
		if (route->next >> i & 1)
			fprintf(out, "next = \"%s\"\n", route->port[i].fabric);
}

/* Settings that zipperd must share with the ranks: partition and addresses. */
struct shared {
	struct zverbs_options verbs;
};
static const struct zconf_row shared_rows[] = {ZVERBS_ROWS(struct shared), {.name = NULL}};

static int print_shared(FILE *out, const struct zargv *globals, struct zerr *err)
{
	struct shared shared;
	char name[64], text[64];
	int rc = 0;
	for (const struct zconf_row *row = shared_rows; rc == 0 && row->name; row++) {
		snprintf(name, sizeof(name), "ZIPPER_%s", row->name);
		for (char *p = name; *p; p++)
			*p = (char)toupper((unsigned char)*p);
		const char *value = zenviron_find(globals, name);
		if (!value)
			continue;
		rc = zconf_set(shared_rows, &shared, row->name, value, name, err);
		if (rc == 0)
			fprintf(out, "%s = %s\n", row->name, zconf_value_format(row, &shared, text, sizeof(text)));
	}
	return rc;
}

static int write_conf(const struct zdaemon_params *p, const struct zroute *route, const struct zscratch *scratch,
	struct zerr *err)
{
	char *text = NULL, name[32];
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	if (!out)
		return zerr_set(err, -ENOMEM, "out of memory");
	print_listen(out, p, route, scratch);
	print_next(out, route);
	fprintf(out, "key_file = \"%s/%s\"\njoin_timeout = %ds\nlog_level = %s\n", scratch->dir,
		file_name(p, "keys", name), p->join_timeout_s, p->verbose ? "info" : "error");
	/* Nobody else uses this zipperd: it may have as many connections as descriptors. */
	fprintf(out, "max_connections = %d\n", 1 << 22);
	if (p->module_dir)
		fprintf(out, "module_dir = \"%s\"\n", p->module_dir);
	if (p->cpus)
		fprintf(out, "cpus = %s\n", p->cpus);
	int rc = print_shared(out, p->globals, err);
	if (fclose(out) != 0 && rc == 0)
		rc = zerr_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = zscratch_write(scratch, file_name(p, "conf", name), text, len, err);
	free(text);
	return rc;
}

/* Parses "fabric[,fabric]=address": where zipperd listens. */
static int take_address(struct zroute *route, char *line, struct zerr *err)
{
	struct zaddr addr;
	char *equals = strchr(line, '='), *rest;
	if (!equals)
		return zerr_set(err, -EPROTO, "zipperd said '%.64s' when it was ready", line);
	*equals = '\0';
	int rc = zaddr_parse(&addr, equals + 1, err);
	for (char *name = strtok_r(line, ",", &rest); rc == 0 && name; name = strtok_r(NULL, ",", &rest))
		for (int i = 0; i < route->nports; i++)
			if (strcmp(route->port[i].fabric, name) == 0)
				route->port[i].addr = addr;
	return rc;
}

/* Reads zipperd's words on its ready descriptor up to the empty line. -EPIPE: zipperd ended instead. */
static int read_ready(int fd, struct zroute *route, struct zerr *err)
{
	char text[ZCTL_PARTS_MAX * 400];
	size_t len = 0;
	int64_t deadline = zclock_ms() + START_MS;
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left = deadline - zclock_ms();
		if (left <= 0)
			return zerr_set(err, -ETIMEDOUT, "zipperd does not get ready");
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		ssize_t n = read(fd, text + len, sizeof(text) - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return zerr_set(err, -EPIPE, "zipperd ended before it was ready");
		len += (size_t)n;
		text[len] = '\0';
		char *line = text;
		for (char *newline; (newline = strchr(line, '\n')); line = newline + 1) {
			*newline = '\0';
			if (*line == '\0')
				return 0;
			int rc = take_address(route, line, err);
			if (rc < 0)
				return rc;
		}
		len -= (size_t)(line - text);
		memmove(text, line, len + 1);
	}
}

/* Puts the last line of zipperd's log into err: zipperd knows best why it did not start. */
static void take_reason(int log, struct zerr *err)
{
	char text[2048];
	fcntl(log, F_SETFL, O_NONBLOCK);
	ssize_t n, len = 0;
	while (len < (ssize_t)sizeof(text) - 1 && (n = read(log, text + len, sizeof(text) - 1 - (size_t)len)) > 0)
		len += n;
	while (len > 0 && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	char *line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (strncmp(line, "zipperd: ", 9) == 0)
		line += 9;
	if (strncmp(line, "error: ", 7) == 0)
		line += 7;
	if (*line)
		zerr_set(err, -EPIPE, "zipperd did not start: %s", line);
}

static pid_t spawn(const struct zdaemon_params *p, const struct zscratch *scratch, int log, int ready, struct zerr *err)
{
	struct zargv argv = {0};
	char name[32];
	zargv_add(&argv, p->path);
	zargv_add(&argv, "-c");
	zargv_addf(&argv, "%s/%s", scratch->dir, file_name(p, "conf", name));
	zargv_add(&argv, "--ready-fd");
	zargv_add(&argv, "3");
	zargv_add(&argv, "--die-with-parent");
	struct zspawn s = {.argv = argv.words, .envp = environ, .fd = {-1, log, log, ready}};
	pid_t pid = argv.failed ? zerr_set(err, -ENOMEM, "out of memory") : zprocess_spawn(&s, err);
	zargv_free(&argv);
	return pid;
}

int zdaemon_start(struct zdaemon *d, const struct zdaemon_params *p, struct zroute *route,
	const struct zscratch *scratch, struct zerr *err)
{
	int log[2], ready[2];
	d->pid = 0;
	d->log = -1;
	int rc = write_key(p, scratch, err);
	if (rc == 0)
		rc = write_conf(p, route, scratch, err);
	if (rc == 0)
		rc = zprocess_pipe(log, err);
	if (rc < 0)
		return rc;
	rc = zprocess_pipe(ready, err);
	if (rc < 0)
		goto err_log;
	pid_t pid = spawn(p, scratch, log[1], ready[1], err);
	close(log[1]);
	close(ready[1]);
	log[1] = -1;
	if (pid < 0) {
		rc = pid;
		goto err_ready;
	}
	d->pid = pid;
	rc = read_ready(ready[0], route, err);
	if (rc < 0) {
		zdaemon_stop(d, 1);
		take_reason(log[0], err);
		goto err_ready;
	}
	close(ready[0]);
	d->log = log[0];
	return 0;

err_ready:
	close(ready[0]);
err_log:
	close(log[0]);
	if (log[1] >= 0)
		close(log[1]);
	return rc;
}

void zdaemon_stop(struct zdaemon *daemons, int n)
{
	for (int i = 0; i < n; i++)
		if (daemons[i].pid > 0)
			kill(daemons[i].pid, SIGTERM);
	int64_t deadline = zclock_ms() + STOP_MS;
	for (int i = 0; i < n; i++) {
		while (daemons[i].pid > 0 && waitpid(daemons[i].pid, NULL, WNOHANG) == 0) {
			if (zclock_ms() >= deadline)
				kill(daemons[i].pid, SIGKILL);
			poll(NULL, 0, 5);
		}
		daemons[i].pid = 0;
	}
}

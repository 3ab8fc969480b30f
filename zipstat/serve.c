/* SPDX-License-Identifier: BSD-3-Clause */
/* The HTTP server, by libmicrohttpd; see serve.h. Its one thread asks the zippers when somebody asks for them. */
#include "zipstat/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "zipstat/metrics.h"
#include "zipstat/page.h"
#include "zipstat/status_json.h"
#include "zipstat/zippers.h"

#define ANSWER_MS 3000	   /* the time that a zipperd has */
#define FRESH_MS 1000	   /* answers that are no older are good for the next question, too */
#define CONNECTIONS_MAX 64 /* of browsers and collectors */
#define IDLE_S 60	   /* until an idle one is closed */
#define POLICY "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"

struct server {
	struct zippers zippers;
	int64_t asked_ms; /* 0: never */
	bool local;	  /* listens on a loopback address */
};

union where {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int parse_listen(union where *w, const char *text, struct zerr *err)
{
	char host[64];
	const char *colon = strrchr(text, ':');
	const bool six = text[0] == '[';
	char *end = NULL;
	const size_t len = colon ? (size_t)(colon - text) - (six ? 2 : 0) : 0;
	const unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
	memset(w, 0, sizeof(*w));
	if (!colon || colon[1] < '0' || colon[1] > '9' || *end || port > 65535 || colon - text < (six ? 3 : 1) ||
		len >= sizeof(host) || (six && colon[-1] != ']'))
		return zerr_set(err, -EINVAL, "--listen %.80s: expected IP:PORT, or [IP]:PORT for IPv6", text);
	memcpy(host, text + six, len);
	host[len] = '\0';
	w->v4.sin_family = AF_INET;
	w->v4.sin_port = htons((uint16_t)port);
	if (!six && inet_pton(AF_INET, host, &w->v4.sin_addr) == 1)
		return 0;
	memset(w, 0, sizeof(*w));
	w->v6.sin6_family = AF_INET6;
	w->v6.sin6_port = htons((uint16_t)port);
	if (six && inet_pton(AF_INET6, host, &w->v6.sin6_addr) == 1)
		return 0;
	return zerr_set(err, -EINVAL, "--listen %.80s: '%.60s' is no IP address", text, host);
}

static bool is_loopback(const union where *w)
{
	if (w->any.sa_family == AF_INET)
		return ntohl(w->v4.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&w->v6.sin6_addr);
}

/* A page of another site whose name leads here must not read what is meant for this host's users. */
static bool is_for_us(const struct server *s, struct MHD_Connection *c)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	if (!s->local || !host)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t len = strlen(names[i]);
		if (strncmp(host, names[i], len) == 0 && (host[len] == '\0' || host[len] == ':'))
			return true;
	}
	return false;
}

static void refresh(struct server *s)
{
	const int64_t now = zclock_ms();
	if (s->asked_ms != 0 && now - s->asked_ms < FRESH_MS)
		return;
	zippers_ask(&s->zippers);
	s->asked_ms = zclock_ms();
}

static void print_json(const struct zippers *z, FILE *out)
{
	fputs("{\"zippers\":[", out);
	for (int i = 0; i < z->count; i++) {
		if (i > 0)
			fputc(',', out);
		if (z->zipper[i].rc == 0)
			status_json_print(&z->zipper[i].snapshot, z->zipper[i].as.address, out);
		else
			status_json_print_error(z->zipper[i].as.address, z->zipper[i].err.text, out);
	}
	fputs("]}\n", out);
}

static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, const char *type, const void *body, size_t len,
	enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(len, (void *)(uintptr_t)body, mode);
	if (!r) {
		if (mode == MHD_RESPMEM_MUST_FREE)
			free((void *)(uintptr_t)body);
		return MHD_NO;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "Content-Security-Policy", POLICY);
	enum MHD_Result rc = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result reply_line(struct MHD_Connection *c, unsigned status, const char *line)
{
	return reply(c, status, "text/plain", line, strlen(line), MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result reply_fresh(struct server *s, struct MHD_Connection *c, const char *type,
	void (*print)(const struct zippers *, FILE *))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	if (!out)
		return MHD_NO;
	refresh(s);
	print(&s->zippers, out);
	if (fclose(out) != 0) {
		free(text);
		return MHD_NO;
	}
	return reply(c, MHD_HTTP_OK, type, text, len, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *url, const char *method,
	const char *version, const char *upload, size_t *upload_len, void **state)
{
	struct server *s = arg;
	(void)version, (void)upload, (void)upload_len, (void)state;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return reply_line(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
	if (!is_for_us(s, c))
		return reply_line(c, MHD_HTTP_FORBIDDEN,
			"this server listens on a loopback address, under no other name\n");
	if (strcmp(url, "/") == 0)
		return reply(c, MHD_HTTP_OK, "text/html; charset=utf-8", page_html, strlen(page_html),
			MHD_RESPMEM_PERSISTENT);
	if (strcmp(url, "/metrics") == 0)
		return reply_fresh(s, c, "text/plain; version=0.0.4; charset=utf-8", metrics_print);
	if (strcmp(url, "/status.json") == 0)
		return reply_fresh(s, c, "application/json", print_json);
	return reply_line(c, MHD_HTTP_NOT_FOUND, "there is /, /metrics and /status.json\n");
}

static void wait_for_signal(void)
{
	sigset_t set;
	int sig;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigwait(&set, &sig);
}

/* Before the server's thread begins, which must not take them. */
static void block_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int serve(struct server *s, const union where *w, const char *listen, struct zerr *err)
{
	const unsigned flags =
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO | (w->any.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);
	errno = 0;
	struct MHD_Daemon *d = MHD_start_daemon(flags, 0, NULL, NULL, answer, s, MHD_OPTION_SOCK_ADDR, &w->any,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
		MHD_OPTION_END);
	if (!d)
		return zerr_set(err, errno ? -errno : -EIO, "cannot listen on %s: %s", listen,
			strerror(errno ? errno : EIO));
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT);
	const char *colon = strrchr(listen, ':');
	printf("http://%.*s:%u/ and /metrics\n", (int)(colon - listen), listen, info ? info->port : 0u);
	fflush(stdout);
	wait_for_signal();
	MHD_stop_daemon(d);
	return 0;
}

/* Says at once what is wrong with a zipper. It is asked again all the same, as it may come back. */
static void warn(struct server *s)
{
	zippers_ask(&s->zippers);
	for (int i = 0; i < s->zippers.count; i++)
		if (s->zippers.zipper[i].rc != 0)
			zlog(ZLOG_WARN, "%s", s->zippers.zipper[i].err.text);
}

int serve_run(const struct serve_options *o, struct zerr *err)
{
	const struct ask_options as = {.user = o->user, .timeout_ms = ANSWER_MS};
	struct server s = {.asked_ms = 0};
	union where w;
	block_signals();
	int rc = parse_listen(&w, o->listen, err);
	if (rc == 0)
		rc = zippers_init(&s.zippers, o->address, o->naddresses, &as, err);
	if (rc < 0)
		return rc;
	s.local = is_loopback(&w);
	warn(&s);
	rc = serve(&s, &w, o->listen, err);
	zippers_fini(&s.zippers);
	return rc;
}

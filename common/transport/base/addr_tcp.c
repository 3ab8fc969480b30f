/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of TCP, see addr_tcp.h. */
#include "common/transport/base/addr_tcp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PREFIX "tcp:"

int zaddr_tcp_parse_host(struct zaddr *a, const char *rest, const char *text, struct zerr *err)
{
	const char *host = rest, *end, *port = NULL;
	const char *extra = ".-_";
	if (*rest == '[') {
		host = rest + 1;
		end = strchr(host, ']');
		if (!end || (end[1] && end[1] != ':') || !memchr(host, ':', (size_t)(end - host)))
			return zerr_set(err, -EINVAL, "bad address \"%s\": expected [IPV6][:PORT]", text);
		if (end[1] == ':')
			port = end + 2;
		extra = ":.%-_"; /* % introduces a scope, as in fe80::1%eth0 */
	} else {
		end = rest + strcspn(rest, ":");
		if (*end == ':')
			port = end + 1;
	}
	if (zaddr_kind_parse_name(a->host, sizeof(a->host), host, (size_t)(end - host), extra) < 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": no proper host name in it", text);
	a->port = ZADDR_DEFAULT_PORT;
	if (port && zaddr_kind_parse_port(&a->port, port, UINT16_MAX) < 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": \"%s\" is no port (0 to 65535)%s", text, port,
			strchr(port, ':') ? "; an IPv6 address is written in brackets" : "");
	a->kind = ZADDR_TCP;
	return 0;
}

static bool claims(const char *text)
{
	return strncmp(text, PREFIX, strlen(PREFIX)) == 0;
}

/* Reads "WORD=yes" or "WORD=no". Returns 0, or -EINVAL: it is another word, or given twice. */
static int parse_yes(const char *word, const char *given, size_t len, int *yes)
{
	const size_t n = strlen(word);
	if (*yes >= 0 || len < n || strncmp(given, word, n) != 0)
		return -EINVAL;
	if (len == n + 4 && strncmp(given + n, "=yes", 4) == 0)
		*yes = 1;
	else if (len == n + 3 && strncmp(given + n, "=no", 3) == 0)
		*yes = 0;
	return *yes < 0 ? -EINVAL : 0;
}

/* Reads the words behind the host. */
static int parse_words(struct zaddr *a, const char *words, const char *text, struct zerr *err)
{
	int integrity = -1, encrypt = -1;
	while (*words) {
		const size_t len = strcspn(++words, "/");
		if (parse_yes("integrity", words, len, &integrity) < 0 &&
			parse_yes("encrypt", words, len, &encrypt) < 0)
			return zerr_set(err, -EINVAL,
				"bad address \"%s\": \"%.*s\" is none of integrity=yes, integrity=no, encrypt=yes and "
				"encrypt=no, each word once",
				text, (int)len, words);
		words += len;
	}
	if (encrypt == 1 && integrity == 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": encrypt=yes has integrity, too", text);
	a->seal = 1 + (encrypt == 1 ? ZSEAL_ENCRYPT : integrity == 1 ? ZSEAL_INTEGRITY : ZSEAL_NONE);
	return 0;
}

static int parse(struct zaddr *a, const char *text, struct zerr *err)
{
	char place[sizeof(a->host) + 16];
	const char *from = text + strlen(PREFIX), *words = strchr(from, '/');
	if (!words)
		return zaddr_tcp_parse_host(a, from, text, err);
	snprintf(place, sizeof(place), "%.*s", (int)(words - from), from);
	if ((size_t)(words - from) >= sizeof(place))
		return zerr_set(err, -EINVAL, "bad address \"%s\": no proper host name in it", text);
	int rc = zaddr_tcp_parse_host(a, place, text, err);
	return rc < 0 ? rc : parse_words(a, words, text, err);
}

static int format(const struct zaddr *a, char *buf, size_t cap)
{
	static const char *const words[] = {"", "/integrity=no", "/integrity=yes", "/encrypt=yes"};
	return snprintf(buf, cap, strchr(a->host, ':') ? "tcp:[%s]:%u%s" : "tcp:%s:%u%s", a->host, a->port,
		words[a->seal]);
}

static bool is_fixed(const struct zaddr *a, const char *text)
{
	(void)a;
	return zaddr_kind_has_port(text, text + strlen(PREFIX) - 1);
}

static bool same_adapter(const struct zaddr *a, const struct zaddr *b)
{
	return strcasecmp(a->host, b->host) == 0;
}

static bool tcp(const struct zaddr *a, struct zaddr *out)
{
	*out = *a;
	return true;
}

static void any_port(struct zaddr *a)
{
	a->port = 0;
	a->seal = 0;
}

const struct zaddr_ops zaddr_tcp_ops = {
	.traits = {.name = "tcp", .by_host = true},
	.claims = claims,
	.parse = parse,
	.format = format,
	.begins = claims,
	.is_fixed = is_fixed,
	.same_adapter = same_adapter,
	.tcp = tcp,
	.listen_anywhere = any_port,
	.strip_place = any_port,
};

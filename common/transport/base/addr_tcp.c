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

static int parse(struct zaddr *a, const char *text, struct zerr *err)
{
	return zaddr_tcp_parse_host(a, text + strlen(PREFIX), text, err);
}

static int format(const struct zaddr *a, char *buf, size_t cap)
{
	return snprintf(buf, cap, strchr(a->host, ':') ? "tcp:[%s]:%u" : "tcp:%s:%u", a->host, a->port);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Transport addresses: text to struct and back. Set-up only; any thread. */
#include "addr.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define VERBS_PORT_MAX 255 /* ibv_query_port() takes a uint8_t */

/* Decimal number without sign, at most max. */
static int parse_port(uint16_t *out, const char *text, unsigned max)
{
	unsigned v = 0;
	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		v = v * 10 + (unsigned)(*text - '0');
		if (v > max)
			return -EINVAL;
	}
	*out = (uint16_t)v;
	return 0;
}

/* Copies len bytes of text as a name; letters, digits and the extra characters only. */
static int parse_name(char *out, size_t cap, const char *text, size_t len, const char *extra)
{
	if (len == 0 || len >= cap)
		return -EINVAL;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr(extra, text[i]))
			return -EINVAL;
	memcpy(out, text, len);
	out[len] = 0;
	return 0;
}

static int parse_tcp(struct zaddr *a, const char *text, struct zerr *err)
{
	const char *rest = text + strlen("tcp:");
	const char *host = rest, *end, *port = NULL;
	const char *extra = ".-_";
	if (*rest == '[') {
		host = rest + 1;
		end = strchr(host, ']');
		if (!end || (end[1] && end[1] != ':'))
			return zerr_set(err, -EINVAL, "bad address \"%s\": expected tcp:[IPV6][:PORT]", text);
		if (end[1] == ':')
			port = end + 2;
		extra = ":.%-_"; /* % introduces a scope, as in fe80::1%eth0 */
	} else {
		end = rest + strcspn(rest, ":");
		if (*end == ':')
			port = end + 1;
	}
	if (parse_name(a->host, sizeof(a->host), host, (size_t)(end - host), extra) < 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": no proper host name in it", text);
	a->port = ZADDR_DEFAULT_PORT;
	if (port && parse_port(&a->port, port, UINT16_MAX) < 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": \"%s\" is no port (0 to 65535)%s", text, port,
			strchr(port, ':') ? "; an IPv6 address is written in brackets" : "");
	a->kind = ZADDR_TCP;
	return 0;
}

static int parse_shm(struct zaddr *a, const char *text, struct zerr *err)
{
	const char *path = text + strlen("shm");
	if (*path == ':' && *++path == 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": the path is empty", text);
	if (*path && *path != '/')
		return zerr_set(err, -EINVAL, "bad address \"%s\": the path must begin with /", text);
	size_t len = strlen(path);
	if (len >= sizeof(a->host))
		return zerr_set(err, -EINVAL, "bad address: the path is longer than %zu bytes",
			sizeof(a->host) - 1);
	memcpy(a->host, path, len + 1);
	a->kind = ZADDR_SHM;
	return 0;
}

static int parse_verbs(struct zaddr *a, const char *text, struct zerr *err)
{
	const char *colon = strchr(text, ':');
	if (!colon || parse_name(a->host, sizeof(a->host), text, (size_t)(colon - text), "._-") < 0)
		return zerr_set(err, -EINVAL,
			"bad address \"%s\": expected tcp:HOST[:PORT], shm[:PATH] or DEVICE:PORT", text);
	if (parse_port(&a->port, colon + 1, VERBS_PORT_MAX) < 0 || a->port == 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": \"%s\" is no port of a device (1 to %d)",
			text, colon + 1, VERBS_PORT_MAX);
	a->kind = ZADDR_VERBS;
	return 0;
}

int zaddr_parse(struct zaddr *a, const char *text, struct zerr *err)
{
	memset(a, 0, sizeof(*a));
	int rc;
	if (strncmp(text, "tcp:", 4) == 0)
		rc = parse_tcp(a, text, err);
	else if (strcmp(text, "shm") == 0 || strncmp(text, "shm:", 4) == 0)
		rc = parse_shm(a, text, err);
	else
		rc = parse_verbs(a, text, err);
	if (rc < 0)
		memset(a, 0, sizeof(*a));
	return rc;
}

int zaddr_format(const struct zaddr *a, char *buf, size_t cap)
{
	switch (a->kind) {
	case ZADDR_TCP:
		return snprintf(buf, cap, strchr(a->host, ':') ? "tcp:[%s]:%u" : "tcp:%s:%u", a->host, a->port);
	case ZADDR_SHM:
		return snprintf(buf, cap, a->host[0] ? "shm:%s" : "shm%s", a->host);
	case ZADDR_VERBS:
		return snprintf(buf, cap, "%s:%u", a->host, a->port);
	case ZADDR_NONE:
		break;
	}
	return snprintf(buf, cap, "none");
}

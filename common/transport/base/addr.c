/* SPDX-License-Identifier: BSD-3-Clause */
/* Transport addresses: text to struct and back. Set-up only; any thread. */
#include "common/transport/base/addr.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VERBS_PORT_MAX 255 /* ibv_query_port() takes a uint8_t */
#define VERBS_NAME_MAX 63  /* IBV_SYSFS_NAME_MAX with its end */
#define ZADDR_NET_TEXT 112 /* all words with their numbers */

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

/* HOST[:PORT] or [IPV6][:PORT] into a, which becomes a TCP address; text is all of what was written. */
static int parse_host(struct zaddr *a, const char *rest, const char *text, struct zerr *err)
{
	const char *host = rest, *end, *port = NULL;
	const char *extra = ".-_";
	if (*rest == '[') {
		host = rest + 1;
		end = strchr(host, ']');
		if (!end || (end[1] && end[1] != ':'))
			return zerr_set(err, -EINVAL, "bad address \"%s\": expected [IPV6][:PORT]", text);
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

static int parse_tcp(struct zaddr *a, const char *text, struct zerr *err)
{
	return parse_host(a, text + strlen("tcp:"), text, err);
}

static int parse_shm(struct zaddr *a, const char *text, struct zerr *err)
{
	const char *path = text + strlen("shm");
	if (*path == ':' && *++path == 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": the path is empty", text);
	if (*path && *path != '/' && *path != '@')
		return zerr_set(err, -EINVAL, "bad address \"%s\": the path must begin with / (or @)", text);
	size_t len = strlen(path);
	if (len >= sizeof(a->host))
		return zerr_set(err, -EINVAL, "bad address: the path is longer than %zu bytes", sizeof(a->host) - 1);
	memcpy(a->host, path, len + 1);
	a->kind = ZADDR_SHM;
	return 0;
}

static const struct {
	const char *word;
	unsigned max;
} net_words[ZADDR_NET_WORDS] = {
	[ZADDR_PARTITION] = {"partition", 0xffff},
	[ZADDR_SERVICE_LEVEL] = {"service_level", 15},
	[ZADDR_TRAFFIC_CLASS] = {"traffic_class", 255},
	[ZADDR_MTU] = {"mtu", 4096},
	[ZADDR_GID_INDEX] = {"gid_index", 255},
};

/* Those that are not only too large. No partition has the number 0, the highest bit of a key left out; packets have one
 * of five sizes. */
static bool is_net_number(int word, unsigned long v)
{
	if (word == ZADDR_PARTITION)
		return (v & 0x7fff) != 0;
	return word != ZADDR_MTU || (v >= 256 && (v & (v - 1)) == 0);
}

/* "WORD=NUMBER", decimal or with 0x. */
static int parse_net_word(struct zaddr *a, const char *word, size_t len)
{
	char number[12], *end;
	for (int w = 0; w < ZADDR_NET_WORDS; w++) {
		size_t n = strlen(net_words[w].word);
		if (len <= n + 1 || len - n - 1 >= sizeof(number) || strncmp(word, net_words[w].word, n) != 0 ||
			word[n] != '=' || !isdigit((unsigned char)word[n + 1]))
			continue;
		memcpy(number, word + n + 1, len - n - 1);
		number[len - n - 1] = '\0';
		unsigned long v = strtoul(number, &end, strncasecmp(number, "0x", 2) == 0 ? 16 : 10);
		if (*end || v > net_words[w].max || !is_net_number(w, v) || a->net[w])
			return -EINVAL;
		a->net[w] = (uint32_t)v + 1;
		return 0;
	}
	return -EINVAL;
}

/* Those between the port of the device and what comes behind it. */
static int parse_net(struct zaddr *a, const char *words, const char *end, const char *text, struct zerr *err)
{
	while (words < end) {
		size_t len = strcspn(++words, "/@");
		if (parse_net_word(a, words, len) < 0)
			return zerr_set(err, -EINVAL,
				"bad address \"%s\": \"%.*s\" is none of partition=, service_level=, traffic_class=, "
				"mtu= and gid_index= with a number that it may have, each once",
				text, (int)len, words);
		words += len;
	}
	return 0;
}

static int parse_verbs(struct zaddr *a, const char *text, struct zerr *err)
{
	const char *at = strchr(text, '@'), *colon = strchr(text, ':');
	char port[8];
	if (!colon || (at && at < colon) ||
		parse_name(a->host, VERBS_NAME_MAX + 1, text, (size_t)(colon - text), "._-") < 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": expected tcp:HOST[:PORT], shm[:PATH] or DEVICE:PORT",
			text);
	const char *end = at ? at : colon + strlen(colon);
	size_t len = strcspn(colon + 1, "/@");
	if (len < sizeof(port)) {
		memcpy(port, colon + 1, len);
		port[len] = '\0';
	}
	if (len >= sizeof(port) || parse_port(&a->port, port, VERBS_PORT_MAX) < 0 || a->port == 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": \"%.*s\" is no port of a device (1 to %d)", text,
			(int)len, colon + 1, VERBS_PORT_MAX);
	int rc = parse_net(a, colon + 1 + len, end, text, err);
	if (rc < 0)
		return rc;
	if (at && at[1] == ZADDR_VIA_OWN[0]) {
		a->via_port = ZADDR_DEFAULT_PORT;
		memcpy(a->via, ZADDR_VIA_OWN, sizeof(ZADDR_VIA_OWN));
		if (at[2] && (at[2] != ':' || parse_port(&a->via_port, at + 3, UINT16_MAX) < 0))
			return zerr_set(err, -EINVAL, "bad address \"%s\": \"%s\" is no port (0 to 65535)", text,
				at + 2);
	} else if (at) {
		struct zaddr tcp = {.port = 0};
		rc = parse_host(&tcp, at + 1, text, err);
		if (rc < 0)
			return rc;
		if (strlen(tcp.host) >= sizeof(a->via))
			return zerr_set(err, -EINVAL, "bad address: the host name is longer than %zu bytes",
				sizeof(a->via) - 1);
		memcpy(a->via, tcp.host, sizeof(a->via));
		a->via_port = tcp.port;
	}
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

void zaddr_via(const struct zaddr *a, struct zaddr *tcp)
{
	memset(tcp, 0, sizeof(*tcp));
	tcp->kind = ZADDR_TCP;
	memcpy(tcp->host, a->via, sizeof(a->via)); /* the shorter one */
	tcp->port = a->via_port;
}

static int format_verbs(const struct zaddr *a, char *buf, size_t cap)
{
	char net[ZADDR_NET_TEXT] = "";
	size_t len = 0;
	for (int w = 0; w < ZADDR_NET_WORDS; w++)
		if (a->net[w])
			len += (size_t)snprintf(net + len, sizeof(net) - len,
				w == ZADDR_PARTITION ? "/%s=0x%x" : "/%s=%u", net_words[w].word, a->net[w] - 1);
	if (a->via[0])
		return snprintf(buf, cap, strchr(a->via, ':') ? "%s:%u%s@[%s]:%u" : "%s:%u%s@%s:%u", a->host, a->port,
			net, a->via, a->via_port);
	return snprintf(buf, cap, "%s:%u%s", a->host, a->port, net);
}

int zaddr_format(const struct zaddr *a, char *buf, size_t cap)
{
	switch (a->kind) {
	case ZADDR_TCP:
		return snprintf(buf, cap, strchr(a->host, ':') ? "tcp:[%s]:%u" : "tcp:%s:%u", a->host, a->port);
	case ZADDR_SHM:
		return snprintf(buf, cap, a->host[0] ? "shm:%s" : "shm%s", a->host);
	case ZADDR_VERBS:
		return format_verbs(a, buf, cap);
	case ZADDR_NONE:
		break;
	}
	return snprintf(buf, cap, "none");
}

int zaddr_prefix(const struct zaddr *a, struct zerr *err, int code, const char *what)
{
	char text[sizeof(a->host) + sizeof(a->via) + ZADDR_NET_TEXT + 32];
	zaddr_format(a, text, sizeof(text));
	return zerr_prefix(err, code, "%s %s", what, text);
}

bool zaddr_same(const struct zaddr *a, const struct zaddr *b)
{
	return a->kind == b->kind && a->port == b->port && a->via_port == b->via_port &&
	       strcmp(a->host, b->host) == 0 && strcmp(a->via, b->via) == 0;
}

/* tcp:, shm[:], or DEVICE:PORT */
bool zaddr_begins(const char *text)
{
	if (strncmp(text, "tcp:", 4) == 0)
		return true;
	if (strncmp(text, "shm", 3) == 0 && strchr(":,>", text[3])) /* the zero at the end is found, too */
		return true;
	size_t len = strcspn(text, ":/,");
	return len > 0 && text[len] == ':' && isdigit((unsigned char)text[len + 1]);
}

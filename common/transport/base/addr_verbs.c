/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of Verbs, see addr_verbs.h. */
#include "common/transport/base/addr_verbs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/transport/base/addr_tcp.h"

#define PORT_MAX 255  /* ibv_query_port() takes a uint8_t */
#define DEVICE_MAX 63 /* IBV_SYSFS_NAME_MAX with its end */

/* This kind is read last, so that its message tells of a text that is no address at all. */
static bool claims(const char *text)
{
	(void)text;
	return true;
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

/* Is the number one that the word may have, apart from its maximum? No partition has the number 0 (without the highest
 * bit of a key); packets have one of five sizes. */
static bool is_net_number(int word, unsigned long v)
{
	if (word == ZADDR_PARTITION)
		return (v & 0x7fff) != 0;
	return word != ZADDR_MTU || (v >= 256 && (v & (v - 1)) == 0);
}

/* Reads "WORD=NUMBER", where the number is decimal or begins with 0x. */
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

/* Reads the words between the port of the device and `end`. */
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

static int parse(struct zaddr *a, const char *text, struct zerr *err)
{
	const char *at = strchr(text, '@'), *colon = strchr(text, ':');
	char port[8];
	if (!colon || (at && at < colon) ||
		zaddr_kind_parse_name(a->host, DEVICE_MAX + 1, text, (size_t)(colon - text), "._-") < 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": expected tcp:HOST[:PORT], shm[:PATH] or DEVICE:PORT",
			text);
	const char *end = at ? at : colon + strlen(colon);
	size_t len = strcspn(colon + 1, "/@");
	if (len < sizeof(port)) {
		memcpy(port, colon + 1, len);
		port[len] = '\0';
	}
	if (len >= sizeof(port) || zaddr_kind_parse_port(&a->port, port, PORT_MAX) < 0 || a->port == 0)
		return zerr_set(err, -EINVAL, "bad address \"%s\": \"%.*s\" is no port of a device (1 to %d)", text,
			(int)len, colon + 1, PORT_MAX);
	int rc = parse_net(a, colon + 1 + len, end, text, err);
	if (rc < 0)
		return rc;
	if (at && at[1] == ZADDR_VIA_OWN[0]) {
		a->via_port = ZADDR_DEFAULT_PORT;
		memcpy(a->via, ZADDR_VIA_OWN, sizeof(ZADDR_VIA_OWN));
		if (at[2] && (at[2] != ':' || zaddr_kind_parse_port(&a->via_port, at + 3, UINT16_MAX) < 0))
			return zerr_set(err, -EINVAL, "bad address \"%s\": \"%s\" is no port (0 to 65535)", text,
				at + 2);
	} else if (at) {
		struct zaddr tcp = {.port = 0};
		rc = zaddr_tcp_parse_host(&tcp, at + 1, text, err);
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

static int format(const struct zaddr *a, char *buf, size_t cap)
{
	char net[ZADDR_VERBS_NET_TEXT] = "";
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

static bool begins(const char *text)
{
	size_t len = strcspn(text, ":/,");
	return len > 0 && text[len] == ':' && isdigit((unsigned char)text[len + 1]);
}

static bool is_fixed(const struct zaddr *a, const char *text)
{
	(void)a;
	text = strchr(text, '@');
	return text && zaddr_kind_has_port(text, text);
}

static bool same_adapter(const struct zaddr *a, const struct zaddr *b)
{
	return strcasecmp(a->host, b->host) == 0 && a->port == b->port;
}

static bool tcp(const struct zaddr *a, struct zaddr *out)
{
	if (!a->via[0])
		return false;
	*out = (struct zaddr){.kind = ZADDR_TCP, .port = a->via_port};
	memcpy(out->host, a->via, sizeof(a->via)); /* the shorter one */
	return true;
}

static void listen_anywhere(struct zaddr *a)
{
	if (!a->via[0])
		strcpy(a->via, ZADDR_VIA_OWN);
	a->via_port = 0;
}

static void strip_place(struct zaddr *a)
{
	(void)a;
}

const struct zaddr_ops zaddr_verbs_ops = {
	.traits = {.name = "verbs", .by_device = true, .in_module = true},
	.claims = claims,
	.parse = parse,
	.format = format,
	.begins = begins,
	.is_fixed = is_fixed,
	.same_adapter = same_adapter,
	.tcp = tcp,
	.listen_anywhere = listen_anywhere,
	.strip_place = strip_place,
};

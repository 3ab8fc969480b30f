/* SPDX-License-Identifier: BSD-3-Clause */
/* Transport addresses, see addr.h: the table of all kinds. */
#include "common/transport/base/addr.h"

#include <stdio.h>
#include <string.h>

#include "common/transport/base/addr_kind.h"
#include "common/transport/base/addr_shm.h"
#include "common/transport/base/addr_tcp.h"
#include "common/transport/base/addr_verbs.h"

#define TEXT_MAX (sizeof(((struct zaddr *)0)->host) + sizeof(((struct zaddr *)0)->via) + ZADDR_VERBS_NET_TEXT + 32)

/* In the order in which a text is tried; the last kind claims all that is left. */
static const struct zaddr_ops *const kinds[ZADDR_KINDS] = {
	[ZADDR_TCP] = &zaddr_tcp_ops,
	[ZADDR_SHM] = &zaddr_shm_ops,
	[ZADDR_VERBS] = &zaddr_verbs_ops,
};

const struct zaddr_traits *zaddr_traits(const struct zaddr *a)
{
	static const struct zaddr_traits none = {.name = "none"};
	return kinds[a->kind] ? &kinds[a->kind]->traits : &none;
}

int zaddr_parse(struct zaddr *a, const char *text, struct zerr *err)
{
	int kind = ZADDR_NONE + 1;
	while (!kinds[kind]->claims(text))
		kind++;
	memset(a, 0, sizeof(*a));
	int rc = kinds[kind]->parse(a, text, err);
	if (rc < 0)
		memset(a, 0, sizeof(*a));
	else
		a->kind = (enum zaddr_kind)kind;
	return rc;
}

int zaddr_format(const struct zaddr *a, char *buf, size_t cap)
{
	return kinds[a->kind] ? kinds[a->kind]->format(a, buf, cap) : snprintf(buf, cap, "none");
}

bool zaddr_begins(const char *text)
{
	for (int kind = ZADDR_NONE + 1; kind < ZADDR_KINDS; kind++)
		if (kinds[kind]->begins(text))
			return true;
	return false;
}

bool zaddr_is_fixed(const struct zaddr *a, const char *text)
{
	return kinds[a->kind]->is_fixed(a, text);
}

enum zseal_level zaddr_seal(const struct zaddr *a, enum zseal_level otherwise)
{
	return a->seal ? (enum zseal_level)(a->seal - 1) : otherwise;
}

bool zaddr_same(const struct zaddr *a, const struct zaddr *b)
{
	return a->kind == b->kind && a->port == b->port && a->via_port == b->via_port &&
	       strcmp(a->host, b->host) == 0 && strcmp(a->via, b->via) == 0;
}

bool zaddr_same_adapter(const struct zaddr *a, const struct zaddr *b)
{
	return a->kind != b->kind || !kinds[a->kind] || kinds[a->kind]->same_adapter(a, b);
}

int zaddr_prefix(const struct zaddr *a, struct zerr *err, int code, const char *what)
{
	char text[TEXT_MAX];
	zaddr_format(a, text, sizeof(text));
	return zerr_prefix(err, code, "%s %s", what, text);
}

bool zaddr_tcp(const struct zaddr *a, struct zaddr *tcp)
{
	return kinds[a->kind] && kinds[a->kind]->tcp(a, tcp);
}

const char *zaddr_tcp_host(const struct zaddr *a)
{
	return zaddr_traits(a)->by_device ? a->via : a->host;
}

uint16_t *zaddr_tcp_port(struct zaddr *a)
{
	const struct zaddr_traits *traits = zaddr_traits(a);
	return traits->by_device ? &a->via_port : traits->by_host ? &a->port : NULL;
}

bool zaddr_lacks_host(const struct zaddr *a)
{
	return zaddr_traits(a)->by_device && !a->via[0];
}

void zaddr_listen_anywhere(struct zaddr *a)
{
	kinds[a->kind]->listen_anywhere(a);
}

void zaddr_strip_place(struct zaddr *a)
{
	kinds[a->kind]->strip_place(a);
}

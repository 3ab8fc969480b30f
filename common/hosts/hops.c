/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to zipperds as text, see hops.h. */
#include "common/control/ctl_name.h"
#include "common/hosts/hops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Takes the text before the next '>' (or the end) out. NULL: it does not fit. */
static const char *take(const char **text, char *out, size_t cap)
{
	size_t len = strcspn(*text, ">");
	if (len >= cap)
		return NULL;
	memcpy(out, *text, len);
	out[len] = '\0';
	*text += len;
	return out;
}

static int take_address(const char **text, struct zaddr *addr, struct zerr *err)
{
	char one[ZCTL_ADDR_MAX + 1];
	if (!take(text, one, sizeof(one)))
		return zerr_set(err, -EINVAL, "bad address: longer than %d characters", ZCTL_ADDR_MAX);
	return zaddr_parse(addr, one, err);
}

static int take_fabric(const char **text, char name[ZCTL_NAME_MAX + 1], struct zerr *err)
{
	if (**text == '>')
		++*text;
	if (!take(text, name, ZCTL_NAME_MAX + 1) || !zctl_name_ok(name))
		return zerr_set(err, -EINVAL, "a hop is written >FROM>TO>ADDRESS, with the names of two fabrics");
	return 0;
}

int zhops_parse(struct zhops *h, const char *text, struct zerr *err)
{
	h->n = 0;
	int rc = take_address(&text, &h->first, err);
	while (rc == 0 && *text) {
		if (h->n == ZCTL_HOPS_MAX)
			return zerr_set(err, -EINVAL, "more than %d hops", ZCTL_HOPS_MAX);
		struct zhop *hop = &h->hop[h->n];
		rc = take_fabric(&text, hop->from, err);
		if (rc == 0)
			rc = take_fabric(&text, hop->to, err);
		if (rc == 0 && *text != '>')
			return zerr_set(err, -EINVAL, "a hop is written >FROM>TO>ADDRESS: no address");
		if (rc == 0) {
			text++;
			rc = take_address(&text, &hop->addr, err);
		}
		h->n += rc == 0;
	}
	return rc;
}

/* A comma that no address follows is part of an address. */
static size_t length_of_first(const char *text)
{
	size_t len = strcspn(text, ",");
	while (text[len] && !zaddr_begins(text + len + 1))
		len += 1 + strcspn(text + len + 1, ",");
	return len;
}

int zhops_parse_list(struct zhops *h, int max, const char *text, struct zerr *err)
{
	char one[ZHOPS_TEXT_BYTES];
	for (int n = 0; n < max;) {
		size_t len = length_of_first(text);
		if (len >= sizeof(one))
			return zerr_set(err, -EINVAL, "bad address: longer than %zu bytes", sizeof(one) - 1);
		memcpy(one, text, len);
		one[len] = '\0';
		int rc = zhops_parse(&h[n++], one, err);
		if (rc < 0 || !text[len])
			return rc < 0 ? rc : n;
		text += len + 1;
	}
	return zerr_set(err, -EINVAL, "more than %d addresses", max);
}

int zhops_format(const struct zhops *h, char *buf, size_t cap)
{
	int len = zaddr_format(&h->first, buf, cap);
	for (int i = 0; i < h->n; i++) {
		char one[ZCTL_ADDR_MAX + 1];
		size_t used = (size_t)len < cap ? (size_t)len : cap;
		zaddr_format(&h->hop[i].addr, one, sizeof(one));
		len += snprintf(buf + used, cap - used, ">%s>%s>%s", h->hop[i].from, h->hop[i].to, one);
	}
	return len;
}

int zhops_format_list(const struct zhops *h, int n, char *buf, size_t cap)
{
	int len = 0;
	for (int i = 0; i < n; i++) {
		char one[ZHOPS_TEXT_BYTES];
		size_t used = (size_t)len < cap ? (size_t)len : cap;
		zhops_format(&h[i], one, sizeof(one));
		len += snprintf(buf + used, cap - used, "%s%s", i ? "," : "", one);
	}
	return len;
}

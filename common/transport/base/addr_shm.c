/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of shared memory, see addr_shm.h. */
#include "common/transport/base/addr_shm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool claims(const char *text)
{
	return strcmp(text, "shm") == 0 || strncmp(text, "shm:", 4) == 0;
}

static int parse(struct zaddr *a, const char *text, struct zerr *err)
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

static int format(const struct zaddr *a, char *buf, size_t cap)
{
	return snprintf(buf, cap, a->host[0] ? "shm:%s" : "shm%s", a->host);
}

static bool begins(const char *text)
{
	return strncmp(text, "shm", 3) == 0 && strchr(":,>", text[3]); /* strchr finds the zero at the end, too */
}

static bool is_fixed(const struct zaddr *a, const char *text)
{
	(void)text;
	return a->host[0] != '\0';
}

static bool same_adapter(const struct zaddr *a, const struct zaddr *b)
{
	(void)a;
	(void)b;
	return true;
}

static bool tcp(const struct zaddr *a, struct zaddr *out)
{
	(void)a;
	(void)out;
	return false;
}

static void listen_anywhere(struct zaddr *a)
{
	(void)a;
}

static void strip_place(struct zaddr *a)
{
	a->host[0] = '\0';
}

const struct zaddr_ops zaddr_shm_ops = {
	.traits = {.name = "shm", .this_host = true},
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

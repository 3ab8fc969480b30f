/* SPDX-License-Identifier: BSD-3-Clause */
/* The users' keys in a table, see keys.h. Memory of keys is wiped before it is freed. */
#include "zipperd/settings/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/control/keyfile.h"

struct entry {
	UT_hash_handle hh;
	struct zkeyfile_key of;
};

struct keys {
	struct entry *table;
};

static int add(void *ctx, const struct zkeyfile_key *key)
{
	struct keys *k = ctx;
	struct entry *e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->of = *key;
	HASH_ADD_STR(k->table, of.user, e);
	return 0;
}

int keys_load(struct keys **out, const char *path, struct zerr *err)
{
	*out = NULL;
	struct keys *k = calloc(1, sizeof(*k));
	if (!k)
		return zerr_set(err, -ENOMEM, "out of memory");
	const bool any = path && *path;
	int rc = any ? zkeyfile_read_all(&zauth_module, path, add, k, err) : 0;
	if (rc == 0 && any && !k->table)
		rc = zerr_set(err, -EINVAL, "%s: there is no key in it", path);
	if (rc != 0) {
		keys_free(k);
		return rc;
	}
	*out = k;
	return 0;
}

void keys_free(struct keys *k)
{
	struct entry *e, *next;
	if (!k)
		return;
	HASH_ITER(hh, k->table, e, next) {
		HASH_DEL(k->table, e);
		zauth_module.wipe(e, sizeof(*e));
		free(e);
	}
	free(k);
}

const uint8_t *keys_find(const struct keys *k, const char *user, uint64_t *until_s)
{
	struct entry *e;
	HASH_FIND_STR(k->table, user, e);
	*until_s = e ? e->of.until_s : 0;
	return e ? e->of.key : NULL;
}

unsigned keys_count(const struct keys *k)
{
	return HASH_COUNT(k->table);
}

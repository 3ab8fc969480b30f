/* SPDX-License-Identifier: BSD-3-Clause */
/* The key of a node's zipperd, see node_key.h. */
#include "zipperd/settings/node_key.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES (2 * ZCTL_NAME_MAX + 2 * ZAUTH_KEY_BYTES + 32)

int node_key_read(struct node_key *out, struct zerr *err)
{
	char line[LINE_BYTES], hex[2 * ZAUTH_KEY_BYTES + 1];
	unsigned long long expires_s;
	int rc = -EINVAL;
	if (!fgets(line, sizeof(line), stdin) ||
		sscanf(line, "%64s %64s %llu %64s", out->user, out->job, &expires_s, hex) != 4)
		zerr_set(err, rc, "--node: standard input has no line with user, job, time and key");
	else
		rc = zauth_module.parse_key(out->key, hex, err);
	zauth_module.wipe(line, sizeof(line));
	zauth_module.wipe(hex, sizeof(hex));
	out->expires_s = rc == 0 ? expires_s : 0;
	out->set = rc == 0;
	return rc;
}

bool node_key_find(const struct node_key *k, const struct zctl_hello *hello, uint8_t key[ZAUTH_KEY_BYTES])
{
	if (!k->set || strcmp(hello->user, k->user) != 0 || strcmp(hello->job, k->job) != 0)
		return false;
	if (hello->expires_s == k->expires_s)
		memcpy(key, k->key, ZAUTH_KEY_BYTES);
	else if (k->expires_s == 0) /* the user's key */
		zauth_module.derive(key, k->key, hello->user, hello->job, hello->expires_s);
	return hello->expires_s == k->expires_s || k->expires_s == 0;
}

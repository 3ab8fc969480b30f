/* SPDX-License-Identifier: BSD-3-Clause */
/* The key of a zipperd that serves the ranks of one job on their node (--node). These ranks prove it, and zipperd
 * proves it to other zipperds. Control thread. */
#ifndef ZIPPERD_NODE_KEY_H
#define ZIPPERD_NODE_KEY_H

#include <stdbool.h>

#include "common/control/auth.h"

struct node_key {
	bool set; /* there is such a key */
	char user[ZCTL_NAME_MAX + 1], job[ZCTL_NAME_MAX + 1];
	uint64_t expires_s; /* as in HELLO: the end of a job credential; 0: it is the user's key */
	uint8_t key[ZAUTH_KEY_BYTES];
};

#define NODE_KEY_FORMAT "%s %s %llu %s\n" /* user, job, expires_s, key as hexadecimal digits */

/* Reads a line of that format from standard input. 0 or -EINVAL with text. */
int node_key_read(struct node_key *, struct zerr *);
/* Finds the key that a peer with this HELLO proves: that one, or one of a job credential that was made of it. false: it
 * knows none. */
bool node_key_find(const struct node_key *, const struct zctl_hello *, uint8_t key[ZAUTH_KEY_BYTES]);

#endif

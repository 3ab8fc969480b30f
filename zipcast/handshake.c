/* SPDX-License-Identifier: BSD-3-Clause */
/* The handshake of guests and calls, see handshake.h. */
#include "zipcast/handshake.h"

#include <stdio.h>
#include <string.h>

#include "zipcast/end.h"

int zhandshake_say(struct zlink *z, const struct zctl_msg *msg)
{
	uint8_t buf[512], raw[ZWIRE_ENV_BYTES];
	int len = zctl_encode(buf, sizeof(buf), msg);
	if (len < 0)
		return len;
	zwire_encode(raw, &(struct zwire_env){.kind = ZWIRE_CTRL,
				  .src = ZWIRE_NOBODY,
				  .dst = ZWIRE_NOBODY,
				  .len = (uint32_t)len});
	int rc = z->ops->post(z, raw, buf, (size_t)len);
	return rc == 0 ? z->ops->flush(z) : rc; /* full at the second message: the other end is none of us */
}

int zhandshake_settle(struct zipcast *zc, struct zlink *z, char why[ZIPCAST_WHY_BYTES])
{
	struct zerr err = {.text = ""};
	int rc = 0;
	if (!z->ops->settle)
		return 0;
	if (!zc->endpoint) {
		zc->settles = z->ops;
		rc = z->ops->endpoint_open(&zc->endpoint, &err);
	}
	if (rc == 0)
		rc = z->ops->settle(z, zc->endpoint, zc->endpoint, &err);
	if (rc < 0)
		snprintf(why, ZIPCAST_WHY_BYTES, "%.*s", ZIPCAST_WHY_BYTES - 1, err.text);
	return rc;
}

void zhandshake_refuse(struct node *n, const char *why)
{
	snprintf(n->refused, sizeof(n->refused), "node %u: %.200s", n->number, why);
	zend_without_node(n, n->refused);
}

/* The node is called or connected at any time: an application's thread that makes a group meanwhile would call it
 * again. */
void zhandshake_bridged(struct node *n, struct zlink *z)
{
	char why[ZIPCAST_WHY_BYTES];
	int rc = znode_up(n, z, why);
	znode_note_calling(n, false);
	if (rc != 0 && !n->link.zlink)
		zhandshake_refuse(n, strerror(-rc));
}

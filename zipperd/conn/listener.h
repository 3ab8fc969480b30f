/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses that zipperd listens on. Control thread. */
#ifndef ZIPPERD_LISTENER_H
#define ZIPPERD_LISTENER_H

#include "common/transport/base/transport.h"
#include "zipperd/conn/daemon.h"
#include "zipperd/conn/watch.h"

struct listener {
	struct watch watch;
	struct daemon *daemon;
	struct zlistener *zlistener;  /* NULL: it does not listen any more */
	struct settings_listen where; /* with the port that was chosen */
	int fd;
	void (*conn_ready)(struct watch *); /* of its connections */
	char text[400];			    /* the address alone, for messages */
};

/* Opens all of the configuration, or none. An address that is in use is tried for two seconds. conn_ready: the reader
 * of connections (conn_create). 0 or a negative errno with text. */
int listener_open_all(struct daemon *, void (*conn_ready)(struct watch *), struct zerr *);
/* Checks without listening whether the hosts have addresses. 0 or a negative errno with text. */
int listener_check_all(const struct settings *, struct zerr *);
/* Gives the addresses free for another zipperd. Connections that have come stay. */
void listener_stop_all(struct daemon *);
void listener_close_all(struct daemon *);
/* Stops accepting for for_ms at least. 0: until listener_resume_all finds room. */
void listener_pause_all(struct daemon *, int64_t for_ms);
void listener_resume_all(struct daemon *); /* if there is reason to */

static inline bool listener_serves(const struct listener *l, int fabric)
{
	return fabric >= 0 && (l->where.fabrics >> fabric & 1);
}

#endif

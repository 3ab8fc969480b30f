/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses that zipperd listens on. Control thread. */
#ifndef ZIPPERD_LISTENER_H
#define ZIPPERD_LISTENER_H

#include "zipperd/control/daemon.h"
#include "common/transport/base/transport.h"

struct listener {
	struct watch watch;
	struct daemon *daemon;
	struct zlistener *zlistener;
	struct settings_listen where; /* with the port that was chosen */
	int fd;
	char text[400]; /* address and nothing else, for messages */
};

/* All of the configuration, or none and a negative errno with text. */
int listeners_open(struct daemon *, struct zerr *);
/* Without listening: have the hosts addresses? The same. */
int listeners_check(const struct settings *, struct zerr *);
void listeners_close(struct daemon *);
/* Stops accepting until at least for_ms have gone (0: until listeners_resume finds room). */
void listeners_pause(struct daemon *, int64_t for_ms);
void listeners_resume(struct daemon *); /* if there is reason to */
bool listener_serves(const struct listener *, int fabric);

#endif

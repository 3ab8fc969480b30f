/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGHUP: keys and log level are read again; everything else waits for the next start. Control thread. */
#ifndef ZIPPERD_RELOAD_H
#define ZIPPERD_RELOAD_H

#include "zipperd/conn/daemon.h"

/* Keeps the settings as text, with which a reload compares the new ones. To be called before start-up changes any. */
void reload_init(struct daemon *);
void reload(struct daemon *);
void reload_fini(struct daemon *);

#endif

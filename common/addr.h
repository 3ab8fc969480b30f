/* SPDX-License-Identifier: BSD-3-Clause */
/* Transport addresses as people write them: tcp:HOST[:PORT], tcp:[IPV6][:PORT], shm[:PATH], DEVICE:PORT (Verbs). */
#ifndef ZIP_COMMON_ADDR_H
#define ZIP_COMMON_ADDR_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"

enum zaddr_kind { ZADDR_NONE, ZADDR_TCP, ZADDR_SHM, ZADDR_VERBS };

#define ZADDR_DEFAULT_PORT 7474 /* TCP port of zipperd where none is written */

struct zaddr {
	enum zaddr_kind kind;
	char host[256];	 /* TCP: host name or numeric address; SHM: path of the listening Unix socket (may be
			  * empty: the user's default); VERBS: device name */
	uint16_t port;	 /* TCP port (0 = any, listeners only); VERBS: port number 1.. */
};

/* Returns 0 or -EINVAL with the reason in err. text is not kept. */
int zaddr_parse(struct zaddr *, const char *text, struct zerr *);
/* Writes the canonical text, always terminated; returns its length. */
int zaddr_format(const struct zaddr *, char *buf, size_t cap);

#endif

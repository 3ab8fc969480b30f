/* SPDX-License-Identifier: BSD-3-Clause */
/* Transport addresses as people write them: tcp:HOST[:PORT], tcp:[IPV6][:PORT], shm[:PATH or :@NAME], and for
 * Verbs DEVICE:PORT[/WORD=NUMBER...][@HOST[:PORT]], where the part behind @ is a TCP address at which connections are
 * made, and the words tell of the network that the port is on. */
#ifndef ZIP_COMMON_TRANSPORT_BASE_ADDR_H
#define ZIP_COMMON_TRANSPORT_BASE_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

enum zaddr_kind { ZADDR_NONE, ZADDR_TCP, ZADDR_SHM, ZADDR_VERBS };

#define ZADDR_VIA_OWN "*"	/* DEVICE:PORT@*:PORT, listeners only: at the IP address of that port, as without @ */
#define ZADDR_DEFAULT_PORT 7474 /* TCP port of zipperd where none is written */

/* What overrides the options verbs_... of these names (verbs.h) for one network. Who connects takes all of them from
 * the address but the last, which is for the port itself. */
enum zaddr_net {
	ZADDR_PARTITION,
	ZADDR_SERVICE_LEVEL,
	ZADDR_TRAFFIC_CLASS,
	ZADDR_MTU,
	ZADDR_GID_INDEX,
	ZADDR_NET_WORDS
};

struct zaddr {
	enum zaddr_kind kind;
	char host[256];	   /* TCP: host name or numeric address; SHM: path of the listening Unix socket (may be
			    * empty: the user's default); VERBS: device name */
	uint16_t port;	   /* TCP port (0 = any, listeners only); VERBS: port number 1.. */
	char via[224];	   /* VERBS: TCP host or address; empty: not written */
	uint16_t via_port; /* VERBS: its port */
	uint32_t net[ZADDR_NET_WORDS]; /* VERBS: by enum zaddr_net, the number plus one; 0: not written */
};

/* Returns 0 or -EINVAL with the reason in err. text is not kept. */
int zaddr_parse(struct zaddr *, const char *text, struct zerr *);
/* VERBS: the TCP address behind the @. */
void zaddr_via(const struct zaddr *, struct zaddr *tcp);
/* Writes the canonical text, always terminated; returns its length. */
int zaddr_format(const struct zaddr *, char *buf, size_t cap);

/* Is it written the same, but for the words of its network? */
bool zaddr_same(const struct zaddr *, const struct zaddr *);
/* Puts "what ADDRESS: " in front of the text that is there; returns code. */
int zaddr_prefix(const struct zaddr *, struct zerr *, int code, const char *what);

/* Does an address begin here? For lists of them (hops.h), as commas may be part of one. */
bool zaddr_begins(const char *text);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transport addresses as people write them: tcp:HOST[:PORT][/WORD=yes|no...], tcp:[IPV6][:PORT][/...], shm[:PATH or
 * :@NAME], and for Verbs DEVICE:PORT[/WORD=NUMBER...][@HOST[:PORT]]. The part behind the @ is a TCP address, at which
 * connections are made. The words describe the network: of TCP integrity and encrypt, the protection of its
 * connections.
 *
 * Each kind of address has a row in the table of addr.c: how it is read and written, and its traits. The traits answer
 * what programs ask about an address, so that they need not ask for its kind. transports.c says which transport carries
 * each kind. Set-up only; any thread.
 */
#ifndef ZIP_COMMON_TRANSPORT_BASE_ADDR_H
#define ZIP_COMMON_TRANSPORT_BASE_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/control/seal.h"

enum zaddr_kind { ZADDR_NONE, ZADDR_TCP, ZADDR_SHM, ZADDR_VERBS, ZADDR_KINDS };

/* DEVICE:PORT@*:PORT, for listeners: at the IP address of the device's port, as without @. */
#define ZADDR_VIA_OWN "*"
#define ZADDR_DEFAULT_PORT 7474 /* TCP port of zipperd where none is written */

/* Settings of one network that override the options verbs_... of these names (verbs_options.h). A connecting end takes
 * them from the peer's address, with the exception of the last one, which is for the port itself. */
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
	char host[256];	   /* TCP: host name or numeric address; SHM: path of the listening Unix socket (empty: the
			    * user's default); VERBS: device name */
	uint16_t port;	   /* TCP port (0 = any, listeners only); VERBS: port number, from 1 */
	char via[224];	   /* VERBS: TCP host or address; empty: not written */
	uint16_t via_port; /* VERBS: TCP port */
	uint32_t net[ZADDR_NET_WORDS]; /* VERBS: by enum zaddr_net, the number plus one; 0: not written */
	uint8_t seal;		       /* TCP: enum zseal_level plus one; 0: not written */
};

struct zaddr_traits {
	const char *name; /* of the transport: "tcp" */
	bool by_host;	  /* host and port are those of a host in a network */
	bool by_device;	  /* host and port name a port of a device; `via` is a TCP address */
	bool this_host;	  /* leads to processes of this host alone */
	bool in_module;	  /* its transport lies in a module, which ztransports_configure says where to find */
};

/* The traits of an address. ZADDR_NONE has none of them. */
const struct zaddr_traits *zaddr_traits(const struct zaddr *);

/* Reads an address. Returns 0, or -EINVAL with the reason in err. text is not kept. */
int zaddr_parse(struct zaddr *, const char *text, struct zerr *);
/* Writes the canonical text, always terminated. Returns its length. */
int zaddr_format(const struct zaddr *, char *buf, size_t cap);
/* Does an address begin here? For lists of addresses (hops.h), as an address may contain commas. */
bool zaddr_begins(const char *text);
/* Does the text name the place where somebody listens: a TCP port, or a path? addr is the text's, after parsing. (An
 * address without a TCP port has the usual port after parsing.) */
bool zaddr_is_fixed(const struct zaddr *, const char *text);
/* The protection that is written in the address; where none is, `otherwise`. */
enum zseal_level zaddr_seal(const struct zaddr *, enum zseal_level otherwise);
/* Are two addresses written the same, apart from the words of their network? */
bool zaddr_same(const struct zaddr *, const struct zaddr *);
/* May two addresses be of the same adapter? Addresses of this host alone always are. */
bool zaddr_same_adapter(const struct zaddr *, const struct zaddr *);
/* Puts "what ADDRESS: " in front of the text that is there. Returns code. */
int zaddr_prefix(const struct zaddr *, struct zerr *, int code, const char *what);

/* The TCP address at which connections to this address are made: of TCP the address, of Verbs the part behind the @.
 * Returns false, and leaves tcp as it is, where there is none. */
bool zaddr_tcp(const struct zaddr *, struct zaddr *tcp);
/* The host, or the path, of that TCP address, as text. */
const char *zaddr_tcp_host(const struct zaddr *);
/* Where the number of that TCP port is kept; NULL: the kind has none. */
uint16_t *zaddr_tcp_port(struct zaddr *);
/* VERBS: is only a port of a device named, and no host? */
bool zaddr_lacks_host(const struct zaddr *);
/* For listeners of ranks: any TCP port, and where no host is written the IP address of the device's port. zipperd says
 * how they are protected. */
void zaddr_listen_anywhere(struct zaddr *);
/* Removes what differs between listeners on one host: the TCP port and the protection of TCP, the path of SHM. */
void zaddr_strip_place(struct zaddr *);

#endif

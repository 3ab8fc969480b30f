/* SPDX-License-Identifier: BSD-3-Clause */
/* Credentials: each user has a secret that is shared with zipperd and proved by a keyed hash (BLAKE2b of libsodium)
 * over fresh nonces of both sides, so that the secret never travels. Both sides then share a session key, with which
 * the same peer proves its further connections (ctl.h, Tickets). libzipper.so loads this code as a module (zipauth.so)
 * when it joins a job, so that a process without one has no dependency on libsodium. */
#ifndef ZIP_COMMON_CONTROL_AUTH_H
#define ZIP_COMMON_CONTROL_AUTH_H

#include <stdbool.h>

#include "common/control/ctl.h"
#include "common/control/seal.h"

#define ZAUTH_KEY_BYTES 32

/* Whose PROOF it is: the side that said HELLO asks, the other side answers (with ZCTL_PROOF_REPLY). The two proofs
 * differ, so that a proof which is sent back is no answer. */
enum zauth_side { ZAUTH_ASKS, ZAUTH_ANSWERS };
/* A ticket admits a data channel to zipperd, or a direct link to a rank. */
enum zauth_ticket { ZAUTH_CHANNEL, ZAUTH_LINK };

/* The entry points of the module, found by dlsym(ZAUTH_SYMBOL). */
struct zauth_ops {
	const char *release; /* see module.h */
	/* Reads 64 hex digits. -EINVAL with the reason. */
	int (*parse_key)(uint8_t key[ZAUTH_KEY_BYTES], const char *hex, struct zerr *);
	void (*random)(uint8_t *buf, size_t len);
	/* Makes the key of a job credential: for one job of one user, until a time in seconds since 1970. It tells
	 * nothing of the user's key. */
	void (*derive)(uint8_t out[ZAUTH_KEY_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], const char *user,
		const char *job, uint64_t expires_s);
	/* key, here and in check: the user's, or the derived one where hello.expires_s is not 0. */
	void (*prove)(uint8_t mac[ZCTL_MAC_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], enum zauth_side,
		const struct zctl_hello *, const struct zctl_challenge *);
	/* Compares with what prove would write, in constant time. 0 or -EACCES. */
	int (*check)(const uint8_t mac[ZCTL_MAC_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], enum zauth_side,
		const struct zctl_hello *, const struct zctl_challenge *);
	/* Makes the key of a session in which both sides have proved key. */
	void (*session)(uint8_t out[ZAUTH_KEY_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], const struct zctl_hello *,
		const struct zctl_challenge *);
	/* Makes the ticket for the other fields of an ATTACH, with the session key of the rank, or of the rank that
	 * listens. */
	void (*ticket)(uint8_t ticket[ZCTL_MAC_BYTES], const uint8_t session[ZAUTH_KEY_BYTES], enum zauth_ticket,
		const struct zctl_attach *);
	/* Hides a ticket, or a key, on its way to a peer, or shows it there: the same call does both. A nonce serves
	 * one of them. */
	void (*mask)(uint8_t ticket[ZCTL_MAC_BYTES], const uint8_t session[ZAUTH_KEY_BYTES],
		const uint8_t nonce[ZCTL_NONCE_BYTES]);
	/* Makes the mac of a REACH, with the session key of the connection that got the pass. */
	void (*way)(uint8_t mac[ZCTL_MAC_BYTES], const uint8_t session[ZAUTH_KEY_BYTES], const struct zctl_hello *,
		const struct zctl_challenge *, const struct zctl_reach *);
	/* Makes the keys with which a connection is sealed, from the session key. own: our side of the connection; each
	 * side sends with a key of its own. salt: what is this connection's alone where the session key is not: the
	 * ticket of an ATTACH, the mac of a REACH; NULL: the connection is the session's. */
	void (*seal)(struct zseal *, enum zseal_level, const uint8_t session[ZAUTH_KEY_BYTES], enum zauth_side own,
		const uint8_t salt[ZCTL_MAC_BYTES]);
	/* Makes the key of a direct link, which takes the place of a session key in seal: from the session key of the
	 * rank that listens, and the ticket. */
	void (*link_key)(uint8_t key[ZAUTH_KEY_BYTES], const uint8_t session[ZAUTH_KEY_BYTES],
		const uint8_t ticket[ZCTL_MAC_BYTES]);
	/* Compares two hashes, in constant time. */
	bool (*same)(const uint8_t a[ZCTL_MAC_BYTES], const uint8_t b[ZCTL_MAC_BYTES]);
	void (*wipe)(void *buf, size_t len);
};
#define ZAUTH_SYMBOL "zauth_module"
extern const struct zauth_ops zauth_module;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* MUNGE in place of users' keys: munged says which user a process has. The user makes a random key, and sends it in a
 * credential that zipperd's user alone may decode. Both prove that key then (auth.h), so zipperd proves who it is, too.
 * The credential also holds the user's proof over both nonces: it is good for one connection to one zipperd. Programs
 * load the code that needs libmunge as a module, zipmunge.so. */
#ifndef ZIP_COMMON_CONTROL_MUNGE_H
#define ZIP_COMMON_CONTROL_MUNGE_H

#include <stdint.h>

#include "common/control/auth.h"

#define ZMUNGE_FILE "zipmunge.so"
#define ZMUNGE_SOCKET_MAX 108

/* Of a credential: the key, and the proof (ZAUTH_ASKS) that it makes. */
#define ZMUNGE_PAYLOAD_BYTES (ZAUTH_KEY_BYTES + ZCTL_MAC_BYTES)

/* The entry points of the module. They wait for munged. socket: munged's, "": the usual one. */
struct zmunge_ops {
	const char *release; /* see module.h */
	/* Is there such a socket? */
	bool (*is_there)(const char *socket);
	/* Makes a credential that the user with this id alone may decode. 0 or a negative errno with text. */
	int (*encode)(char text[ZCTL_MUNGE_MAX + 1], const char *socket, uint32_t reader,
		const uint8_t payload[ZMUNGE_PAYLOAD_BYTES], struct zerr *);
	/* Decodes a credential. A credential can be decoded once, and for some minutes. 0, or -EACCES with text. */
	int (*decode)(uint8_t payload[ZMUNGE_PAYLOAD_BYTES], uint32_t *uid, const char *socket, const char *text,
		struct zerr *);
};
#define ZMUNGE_SYMBOL "zmunge_module"
extern const struct zmunge_ops zmunge_module;

/* The means by which a peer proves its identity. */
struct zmunge {
	const struct zmunge_ops *ops;
	char socket[ZMUNGE_SOCKET_MAX];
	uint32_t reader; /* the id of zipperd's user */
};

/* Loads the module, which stays. 0 or a negative errno with text. */
int zmunge_load(const struct zmunge_ops **, const char *module_dir, struct zerr *);
/* Reads "yes", or the path of a socket. Returns 1, 0 for "no", or -EINVAL with text. */
int zmunge_parse(char socket[ZMUNGE_SOCKET_MAX], const char *value, struct zerr *);
/* Finds the name under which zipperd knows the user with this id: that of the login on this host. 0, or a negative
 * errno with text: there is none, the look-up fails, or zipperd cannot use the name. No other name stands for it, as
 * that might be another user's. */
int zmunge_user_name(char user[ZCTL_NAME_MAX + 1], uint32_t uid, struct zerr *);

#endif

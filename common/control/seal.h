/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealed records: the bytes of one direction of a connection, protected by libsodium's secretstream. Each record
 * belongs to its place in its stream: one that was changed, left out, repeated or moved, or that comes from another
 * stream, does not open. The last record of a stream says so, and without it the stream was cut. */
#ifndef ZIP_COMMON_CONTROL_SEAL_H
#define ZIP_COMMON_CONTROL_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The protection of a connection. A higher level has all of a lower one. */
enum zseal_level {
	ZSEAL_NONE,
	ZSEAL_INTEGRITY, /* others can read the bytes, and not change them */
	ZSEAL_ENCRYPT,
	ZSEAL_LEVELS,
	/* In messages: the bytes travel inside a connection that another zipperd has made, and which may be sealed. */
	ZSEAL_INSIDE = 255
};

#define ZSEAL_KEY_BYTES 32
#define ZSEAL_HEADER_BYTES 24 /* before the first record of a stream */
#define ZSEAL_TAG_BYTES 17    /* of each record */

struct zseal_state { /* of one direction */
	uint64_t words[8];
};

/* The code, which needs libsodium. Each call is for one thread at a time and state. */
struct zseal_ops {
	void (*begin_sealing)(struct zseal_state *, uint8_t header[ZSEAL_HEADER_BYTES],
		const uint8_t key[ZSEAL_KEY_BYTES]);
	/* Returns 0 or -EBADMSG. */
	int (*begin_opening)(struct zseal_state *, const uint8_t header[ZSEAL_HEADER_BYTES],
		const uint8_t key[ZSEAL_KEY_BYTES]);
	/* Writes len encrypted bytes and ZSEAL_TAG_BYTES more to out. `beside` is protected with them, but not written.
	 * last: it is the last record. */
	void (*seal)(struct zseal_state *, uint8_t *out, const uint8_t *bytes, size_t len, const uint8_t *beside,
		size_t beside_len, bool last);
	/* Opens what seal has written: len bytes go to out. Returns 0: right, 1: right, and the last record; or
	 * -EBADMSG: then nothing was written. */
	int (*open)(struct zseal_state *, uint8_t *out, const uint8_t *sealed, size_t len, const uint8_t *beside,
		size_t beside_len);
	void (*wipe)(void *buf, size_t len);
};

/* With which a link is sealed (transport.h). */
struct zseal {
	const struct zseal_ops *ops;
	enum zseal_level level;
	uint8_t send_key[ZSEAL_KEY_BYTES], receive_key[ZSEAL_KEY_BYTES];
};

#endif

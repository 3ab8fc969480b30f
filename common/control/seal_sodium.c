/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealed records by libsodium, see seal.h. Built as auth.c is. */
#include "common/control/seal_sodium.h"

#include <errno.h>
#include <sodium.h>

typedef crypto_secretstream_xchacha20poly1305_state stream;

_Static_assert(sizeof(stream) <= sizeof(struct zseal_state), "a state of libsodium fits");
_Static_assert(ZSEAL_KEY_BYTES == crypto_secretstream_xchacha20poly1305_KEYBYTES, "the key of libsodium");
_Static_assert(ZSEAL_HEADER_BYTES == crypto_secretstream_xchacha20poly1305_HEADERBYTES, "the header of libsodium");
_Static_assert(ZSEAL_TAG_BYTES == crypto_secretstream_xchacha20poly1305_ABYTES, "what libsodium adds");

static void begin_sealing(struct zseal_state *s, uint8_t header[ZSEAL_HEADER_BYTES], const uint8_t key[ZSEAL_KEY_BYTES])
{
	crypto_secretstream_xchacha20poly1305_init_push((stream *)(void *)s, header, key);
}

static int begin_opening(struct zseal_state *s, const uint8_t header[ZSEAL_HEADER_BYTES],
	const uint8_t key[ZSEAL_KEY_BYTES])
{
	return crypto_secretstream_xchacha20poly1305_init_pull((stream *)(void *)s, header, key) == 0 ? 0 : -EBADMSG;
}

static void seal(struct zseal_state *s, uint8_t *out, const uint8_t *bytes, size_t len, const uint8_t *beside,
	size_t beside_len, bool last)
{
	const unsigned char tag = last ? crypto_secretstream_xchacha20poly1305_TAG_FINAL
				       : crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;
	crypto_secretstream_xchacha20poly1305_push((stream *)(void *)s, out, NULL, bytes, len, beside, beside_len, tag);
}

static int open_sealed(struct zseal_state *s, uint8_t *out, const uint8_t *sealed, size_t len, const uint8_t *beside,
	size_t beside_len)
{
	unsigned char tag;
	if (crypto_secretstream_xchacha20poly1305_pull((stream *)(void *)s, out, NULL, &tag, sealed,
		    len + ZSEAL_TAG_BYTES, beside, beside_len) != 0)
		return -EBADMSG;
	return tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL;
}

const struct zseal_ops zseal_sodium = {
	.begin_sealing = begin_sealing,
	.begin_opening = begin_opening,
	.seal = seal,
	.open = open_sealed,
	.wipe = sodium_memzero,
};

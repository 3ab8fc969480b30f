/* SPDX-License-Identifier: BSD-3-Clause */
/* Proves an identity with libsodium; no other file needs that library. Built twice: into the module zipauth.so, which
 * ranks load while they join, and into zipperd and zmpirun. */
#include "common/control/auth.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "common/base/module.h"

/* They separate these hashes from every other use of the same key. */
#define LABEL "leiden-zipper hello 2"
#define JOB_LABEL "leiden-zipper job credential 1"

static int parse_key(uint8_t key[ZAUTH_KEY_BYTES], const char *hex, struct zerr *err)
{
	size_t len = 0;
	const char *end = NULL;
	if (strlen(hex) != 2 * ZAUTH_KEY_BYTES ||
		sodium_hex2bin(key, ZAUTH_KEY_BYTES, hex, 2 * ZAUTH_KEY_BYTES, NULL, &len, &end) != 0 ||
		len != ZAUTH_KEY_BYTES)
		return zerr_set(err, -EINVAL, "a key is %d hexadecimal digits", 2 * ZAUTH_KEY_BYTES);
	return 0;
}

static void random_bytes(uint8_t *buf, size_t len)
{
	const int rc = sodium_init(); /* sodium chooses faster code; the rest works without it */
	(void)rc;
	randombytes_buf(buf, len); /* it aborts where there is no randomness */
}

static void hash_text(crypto_generichash_state *state, const char *text)
{
	/* The length goes first: "ab"+"c" and "a"+"bc" must differ. */
	uint8_t len = (uint8_t)strlen(text);
	crypto_generichash_update(state, &len, 1);
	crypto_generichash_update(state, (const uint8_t *)text, len);
}

static void hash_number(crypto_generichash_state *state, uint64_t n)
{
	uint8_t bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(n >> (8 * i));
	crypto_generichash_update(state, bytes, sizeof(bytes));
}

static void derive(uint8_t out[ZAUTH_KEY_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], const char *user, const char *job,
	uint64_t expires_s)
{
	crypto_generichash_state state;
	crypto_generichash_init(&state, key, ZAUTH_KEY_BYTES, ZAUTH_KEY_BYTES);
	hash_text(&state, JOB_LABEL);
	hash_text(&state, user);
	hash_text(&state, job);
	hash_number(&state, expires_s);
	crypto_generichash_final(&state, out, ZAUTH_KEY_BYTES);
	sodium_memzero(&state, sizeof(state));
}

static void prove(uint8_t mac[ZCTL_MAC_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], enum zauth_side side,
	const struct zctl_hello *hello, const struct zctl_challenge *challenge)
{
	const uint8_t service = side == ZAUTH_ANSWERS ? hello->service | ZCTL_PROOF_REPLY : hello->service;
	crypto_generichash_state state;
	crypto_generichash_init(&state, key, ZAUTH_KEY_BYTES, ZCTL_MAC_BYTES);
	hash_text(&state, LABEL);
	crypto_generichash_update(&state, &service, 1);
	hash_text(&state, hello->user);
	hash_text(&state, hello->job);
	hash_number(&state, hello->expires_s);
	crypto_generichash_update(&state, hello->nonce, sizeof(hello->nonce));
	crypto_generichash_update(&state, challenge->nonce, sizeof(challenge->nonce));
	crypto_generichash_final(&state, mac, ZCTL_MAC_BYTES);
	sodium_memzero(&state, sizeof(state));
}

static int check(const uint8_t mac[ZCTL_MAC_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], enum zauth_side side,
	const struct zctl_hello *hello, const struct zctl_challenge *challenge)
{
	uint8_t right[ZCTL_MAC_BYTES];
	prove(right, key, side, hello, challenge);
	int rc = sodium_memcmp(mac, right, sizeof(right)) == 0 ? 0 : -EACCES;
	sodium_memzero(right, sizeof(right));
	return rc;
}

__attribute__((visibility("default"))) const struct zauth_ops zauth_module = {
	.release = ZMODULE_RELEASE,
	.parse_key = parse_key,
	.random = random_bytes,
	.derive = derive,
	.prove = prove,
	.check = check,
	.wipe = sodium_memzero,
};

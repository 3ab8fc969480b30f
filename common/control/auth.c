/* SPDX-License-Identifier: BSD-3-Clause */
/* Proves an identity with libsodium, which only this file and seal_sodium.c need. Both are built twice: into the module
 * zipauth.so, which ranks load while they join, and into zipperd and zmpirun. */
#include "common/control/auth.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "common/base/module.h"
#include "common/control/seal_sodium.h"

/* They separate these hashes from every other use of the same key. */
#define LABEL "leiden-zipper hello 2"
#define JOB_LABEL "leiden-zipper job credential 1"
#define SESSION_LABEL "leiden-zipper session 1"
#define CHANNEL_LABEL "leiden-zipper channel 1"
#define LINK_LABEL "leiden-zipper link 1"
#define LINK_KEY_LABEL "leiden-zipper link key 1"
#define MASK_LABEL "leiden-zipper mask 1"
#define WAY_LABEL "leiden-zipper way 1"
#define SEAL_LABEL "leiden-zipper seal 1"

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
	const size_t len = strlen(text);
	const uint8_t bytes = (uint8_t)len;
	crypto_generichash_update(state, &bytes, 1);
	crypto_generichash_update(state, (const uint8_t *)text, len);
}

static void hash_number(crypto_generichash_state *state, uint64_t n)
{
	uint8_t bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(n >> (8 * i));
	crypto_generichash_update(state, bytes, sizeof(bytes));
}

static void begin(crypto_generichash_state *state, const uint8_t key[ZAUTH_KEY_BYTES], const char *label)
{
	crypto_generichash_init(state, key, ZAUTH_KEY_BYTES, ZCTL_MAC_BYTES);
	hash_text(state, label);
}

static void end(crypto_generichash_state *state, uint8_t out[ZCTL_MAC_BYTES])
{
	crypto_generichash_final(state, out, ZCTL_MAC_BYTES);
	sodium_memzero(state, sizeof(*state));
}

static void derive(uint8_t out[ZAUTH_KEY_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], const char *user, const char *job,
	uint64_t expires_s)
{
	crypto_generichash_state state;
	begin(&state, key, JOB_LABEL);
	hash_text(&state, user);
	hash_text(&state, job);
	hash_number(&state, expires_s);
	end(&state, out);
}

/* Over all that the two sides have said before their proofs. */
static void hash_greeting(crypto_generichash_state *state, const struct zctl_hello *hello,
	const struct zctl_challenge *challenge)
{
	hash_text(state, hello->user);
	hash_text(state, hello->job);
	hash_number(state, hello->expires_s);
	crypto_generichash_update(state, hello->nonce, sizeof(hello->nonce));
	crypto_generichash_update(state, challenge->nonce, sizeof(challenge->nonce));
	if (zctl_protocol(hello) < 2)
		return;
	hash_number(state, zctl_protocol(hello));
	hash_number(state, hello->seal);
	hash_number(state, challenge->seal);
}

static void prove(uint8_t mac[ZCTL_MAC_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], enum zauth_side side,
	const struct zctl_hello *hello, const struct zctl_challenge *challenge)
{
	const uint8_t service = side == ZAUTH_ANSWERS ? hello->service | ZCTL_PROOF_REPLY : hello->service;
	crypto_generichash_state state;
	begin(&state, key, LABEL);
	crypto_generichash_update(&state, &service, 1);
	hash_greeting(&state, hello, challenge);
	end(&state, mac);
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

static void session(uint8_t out[ZAUTH_KEY_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], const struct zctl_hello *hello,
	const struct zctl_challenge *challenge)
{
	crypto_generichash_state state;
	begin(&state, key, SESSION_LABEL);
	crypto_generichash_update(&state, &hello->service, 1);
	hash_greeting(&state, hello, challenge);
	end(&state, out);
}

static void ticket(uint8_t out[ZCTL_MAC_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], enum zauth_ticket what,
	const struct zctl_attach *a)
{
	crypto_generichash_state state;
	begin(&state, key, what == ZAUTH_LINK ? LINK_LABEL : CHANNEL_LABEL);
	crypto_generichash_update(&state, a->nonce, sizeof(a->nonce));
	hash_number(&state, a->vrank);
	hash_number(&state, a->part);
	hash_number(&state, a->endpoint);
	if (a->seal != ZSEAL_NONE) /* which protocol 1 does not have */
		hash_number(&state, a->seal);
	if (a->track != 0) { /* which protocols before 4 do not have */
		hash_number(&state, ZCTL_PROTOCOL_TRACKS);
		hash_number(&state, a->track);
	}
	end(&state, out);
}

static void mask(uint8_t text[ZCTL_MAC_BYTES], const uint8_t key[ZAUTH_KEY_BYTES],
	const uint8_t nonce[ZCTL_NONCE_BYTES])
{
	crypto_generichash_state state;
	uint8_t pad[ZCTL_MAC_BYTES];
	begin(&state, key, MASK_LABEL);
	crypto_generichash_update(&state, nonce, ZCTL_NONCE_BYTES);
	end(&state, pad);
	for (int i = 0; i < ZCTL_MAC_BYTES; i++)
		text[i] ^= pad[i];
	sodium_memzero(pad, sizeof(pad));
}

static void way(uint8_t mac[ZCTL_MAC_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], const struct zctl_hello *hello,
	const struct zctl_challenge *challenge, const struct zctl_reach *reach)
{
	crypto_generichash_state state;
	begin(&state, key, WAY_LABEL);
	hash_greeting(&state, hello, challenge);
	hash_text(&state, reach->from);
	hash_text(&state, reach->to);
	hash_text(&state, reach->address);
	crypto_generichash_update(&state, reach->pass, sizeof(reach->pass));
	if (reach->share != 0) { /* since protocol 4 */
		hash_number(&state, ZCTL_PROTOCOL_TRUNKS);
		hash_number(&state, reach->share);
	}
	end(&state, mac);
}

static void seal_key(uint8_t out[ZSEAL_KEY_BYTES], const uint8_t key[ZAUTH_KEY_BYTES], enum zauth_side sender,
	enum zseal_level level, const uint8_t salt[ZCTL_MAC_BYTES])
{
	static const uint8_t none[ZCTL_MAC_BYTES];
	crypto_generichash_state state;
	begin(&state, key, SEAL_LABEL);
	hash_number(&state, sender);
	hash_number(&state, level);
	crypto_generichash_update(&state, salt ? salt : none, ZCTL_MAC_BYTES);
	end(&state, out);
}

static void seal(struct zseal *out, enum zseal_level level, const uint8_t key[ZAUTH_KEY_BYTES], enum zauth_side own,
	const uint8_t salt[ZCTL_MAC_BYTES])
{
	*out = (struct zseal){.ops = &zseal_sodium, .level = level};
	seal_key(out->send_key, key, own, level, salt);
	seal_key(out->receive_key, key, own == ZAUTH_ASKS ? ZAUTH_ANSWERS : ZAUTH_ASKS, level, salt);
}

static void link_key(uint8_t out[ZAUTH_KEY_BYTES], const uint8_t key[ZAUTH_KEY_BYTES],
	const uint8_t its_ticket[ZCTL_MAC_BYTES])
{
	crypto_generichash_state state;
	begin(&state, key, LINK_KEY_LABEL);
	crypto_generichash_update(&state, its_ticket, ZCTL_MAC_BYTES);
	end(&state, out);
}

static bool same(const uint8_t a[ZCTL_MAC_BYTES], const uint8_t b[ZCTL_MAC_BYTES])
{
	return sodium_memcmp(a, b, ZCTL_MAC_BYTES) == 0;
}

__attribute__((visibility("default"))) const struct zauth_ops zauth_module = {
	.release = ZMODULE_RELEASE,
	.parse_key = parse_key,
	.random = random_bytes,
	.derive = derive,
	.prove = prove,
	.check = check,
	.session = session,
	.ticket = ticket,
	.mask = mask,
	.way = way,
	.seal = seal,
	.link_key = link_key,
	.same = same,
	.wipe = sodium_memzero,
};

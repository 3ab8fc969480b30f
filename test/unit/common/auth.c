/* SPDX-License-Identifier: BSD-3-Clause */
/* Credentials: keys, proofs (against BLAKE2b computed by hand), and key files with everything that may be wrong in
 * them. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/control/auth.h"
#include "common/control/keyfile.h"
#include "common/session/credentials.h"

#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static const struct zauth_ops *auth = &zauth_module;

static void keys_are_hexadecimal(void **state)
{
	uint8_t key[ZAUTH_KEY_BYTES];
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(key, KEY, &err), 0);
	for (int i = 0; i < ZAUTH_KEY_BYTES; i++)
		assert_int_equal(key[i], i);
	assert_int_equal(auth->parse_key(key, "", &err), -EINVAL);
	assert_int_equal(auth->parse_key(key, KEY "0", &err), -EINVAL);
	assert_int_equal(auth->parse_key(key, &KEY[1], &err), -EINVAL);
	char bad[] = KEY;
	bad[10] = 'g';
	assert_int_equal(auth->parse_key(key, bad, &err), -EINVAL);
	assert_non_null(strstr(err.text, "64 hexadecimal digits"));
}

static const struct zctl_hello hello = {.protocol = 1,
	.service = ZCTL_SERVICE_RANK,
	.user = "alice",
	.job = "j1",
	.nonce = {[0] = 1, [31] = 2}};
static const struct zctl_challenge challenge = {.nonce = {[0] = 3, [31] = 4}};

/* python3: h = hashlib.blake2b(key=bytes(range(32)), digest_size=32); h.update(bytes([21]) +
 * b"leiden-zipper hello 2" + b"\1" + b"\5alice" + b"\2j1" + bytes(8) + nonce + challenge) */
static const uint8_t known[ZCTL_MAC_BYTES] = {
	0x1a,
	0x66,
	0x7e,
	0xd4,
	0x85,
	0xda,
	0x68,
	0xcc,
	0x64,
	0xd4,
	0x3e,
	0x87,
	0x15,
	0xee,
	0x27,
	0x7b,
	0x24,
	0x0d,
	0xbc,
	0x86,
	0xfe,
	0xe4,
	0x37,
	0x99,
	0x07,
	0x82,
	0x19,
	0x63,
	0x11,
	0xb1,
	0x82,
	0x56,
};

static void proof_is_keyed_blake2b(void **state)
{
	uint8_t key[ZAUTH_KEY_BYTES], mac[ZCTL_MAC_BYTES];
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(key, KEY, &err), 0);
	auth->prove(mac, key, ZAUTH_ASKS, &hello, &challenge);
	assert_memory_equal(mac, known, sizeof(mac));
	assert_int_equal(auth->check(mac, key, ZAUTH_ASKS, &hello, &challenge), 0);
}

/* From protocol 2 on n(protocol), n(seal of HELLO) and n(seal of CHALLENGE), 8 bytes each, are at the end. */
static const uint8_t known_2[] = {0x45, 0xd2, 0xe6, 0x88, 0xa3, 0x92, 0x6b, 0xda, 0x46, 0x48, 0x54, 0x22, 0x1c, 0x27,
	0xcc, 0xd6, 0x89, 0x90, 0x79, 0x5d, 0x4c, 0xf9, 0x6d, 0x9d, 0xfc, 0x1a, 0xa3, 0xf4, 0xe8, 0x45, 0x76, 0x3a};

static void the_protocol_cannot_be_lowered(void **state)
{
	uint8_t key[ZAUTH_KEY_BYTES], mac[ZCTL_MAC_BYTES];
	struct zctl_hello h = hello;
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(key, KEY, &err), 0);
	h.protocol = 2;
	auth->prove(mac, key, ZAUTH_ASKS, &h, &challenge);
	assert_memory_equal(mac, known_2, sizeof(mac));
	for (h.protocol = 1; h.protocol <= ZCTL_PROTOCOL; h.protocol++)
		assert_int_equal(auth->check(mac, key, ZAUTH_ASKS, &h, &challenge), h.protocol == 2 ? 0 : -EACCES);
}

/* A proof that is sent back is no proof of the other side; the answer is a proof for the service and 0x80. */
static void sides_differ(void **state)
{
	uint8_t key[ZAUTH_KEY_BYTES], asks[ZCTL_MAC_BYTES], answers[ZCTL_MAC_BYTES], marked[ZCTL_MAC_BYTES];
	struct zctl_hello h = hello;
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(key, KEY, &err), 0);
	auth->prove(asks, key, ZAUTH_ASKS, &hello, &challenge);
	auth->prove(answers, key, ZAUTH_ANSWERS, &hello, &challenge);
	assert_int_equal(auth->check(answers, key, ZAUTH_ANSWERS, &hello, &challenge), 0);
	assert_int_equal(auth->check(asks, key, ZAUTH_ANSWERS, &hello, &challenge), -EACCES);
	assert_int_equal(auth->check(answers, key, ZAUTH_ASKS, &hello, &challenge), -EACCES);
	h.service = ZCTL_SERVICE_RANK + 0x80;
	auth->prove(marked, key, ZAUTH_ASKS, &h, &challenge);
	assert_memory_equal(answers, marked, sizeof(answers));
}

static void anything_else_is_no_proof(void **state)
{
	uint8_t key[ZAUTH_KEY_BYTES], mac[ZCTL_MAC_BYTES];
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(key, KEY, &err), 0);
	auth->prove(mac, key, ZAUTH_ASKS, &hello, &challenge);
	for (int i = 0; i < ZCTL_MAC_BYTES; i++) {
		mac[i] ^= 0x10;
		assert_int_equal(auth->check(mac, key, ZAUTH_ASKS, &hello, &challenge), -EACCES);
		mac[i] ^= 0x10;
	}
	struct zctl_hello h = hello;
	struct zctl_challenge c = challenge;
	strcpy(h.user, "alicej");
	strcpy(h.job, "1");
	assert_int_equal(auth->check(mac, key, ZAUTH_ASKS, &h, &c), -EACCES);
	h = hello;
	h.nonce[5] = 1;
	assert_int_equal(auth->check(mac, key, ZAUTH_ASKS, &h, &c), -EACCES);
	c.nonce[5] = 1;
	assert_int_equal(auth->check(mac, key, ZAUTH_ASKS, &hello, &c), -EACCES);
	key[0] = 9;
	assert_int_equal(auth->check(mac, key, ZAUTH_ASKS, &hello, &challenge), -EACCES);
}

/* The same by Python as above, where H(key, label, ...) is the hash, n(x) is 8 bytes and t(s) has its length in front:
 * session H(key, "leiden-zipper session 1", b"\1", greeting); the others with the session as key, "leiden-zipper
 * channel 1" and "link 1" over nonce, n(5), n(6), n(7); "mask 1" over nonce; "way 1" over greeting, t("lgm"), t("wan"),
 * t("tcp:10.1.0.1:7474"), pass; "link key 1" over the ticket
 * of the link; "seal 1" over n(0) and n(1) for the side, n(2), the ticket of the channel. */
#define SESSION "fa6df92aa639b0060a3131fb010d24bb348b336ad314b615bdbb044d3d617544"
#define CHANNEL "421341548242e3617e98e8723303cbd5711b2c848ad34abcd17e9264d019a38b"
#define LINK "7abc1f5ac64a808df12ad0cf09b0794359e2ec18721b811cc2cb3421dc6e02a9"
#define MASKED "281b62ec8ec4eb479b073a25d275fe23a1a21e69e88e8cdebd94dd6ca99914de"
#define PASSED "cee779eed9669dda863c0c98cfd6d737abcbee4550d629ce356f6d5b4a8da855"
#define LINK_KEY "3d62655541697836d3fa88cabe371a6370fa1812348676e15d7cec4654e6dac7"
#define ASKING "ef1ceb7eedf92fd423558a379511a6c5638eab9cd64dc6f23f383e5e1e3da190"
#define ANSWERING "51a8f9d1d4f4a8ccb34856e8754a711db00c752a138610ebd41428ebcad74690"
static const struct zctl_attach place = {.nonce = {[0] = 3, [31] = 4}, .vrank = 5, .part = 6, .endpoint = 7};

static void assert_hash(const uint8_t hash[ZCTL_MAC_BYTES], const char *hex)
{
	uint8_t right[ZAUTH_KEY_BYTES];
	struct zerr err;
	assert_int_equal(auth->parse_key(right, hex, &err), 0);
	assert_memory_equal(hash, right, sizeof(right));
}

static void tickets_are_made_with_the_session_key(void **state)
{
	uint8_t key[ZAUTH_KEY_BYTES], session[ZAUTH_KEY_BYTES], ticket[ZCTL_MAC_BYTES], other[ZCTL_MAC_BYTES];
	struct zctl_attach a = place;
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(key, KEY, &err), 0);
	auth->session(session, key, &hello, &challenge);
	assert_hash(session, SESSION);
	auth->ticket(ticket, session, ZAUTH_CHANNEL, &a);
	assert_hash(ticket, CHANNEL);
	assert_true(auth->same(ticket, ticket));
	uint32_t *const fields[] = {&a.vrank, &a.part, &a.endpoint};
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		(*fields[i])++;
		auth->ticket(other, session, ZAUTH_CHANNEL, &a);
		assert_false(auth->same(ticket, other));
		(*fields[i])--;
	}
	a.nonce[5] = 1;
	auth->ticket(other, session, ZAUTH_CHANNEL, &a);
	assert_false(auth->same(ticket, other));
}

/* Each direction has its own key, which the other side has, too; and each level and each connection. */
static void keys_of_seals_come_from_the_session_key(void **state)
{
	uint8_t session[ZAUTH_KEY_BYTES], ticket[ZCTL_MAC_BYTES], key[ZAUTH_KEY_BYTES];
	struct zseal asks, answers, other;
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(session, SESSION, &err), 0);
	assert_int_equal(auth->parse_key(ticket, CHANNEL, &err), 0);
	auth->seal(&asks, ZSEAL_ENCRYPT, session, ZAUTH_ASKS, ticket);
	assert_hash(asks.send_key, ASKING);
	assert_hash(asks.receive_key, ANSWERING);
	assert_int_equal(asks.level, ZSEAL_ENCRYPT);
	auth->seal(&answers, ZSEAL_ENCRYPT, session, ZAUTH_ANSWERS, ticket);
	assert_memory_equal(asks.send_key, answers.receive_key, ZSEAL_KEY_BYTES);
	assert_memory_equal(asks.receive_key, answers.send_key, ZSEAL_KEY_BYTES);
	auth->seal(&other, ZSEAL_INTEGRITY, session, ZAUTH_ASKS, ticket);
	assert_memory_not_equal(asks.send_key, other.send_key, ZSEAL_KEY_BYTES);
	auth->seal(&other, ZSEAL_ENCRYPT, session, ZAUTH_ASKS, NULL);
	assert_memory_not_equal(asks.send_key, other.send_key, ZSEAL_KEY_BYTES);
	assert_int_equal(auth->parse_key(ticket, LINK, &err), 0);
	auth->link_key(key, session, ticket);
	assert_hash(key, LINK_KEY);
}

/* Nobody on the way can lower the protection that an end asks for. */
static void the_protection_cannot_be_lowered(void **state)
{
	struct zctl_hello h = hello;
	struct zctl_challenge c = challenge;
	struct zctl_attach a = place;
	uint8_t key[ZAUTH_KEY_BYTES], mac[ZCTL_MAC_BYTES], other[ZCTL_MAC_BYTES];
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(key, KEY, &err), 0);
	h.protocol = 2;
	h.seal = c.seal = ZSEAL_INTEGRITY;
	auth->prove(mac, key, ZAUTH_ASKS, &h, &c);
	h.seal = ZSEAL_NONE;
	assert_int_equal(auth->check(mac, key, ZAUTH_ASKS, &h, &c), -EACCES);
	h.seal = ZSEAL_INTEGRITY;
	c.seal = ZSEAL_NONE;
	assert_int_equal(auth->check(mac, key, ZAUTH_ASKS, &h, &c), -EACCES);
	a.seal = ZSEAL_ENCRYPT;
	auth->ticket(mac, key, ZAUTH_CHANNEL, &a);
	for (a.seal = ZSEAL_NONE; a.seal < ZSEAL_ENCRYPT; a.seal++) {
		auth->ticket(other, key, ZAUTH_CHANNEL, &a);
		assert_false(auth->same(mac, other));
	}
}

static void tickets_of_links_travel_masked(void **state)
{
	uint8_t session[ZAUTH_KEY_BYTES], ticket[ZCTL_MAC_BYTES];
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(session, SESSION, &err), 0);
	auth->ticket(ticket, session, ZAUTH_LINK, &place);
	assert_hash(ticket, LINK);
	auth->mask(ticket, session, place.nonce);
	assert_hash(ticket, MASKED);
	auth->mask(ticket, session, place.nonce);
	assert_hash(ticket, LINK);
}

static void a_way_is_proved_with_the_session_key(void **state)
{
	struct zctl_reach r = {.from = "lgm", .to = "wan", .address = "tcp:10.1.0.1:7474", .pass = {[0] = 1, [31] = 2}};
	struct zctl_challenge c = challenge;
	uint8_t session[ZAUTH_KEY_BYTES], mac[ZCTL_MAC_BYTES], other[ZCTL_MAC_BYTES];
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(session, SESSION, &err), 0);
	auth->way(mac, session, &hello, &c, &r);
	assert_hash(mac, PASSED);
	c.nonce[1] = 1;
	auth->way(other, session, &hello, &c, &r);
	assert_false(auth->same(mac, other));
	r.address[3] = '1';
	auth->way(other, session, &hello, &challenge, &r);
	assert_false(auth->same(mac, other));
}

/* The same with label "leiden-zipper job credential 1", alice, j1 and (1800000000).to_bytes(8, "little") */
static const uint8_t derived[ZAUTH_KEY_BYTES] = {
	0x0b,
	0x07,
	0x53,
	0x69,
	0xdf,
	0x3a,
	0xb2,
	0x95,
	0xa6,
	0xb7,
	0xa1,
	0xf9,
	0x48,
	0x65,
	0x01,
	0x87,
	0x3d,
	0x88,
	0x35,
	0xe8,
	0x26,
	0x02,
	0x7e,
	0x1b,
	0xa4,
	0xc4,
	0xb8,
	0xde,
	0x6f,
	0xc4,
	0x31,
	0x0b,
};

static void a_job_credential_is_for_one_job(void **state)
{
	uint8_t key[ZAUTH_KEY_BYTES], out[ZAUTH_KEY_BYTES];
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(key, KEY, &err), 0);
	auth->derive(out, key, "alice", "j1", 1800000000);
	assert_memory_equal(out, derived, sizeof(out));
	auth->derive(out, key, "alice", "j1", 1800000001);
	assert_memory_not_equal(out, derived, sizeof(out));
	auth->derive(out, key, "alice", "j2", 1800000000);
	assert_memory_not_equal(out, derived, sizeof(out));
	auth->derive(out, key, "alicej", "1", 1800000000);
	assert_memory_not_equal(out, derived, sizeof(out));
	key[31] ^= 1;
	auth->derive(out, key, "alice", "j1", 1800000000);
	assert_memory_not_equal(out, derived, sizeof(out));
}

static int find_rank(const char *text, uint8_t key[ZAUTH_KEY_BYTES], uint64_t *expires_s, struct zerr *err)
{
	setenv("ZIPPER_CREDENTIAL", text, 1);
	int rc = zcredentials_find_rank(auth, key, expires_s, "alice", err);
	unsetenv("ZIPPER_CREDENTIAL");
	return rc;
}

static void ranks_find_their_credential(void **state)
{
	static const char *const bad[] = {"1800000000", "1800000000:" KEY "0", ":" KEY, "-1:" KEY, "0:" KEY,
		"99999999999999999999:" KEY, "soon:" KEY};
	char text[ZCREDENTIALS_TEXT_BYTES];
	uint8_t key[ZAUTH_KEY_BYTES], found[ZAUTH_KEY_BYTES];
	uint64_t expires_s;
	struct zerr err;
	(void)state;
	assert_int_equal(auth->parse_key(key, KEY, &err), 0);
	zcredentials_format(auth, text, key, "alice", "j1", UINT64_MAX);
	zcredentials_format(auth, text, key, "alice", "j1", 1800000000);
	assert_int_equal(find_rank(text, found, &expires_s, &err), 0);
	assert_memory_equal(found, derived, sizeof(found));
	assert_int_equal(expires_s, 1800000000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(find_rank(bad[i], found, &expires_s, &err), -EINVAL);
		assert_non_null(strstr(err.text, "ZIPPER_CREDENTIAL: "));
	}
	setenv("ZIPPER_KEY", KEY, 1);
	assert_int_equal(find_rank("", found, &expires_s, &err), 0);
	assert_memory_equal(found, key, sizeof(found));
	assert_int_equal(expires_s, 0);
	unsetenv("ZIPPER_KEY");
}

static char path[64];

static void write_keys(const char *text, mode_t mode)
{
	strcpy(path, "/tmp/zip-keys.XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static int read_key(const char *text, mode_t mode, const char *user, struct zerr *err)
{
	uint8_t key[ZAUTH_KEY_BYTES] = {0};
	write_keys(text, mode);
	err->text[0] = '\0';
	int rc = zkeyfile_read(auth, key, path, user, err);
	unlink(path);
	if (rc == 0)
		assert_int_equal(key[31], 31);
	else if (!strstr(err->text, path))
		fail_msg("'%s' does not name the file", err->text);
	return rc;
}

static void key_files(void **state)
{
	struct zerr err;
	static char line[2000];
	(void)state;
	assert_int_equal(read_key("# keys\n\nbob " KEY "\n  alice\t" KEY " # hers\n", 0600, "alice", &err), 0);
	assert_int_equal(read_key("alice " KEY, 0400, "alice", &err), 0);
	assert_int_equal(read_key("\xef\xbb\xbf"
				  "alice " KEY "\n",
				 0600, "alice", &err),
		0);
	assert_int_equal(read_key("bob " KEY "\n", 0600, "alice", &err), -ENOENT);
	assert_non_null(strstr(err.text, "no key for user alice"));
	assert_int_equal(read_key("alice " KEY "\n", 0640, "alice", &err), -EACCES);
	assert_non_null(strstr(err.text, "mode 640"));
	assert_int_equal(read_key("alice\n", 0600, "alice", &err), -EINVAL);
	assert_non_null(strstr(err.text, ":1: "));
	assert_int_equal(read_key("\nalice " KEY "0\n", 0600, "alice", &err), -EINVAL);
	assert_non_null(strstr(err.text, ":2: "));
	assert_int_equal(read_key("alice " KEY " more\n", 0600, "alice", &err), -EINVAL);
	assert_int_equal(read_key("a,b " KEY "\n", 0600, "alice", &err), -EINVAL);
	assert_int_equal(read_key("alice/job " KEY "\n", 0600, "alice", &err), -EINVAL);
	assert_int_equal(read_key("bob " KEY "\nbob " KEY "\n", 0600, "alice", &err), -EINVAL);
	assert_non_null(strstr(err.text, ":2: user bob has a key already"));
	memset(line, 'x', sizeof(line) - 1);
	assert_int_equal(read_key(line, 0600, "alice", &err), -EINVAL);
	assert_non_null(strstr(err.text, ":1: the line is too long"));
	uint8_t key[ZAUTH_KEY_BYTES];
	assert_int_equal(zkeyfile_read(auth, key, "/nonexistent/keys", "alice", &err), -ENOENT);
	assert_int_equal(zkeyfile_read(auth, key, "/dev/null", "alice", &err), -EINVAL);
}

static void keys_have_a_last_day(void **state)
{
	static const char *const bad[] = {"", "2030", "2030-13-01", "2030-02-30", "2030-1-1", "2030-01-01x",
		" 2030-01-01", "1969-01-01"};
	char text[200];
	uint64_t until_s;
	struct zerr err;
	(void)state;
	assert_int_equal(zkeyfile_parse_day(&until_s, "2030-12-31", &err), 0);
	assert_int_equal(until_s, 1924992000); /* date -u -d 2031-01-01 +%s */
	assert_int_equal(zkeyfile_parse_day(&until_s, "2028-02-29", &err), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(zkeyfile_parse_day(&until_s, bad[i], &err), -EINVAL);
		snprintf(text, sizeof(text), "alice " KEY " until=%s\n", bad[i]);
		assert_int_equal(read_key(text, 0600, "alice", &err), -EINVAL);
		assert_non_null(strstr(err.text, ":1: "));
	}
	assert_int_equal(read_key("alice " KEY " until=2999-12-31 # hers\n", 0600, "alice", &err), 0);
	assert_int_equal(read_key("alice " KEY " until=2020-12-31\n", 0600, "alice", &err), -EKEYEXPIRED);
	assert_non_null(strstr(err.text, "the key of user alice has expired"));
}

/* A user that can write the file chooses the keys. */
static void key_files_of_somebody_else(void **state)
{
	uint8_t key[ZAUTH_KEY_BYTES];
	struct zerr err;
	(void)state;
	if (geteuid() != 0) { /* a test that is skipped is a failure to Automake, as cmocka 1 writes it */
		print_message("# only root can give a file away\n");
		return;
	}
	write_keys("alice " KEY "\n", 0600);
	assert_int_equal(chown(path, 1, (gid_t)-1), 0);
	const int rc = zkeyfile_read(auth, key, path, "alice", &err);
	unlink(path);
	assert_int_equal(rc, -EACCES);
	assert_non_null(strstr(err.text, "belongs to somebody else (uid 1)"));
}

static void random_is_random(void **state)
{
	uint8_t a[32] = {0}, b[32] = {0}, zero[32] = {0};
	(void)state;
	auth->random(a, sizeof(a));
	auth->random(b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
	assert_memory_not_equal(a, zero, sizeof(a));
	auth->wipe(a, sizeof(a));
	assert_memory_equal(a, zero, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_hexadecimal),
		cmocka_unit_test(proof_is_keyed_blake2b),
		cmocka_unit_test(the_protocol_cannot_be_lowered),
		cmocka_unit_test(sides_differ),
		cmocka_unit_test(anything_else_is_no_proof),
		cmocka_unit_test(tickets_are_made_with_the_session_key),
		cmocka_unit_test(keys_of_seals_come_from_the_session_key),
		cmocka_unit_test(the_protection_cannot_be_lowered),
		cmocka_unit_test(tickets_of_links_travel_masked),
		cmocka_unit_test(a_way_is_proved_with_the_session_key),
		cmocka_unit_test(a_job_credential_is_for_one_job),
		cmocka_unit_test(ranks_find_their_credential),
		cmocka_unit_test(key_files),
		cmocka_unit_test(keys_have_a_last_day),
		cmocka_unit_test(key_files_of_somebody_else),
		cmocka_unit_test(random_is_random),
	};
	return cmocka_run_group_tests_name("auth", tests, NULL, NULL);
}

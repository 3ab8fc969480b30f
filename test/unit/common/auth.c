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

static const struct zctl_hello hello = {.service = ZCTL_SERVICE_RANK,
	.user = "alice",
	.job = "j1",
	.nonce = {[0] = 1, [31] = 2}};
static const struct zctl_challenge challenge = {.nonce = {[0] = 3, [31] = 4}};

/* python3: h = hashlib.blake2b(key=bytes(range(32)), digest_size=32); h.update(bytes([21]) +
 * b"leiden-zipper hello 1" + b"\1" + b"\5alice" + b"\2j1" + nonce + challenge) */
static const uint8_t known[ZCTL_MAC_BYTES] = {
	0xdb,
	0xa6,
	0x78,
	0x3a,
	0x9e,
	0xe1,
	0xe9,
	0xb8,
	0x68,
	0xd7,
	0x25,
	0x40,
	0x01,
	0x18,
	0xf5,
	0xfd,
	0xc1,
	0x1b,
	0x8b,
	0x55,
	0xae,
	0x4a,
	0x74,
	0x38,
	0x5f,
	0x37,
	0x70,
	0xdc,
	0x2f,
	0xdc,
	0x4d,
	0xc9,
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

/* A user that can write the file chooses the keys. */
static void key_files_of_somebody_else(void **state)
{
	uint8_t key[ZAUTH_KEY_BYTES];
	struct zerr err;
	(void)state;
	if (geteuid() != 0)
		skip();
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
		cmocka_unit_test(sides_differ),
		cmocka_unit_test(anything_else_is_no_proof),
		cmocka_unit_test(key_files),
		cmocka_unit_test(key_files_of_somebody_else),
		cmocka_unit_test(random_is_random),
	};
	return cmocka_run_group_tests_name("auth", tests, NULL, NULL);
}

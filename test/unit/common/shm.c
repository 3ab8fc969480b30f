/* SPDX-License-Identifier: BSD-3-Clause */
/* The shm transport against peers that break the protocol, and its socket files. */
#define _GNU_SOURCE
#include "test/unit/common/link_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/transport/shm/shm_pass.h"
#include "common/transport/shm/shm_consumer.h"
#include "common/transport/shm/shm_producer.h"
#include "common/transport/shm/shm_slots.h"
#include "common/transport/shm/shm_socket.h"

static int setup(void **state)
{
	static const struct link_kind shm = {.name = "shm", .address = "shm:%s/sock"};
	*state = (void *)&shm;
	return fixture_setup(state);
}

/* ---- offers ---- */

static int connect_unix(const struct fixture *f)
{
	int fd = shm_socket_connect(f->addr.host, 1000, NULL);
	assert_true(fd >= 0);
	return fd;
}

/* The results of both halves of an accepted link after this offer. */
static int result_of_offer(struct fixture *f, const int fds[SHM_OFFER_FDS])
{
	struct inbox in;
	inbox_init(&in);
	int fd = connect_unix(f);
	struct zlink *link = fixture_accept(f);
	assert_int_equal(shm_socket_send_offer(fd, fds), 0);
	assert_true(sleep_on(link, ZLINK_TX, PATIENCE_MS));
	int rc = receive_to_end(link, &in);
	uint8_t raw[ZWIRE_ENV_BYTES];
	message_env(raw, 0, 0);
	assert_int_equal(link->ops->post(link, raw, NULL, 0), rc);
	assert_int_equal(link->ops->flush(link), rc);
	link->ops->close(link);
	close(fd);
	inbox_fini(&in);
	return rc;
}

static int memory_like(size_t bytes, unsigned flags, int seals)
{
	int fd = memfd_create("test", flags);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	if (seals)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void memory_of_the_wrong_kind_is_refused(void **state)
{
	struct fixture *f = *state;
	struct shm_map map;
	struct shm_slots mapped;
	struct stat st;
	int pair[2], good = shm_map_create(&map, NULL), slots = shm_slots_create(&mapped, NULL);
	assert_true(good >= 0 && slots >= 0);
	shm_map_close(&map);
	shm_slots_close(&mapped);
	assert_int_equal(fstat(good, &st), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	size_t right = (size_t)st.st_size;
	int seals = fcntl(good, F_GET_SEALS);
	assert_true(seals & F_SEAL_SHRINK);
	const int bad[] = {
		memory_like(right, MFD_ALLOW_SEALING, 0),
		memory_like(right, MFD_ALLOW_SEALING, F_SEAL_GROW | F_SEAL_SEAL),
		memory_like(right, 0, 0),
		memory_like(right, MFD_ALLOW_SEALING, seals | F_SEAL_WRITE),
		memory_like(right - 4096, MFD_ALLOW_SEALING, seals),
		memory_like(right + 4096, MFD_ALLOW_SEALING, seals),
		memory_like(0, MFD_ALLOW_SEALING, seals),
		open("/dev/zero", O_RDWR),
		open("/proc/self/exe", O_RDONLY),
		dup(pair[1]),
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(bad[i] >= 0);
		assert_int_equal(result_of_offer(f, (int[]){bad[i], pair[1], slots}), -EPROTO);
		assert_int_equal(result_of_offer(f, (int[]){good, pair[1], bad[i]}), -EPROTO);
		close(bad[i]);
	}
	/* A file cannot be watched, even if everything else is right. */
	int file = open("/proc/self/exe", O_RDONLY);
	assert_int_equal(result_of_offer(f, (int[]){good, file, slots}), -EPROTO);
	close(file);
	close(good);
	close(slots);
	close(pair[0]);
	close(pair[1]);
}

static void offers_with_other_descriptors_are_refused(void **state)
{
	struct fixture *f = *state;
	for (int count = 0; count < 6; count++)
		for (int text = 0; text < 2; text++) {
			if (count == SHM_OFFER_FDS && text == 0)
				continue;
			char bytes[12] = "zipshm-2\0\0 ", control[CMSG_SPACE(6 * sizeof(int))];
			struct iovec iov = {bytes, text ? 7 : 12};
			struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
			memset(control, 0, sizeof(control));
			if (count) {
				msg.msg_control = control;
				msg.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
				struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
				c->cmsg_level = SOL_SOCKET;
				c->cmsg_type = SCM_RIGHTS;
				c->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
				for (int i = 0; i < count; i++)
					memcpy(CMSG_DATA(c) + (size_t)i * sizeof(int), &(int){2}, sizeof(int));
			}
			int fd = connect_unix(f);
			struct zlink *link = fixture_accept(f);
			assert_true(sendmsg(fd, &msg, 0) > 0);
			struct inbox in;
			inbox_init(&in);
			assert_int_equal(receive_to_end(link, &in), -EPROTO);
			inbox_fini(&in);
			link->ops->close(link);
			close(fd);
		} /* the fixture sees descriptors that were received and not closed */
}

/* ---- rings ---- */

struct rogue { /* a peer that writes to the rings itself */
	struct shm_map map;
	struct shm_slots slots;
	int sock, back;
	struct zlink *link;
};

static struct rogue rogue_connect(struct fixture *f)
{
	struct rogue r;
	int pair[2], memory = shm_map_create(&r.map, NULL), slots = shm_slots_create(&r.slots, NULL);
	assert_true(memory >= 0 && slots >= 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	r.sock = connect_unix(f);
	r.back = pair[0];
	assert_int_equal(shm_socket_send_offer(r.sock, (int[]){memory, pair[1], slots}), 0);
	close(memory);
	close(slots);
	close(pair[1]);
	r.link = fixture_accept(f);
	return r;
}

static void rogue_close(struct rogue *r)
{
	r->link->ops->close(r->link);
	close(r->sock);
	close(r->back);
	shm_map_close(&r->map);
	shm_slots_close(&r->slots);
}

/* The control block of shm_ring.h: a peer can write anything into it. */
static _Atomic uint64_t *tail_of(struct rogue *r, int ring)
{
	return (_Atomic uint64_t *)(void *)r->map.ctl[ring];
}
static _Atomic uint64_t *head_of(struct rogue *r, int ring)
{
	return tail_of(r, ring) + 16;
}

static void positions_beyond_the_ring_are_refused(void **state)
{
	static const uint64_t tails[] = {SHM_RING_BYTES + 64, UINT64_MAX - 63, UINT64_MAX, 1, 63, 65, (uint64_t)1 << 63,
		(uint64_t)SHM_RING_BYTES * 2};
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		struct rogue r = rogue_connect(*state);
		struct inbox in;
		inbox_init(&in);
		message_env(r.map.data[0], 0, 0); /* a good one: only the position can be the reason */
		atomic_store(tail_of(&r, 0), tails[i]);
		assert_int_equal(send(r.sock, "", 1, 0), 1);
		assert_int_equal(receive_to_end(r.link, &in), -EPROTO);
		assert_int_equal(in.next, 0);
		inbox_fini(&in);
		rogue_close(&r);
	}
}

static void positions_that_go_backwards_are_refused(void **state)
{
	struct rogue r = rogue_connect(*state);
	struct inbox in;
	inbox_init(&in);
	message_env(r.map.data[0], 0, 0);
	message_env(r.map.data[0] + 64, 1, 0);
	atomic_store(tail_of(&r, 0), 128);
	receive_until(r.link, &in, 2);
	atomic_store(tail_of(&r, 0), 64);
	assert_int_equal(receive_to_end(r.link, &in), -EPROTO);
	inbox_fini(&in);
	rogue_close(&r);
}

static void nonsense_of_a_consumer_is_refused(void **state)
{
	static const uint64_t heads[] = {UINT64_MAX - 63, (uint64_t)1 << 40, SHM_RING_BYTES * 2, 32};
	uint8_t raw[ZWIRE_ENV_BYTES];
	message_env(raw, 0, 100000);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct rogue r = rogue_connect(*state);
		struct inbox in;
		inbox_init(&in);
		struct zsink sink = inbox_sink(&in);
		assert_int_equal(r.link->ops->poll(r.link, &sink, 1), 0);
		while (post_message(r.link, 0, 100000) == 0)
			;
		atomic_store(head_of(&r, 1), heads[i]);
		assert_int_equal(r.link->ops->post(r.link, raw, payload_of(0, 100000), 100000), -EPROTO);
		assert_int_equal(r.link->ops->arm(r.link, ZLINK_TX), 1);
		inbox_fini(&in);
		rogue_close(&r);
	}
}

static void bad_envelopes_are_refused(void **state)
{
	struct zwire_env env = {.kind = ZWIRE_EAGER};
	for (int i = 0; i < 5; i++) {
		struct rogue r = rogue_connect(*state);
		struct inbox in;
		inbox_init(&in);
		in.place_one_in = 1;
		env.len = 0;
		zwire_encode(r.map.data[0], &env);
		uint8_t *len = r.map.data[0] + 28;
		if (i == 0) /* the message is longer than what was published */
			len[0] = 1;
		else if (i == 1)
			len[2] = 0x10;
		else if (i == 2) /* longer than any message */
			memset(len, 0xff, 4);
		else if (i == 3)
			r.map.data[0][0] = 9;
		else
			memset(r.map.data[0], 0xff, 64);
		atomic_store(tail_of(&r, 0), 64);
		assert_int_equal(receive_to_end(r.link, &in), -EPROTO);
		assert_int_equal(in.placements, 0);
		inbox_fini(&in);
		rogue_close(&r);
	}
}

static void bytes_on_the_sockets_do_no_harm(void **state)
{
	struct rogue r = rogue_connect(*state);
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	char junk[5000];
	memset(junk, 7, sizeof(junk));
	assert_int_equal(r.link->ops->poll(r.link, &sink, 1), 0);
	assert_true(send(r.sock, junk, sizeof(junk), 0) > 0);
	assert_true(send(r.back, junk, sizeof(junk), 0) > 0);
	int woken = 0;
	while (woken < 1000 && sleep_on(r.link, ZLINK_RX, 10)) {
		assert_int_equal(r.link->ops->poll(r.link, &sink, 1), 0);
		woken++;
	}
	assert_true(woken > 0 && woken < 1000); /* they are used up */
	message_env(r.map.data[0], 0, 0);
	atomic_store(tail_of(&r, 0), 64);
	receive_until(r.link, &in, 1);
	inbox_fini(&in);
	rogue_close(&r);
}

/* zipperd's side is not told of other slots, so it does not look for them: a peer could keep it busy that way. */
static void references_to_others_are_not_waited_for(void **state)
{
	struct rogue r = rogue_connect(*state);
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	const struct shm_ref ref = {.mark = SHM_REF_MARK, .sender = 0, .slot = 0};
	int unread, after;
	assert_int_equal(r.link->ops->poll(r.link, &sink, 1), 0);
	memcpy(r.map.data[0], &ref, sizeof(ref));
	message_env(r.map.data[0] + SHM_RING_ALIGN, 0, SHM_SLOT_MIN_BYTES);
	for (int i = 0; i < 10; i++)
		assert_int_equal(send(r.sock, "", 1, 0), 1);
	assert_int_equal(ioctl(r.sock, SIOCOUTQ, &unread), 0);
	assert_true(unread > 0);
	atomic_store(tail_of(&r, 0), SHM_RING_ALIGN + ZWIRE_ENV_BYTES);
	assert_int_equal(r.link->ops->poll(r.link, &sink, 1), -EPROTO);
	assert_int_equal(ioctl(r.sock, SIOCOUTQ, &after), 0);
	assert_int_equal(after, unread);
	inbox_fini(&in);
	rogue_close(&r);
}

static void death_without_close_is_told_apart(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct rogue r = rogue_connect(*state);
		struct inbox in;
		inbox_init(&in);
		message_env(r.map.data[0], 0, 0);
		atomic_store(tail_of(&r, 0), 64);
		if (i) {
			struct shm_producer p;
			shm_producer_init(&p, &r.map, 0);
			shm_producer_close(&p);
		}
		assert_int_equal(shutdown(r.sock, SHUT_RDWR), 0);
		assert_int_equal(receive_to_end(r.link, &in), i ? -ESHUTDOWN : -ECONNRESET);
		assert_int_equal(in.next, 1);
		inbox_fini(&in);
		rogue_close(&r);
	}
}

/* ---- socket files ---- */

static void a_stale_socket_is_replaced(void **state)
{
	struct fixture *f = *state;
	struct zlistener *l;
	struct zaddr addr;
	fixture_address(f, "shm:%s/stale", &addr);
	int fd = shm_socket_listen(addr.host, NULL);
	assert_true(fd >= 0);
	assert_int_equal(f->ops->listen(&l, &addr, NULL), -EADDRINUSE);
	close(fd); /* as a process that is killed */
	assert_int_equal(access(addr.host, F_OK), 0);
	assert_int_equal(f->ops->listen(&l, &addr, NULL), 0);
	struct zlink *link;
	assert_int_equal(f->ops->connect(&link, &addr, 1000, NULL), 0);
	f->ops->close(link);
	f->ops->unlisten(l);
	assert_int_equal(access(addr.host, F_OK), -1);
}

static void other_files_are_not_replaced(void **state)
{
	struct fixture *f = *state;
	struct zlistener *l;
	struct zaddr addr;
	struct zerr err;
	fixture_address(f, "shm:%s/file", &addr);
	int fd = open(addr.host, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_true(f->ops->listen(&l, &addr, &err) < 0);
	assert_non_null(strstr(err.text, addr.host));
	assert_int_equal(unlink(addr.host), 0);
	/* Nor does it remove a socket that has taken our place. */
	fixture_address(f, "shm:%s/mine", &addr);
	assert_int_equal(f->ops->listen(&l, &addr, NULL), 0);
	assert_int_equal(unlink(addr.host), 0);
	fd = shm_socket_listen(addr.host, NULL);
	assert_true(fd >= 0);
	f->ops->unlisten(l);
	assert_int_equal(unlink(addr.host), 0);
	close(fd);
}

static void the_default_lies_in_a_private_directory(void **state)
{
	struct fixture *f = *state;
	struct zaddr addr = {.kind = ZADDR_SHM};
	struct zlistener *l;
	struct zlink *link;
	struct zerr err;
	char dir[200], expected[250];
	const char *before = getenv("XDG_RUNTIME_DIR");
	char *saved = before ? strdup(before) : NULL;
	setenv("XDG_RUNTIME_DIR", f->dir, 1);
	snprintf(dir, sizeof(dir), "%s/zipper", f->dir);
	snprintf(expected, sizeof(expected), "%s/zipperd.sock", dir);
	assert_int_equal(f->ops->connect(&link, &addr, 1000, &err), -ENOENT);
	assert_int_equal(f->ops->listen(&l, &addr, &err), 0);
	struct stat st;
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	struct zaddr actual;
	f->ops->listener_addr(l, &actual);
	assert_string_equal(actual.host, expected);
	assert_int_equal(f->ops->connect(&link, &addr, 1000, &err), 0);
	f->ops->close(link);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(f->ops->connect(&link, &addr, 1000, &err), -EPERM);
	assert_non_null(strstr(err.text, "0700"));
	f->ops->unlisten(l);
	assert_int_equal(f->ops->listen(&l, &addr, &err), -EPERM);
	assert_int_equal(strncmp(err.text, "cannot listen on shm", 20), 0);
	assert_int_equal(rmdir(dir), 0);
	if (saved)
		setenv("XDG_RUNTIME_DIR", saved, 1);
	else
		unsetenv("XDG_RUNTIME_DIR");
	free(saved);
}

static void long_paths_are_refused(void **state)
{
	struct fixture *f = *state;
	struct zaddr addr = {.kind = ZADDR_SHM};
	struct zlistener *l;
	struct zlink *link;
	struct zerr err;
	memset(addr.host, 'a', SHM_PATH_MAX);
	addr.host[0] = '/';
	assert_int_equal(f->ops->listen(&l, &addr, &err), -ENAMETOOLONG);
	assert_int_equal(strncmp(err.text, "cannot listen on shm:/aaa", 25), 0);
	assert_non_null(strstr(err.text, "107"));
	assert_int_equal(f->ops->connect(&link, &addr, 1000, &err), -ENAMETOOLONG);
}

/* Two users other than root: only root can play both. */
static void another_user_is_refused(void **state)
{
	struct fixture *f = *state;
	if (geteuid() != 0) {
		print_message("# not root: cannot try as another user\n");
		return;
	}
	assert_int_equal(chmod(f->dir, 0777), 0);
	pid_t server = fork();
	if (server == 0) {
		struct zaddr addr;
		struct zlistener *l;
		struct zlink *link;
		fixture_address(f, "shm:%s/user", &addr);
		if (seteuid(4001) < 0 || f->ops->listen(&l, &addr, NULL) < 0 || chmod(addr.host, 0666) < 0)
			_exit(1);
		pid_t other = fork();
		if (other == 0)
			_exit(seteuid(0) == 0 && setuid(4002) == 0 &&
						f->ops->connect(&link, &addr, 1000, NULL) == -EACCES
					? 0
					: 2);
		int status;
		if (waitpid(other, &status, 0) != other || status != 0)
			_exit(3);
		struct zerr err;
		if (f->ops->accept(l, &link, &err) != -EACCES || !strstr(err.text, "uid 4002"))
			_exit(4);
		pid_t same = fork();
		if (same == 0)
			_exit(f->ops->connect(&link, &addr, 1000, NULL) == 0 ? 0 : 5);
		if (waitpid(same, &status, 0) != same || status != 0 || f->ops->accept(l, &link, &err) != 0)
			_exit(6);
		f->ops->close(link);
		f->ops->unlisten(l);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(server, &status, 0), server);
	assert_int_equal(status, 0);
}

#define TEST(run) cmocka_unit_test_setup_teardown(run, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(memory_of_the_wrong_kind_is_refused),
		TEST(offers_with_other_descriptors_are_refused),
		TEST(positions_beyond_the_ring_are_refused),
		TEST(positions_that_go_backwards_are_refused),
		TEST(nonsense_of_a_consumer_is_refused),
		TEST(bad_envelopes_are_refused),
		TEST(bytes_on_the_sockets_do_no_harm),
		TEST(references_to_others_are_not_waited_for),
		TEST(death_without_close_is_told_apart),
		TEST(a_stale_socket_is_replaced),
		TEST(other_files_are_not_replaced),
		TEST(the_default_lies_in_a_private_directory),
		TEST(long_paths_are_refused),
		TEST(another_user_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

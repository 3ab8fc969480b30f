/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that can be under way between ranks when a zipper is lost: rounds of phases. Each phase checks all data
 * that arrive, their order and their status. The output does not depend on the time of any event. Arguments: rounds,
 * then ROUND.PHASE=PID:SIGNAL, end=PID:SIGNAL or last=PID:SIGNAL (before the last reduction, and between that and
 * MPI_Finalize): in the middle of that phase one of the ranks sends the signal; or ROUND.PHASE=/FILE: it makes the
 * file, and waits until it is gone. twin: args=2 layouts=2+2,1+1+2 timeout=60
 */
#include "../check.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#define ITEMS 600
#define MANY 12
#define KIB 1024

/* Outstanding operations that belong together. Received data are checked when they are complete. */
struct item {
	char *buf;
	int len, capacity, other, tag; /* capacity < 0: sent */
	uint32_t seed;
};
struct bag {
	int n;
	struct item item[ITEMS];
	MPI_Request request[ITEMS];
};

static int the_round, nstrikes;
static char **strikes;
static long received;
static uint32_t sum;

static void nap(int milliseconds)
{
	nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000L}, NULL);
}

static void strike_with(const char *what)
{
	if (*what == '/') {
		FILE *f = fopen(what, "w");
		CHECK(f && fclose(f) == 0, "cannot make %s", what);
		for (int i = 0; i < 6000 && access(what, F_OK) == 0; i++)
			nap(10);
		CHECK(access(what, F_OK) != 0, "%s is still there", what);
		return;
	}
	if (strcmp(what, "abort") == 0)
		MPI_Abort(WORLD, 7);
	char *colon;
	pid_t pid = (pid_t)strtol(what, &colon, 10);
	kill(pid ? pid : getpid(), atoi(colon + 1));
}

static void strike_at(const char *point, int by)
{
	size_t len = strlen(point);

	for (int i = 0; i < nstrikes && rank == by; i++)
		if (strncmp(strikes[i], point, len) == 0 && strikes[i][len] == '=')
			strike_with(strikes[i] + len + 1);
}

/* The middle of a phase: another rank's turn in each. */
static void strike(int phase)
{
	char point[40];

	snprintf(point, sizeof(point), "%d.%d", the_round, phase);
	strike_at(point, (the_round + phase) % size);
}

static uint32_t seed_of(int from, int to, int tag, int number)
{
	return (uint32_t)(((from * 64 + to) * 64 + the_round) * 64 + tag) * 1000u + (uint32_t)number;
}

static struct item *put(struct bag *b, int other, int tag, int len, uint32_t seed)
{
	struct item *it = &b->item[b->n];

	if (b->n == ITEMS)
		MPI_Abort(WORLD, 99);
	*it = (struct item){.buf = malloc((size_t)len + 8),
		.len = len,
		.capacity = -1,
		.other = other,
		.tag = tag,
		.seed = seed};
	return it;
}

static void put_send(struct bag *b, int to, int tag, int number, int len, int synchronous)
{
	struct item *it = put(b, to, tag, len, seed_of(rank, to, tag, number));

	fill(it->buf, (size_t)len, it->seed);
	if (synchronous)
		MPI_Issend(it->buf, len, MPI_BYTE, to, tag, WORLD, &b->request[b->n++]);
	else
		MPI_Isend(it->buf, len, MPI_BYTE, to, tag, WORLD, &b->request[b->n++]);
}

static struct item *put_place(struct bag *b, int from, int tag, int number, int len)
{
	struct item *it = put(b, from, tag, len, seed_of(from, rank, tag, number));

	it->capacity = len + 8;
	memset(it->buf, 0x3c, (size_t)it->capacity);
	return it;
}

static void put_recv(struct bag *b, int from, int tag, int number, int len)
{
	struct item *it = put_place(b, from, tag, number, len);

	MPI_Irecv(it->buf, it->capacity, MPI_BYTE, from, tag, WORLD, &b->request[b->n++]);
}

/* Index of the first byte that was not sent, or -1. */
static int first_wrong(const struct item *it)
{
	if (filled(it->buf, (size_t)it->len, it->seed))
		return -1;
	char *wanted = malloc((size_t)it->len);
	int i = 0;
	fill(wanted, (size_t)it->len, it->seed);
	while (i < it->len && it->buf[i] == wanted[i])
		i++;
	free(wanted);
	return i;
}

static void check_item(const struct item *it, const MPI_Status *status)
{
	int len;

	MPI_Get_count(status, MPI_BYTE, &len);
	CHECK(len == it->len && status->MPI_SOURCE == it->other && status->MPI_TAG == it->tag,
		"round %d: %d bytes from %d, tag %d, not %d from %d, tag %d", the_round, len, status->MPI_SOURCE,
		status->MPI_TAG, it->len, it->other, it->tag);
	int wrong = first_wrong(it);
	CHECK(wrong < 0, "round %d, tag %d: %d bytes from %d are not what was sent from %d on", the_round, it->tag,
		it->len, it->other, wrong);
	CHECK(it->buf[it->len] == 0x3c, "round %d, tag %d: byte behind %d from %d", the_round, it->tag, it->len,
		it->other);
	sum += digest(it->buf, (size_t)it->len);
	received++;
}

static void finish(struct bag *b)
{
	static MPI_Status status[ITEMS];

	MPI_Waitall(b->n, b->request, status);
	for (int i = 0; i < b->n; i++) {
		if (b->item[i].capacity >= 0)
			check_item(&b->item[i], &status[i]);
		free(b->item[i].buf);
	}
	b->n = 0;
}

static struct bag bag;

/* 0: many small and some larger ones from each to each, all with one tag; the second half is posted late. */
static int mixed_length(int from, int number)
{
	uint32_t x = (uint32_t)(from * 977 + the_round * 131 + number) * 2654435761u >> 8;
	return x % 4 ? (int)(x % 3000) : (int)(x % 70000);
}

static void flood(void)
{
	for (int half = 0; half < 2; half++) {
		for (int other = 0; other < size; other++)
			for (int i = half * MANY / 2; other != rank && i < (half + 1) * MANY / 2; i++)
				put_recv(&bag, other, 0, i, mixed_length(other, i));
		for (int other = 0; half == 0 && other < size; other++)
			for (int i = 0; other != rank && i < MANY; i++)
				put_send(&bag, other, 0, i, mixed_length(rank, i), 0);
		if (half == 0)
			strike(0);
		nap(half == 0 ? 3 : 0);
	}
	finish(&bag);
}

/* 1: 100 KiB to 4 MiB, several at once, both ways. */
static void large(void)
{
	static const int length[] = {100 * KIB, 300 * KIB, 512 * KIB - 1, 777777, 1024 * KIB + 1};
	int huge = the_round % size, after = (huge + size / 2) % size; /* these two have 4 MiB */

	for (int other = 0; other < size; other++)
		for (int i = 0; other != rank && i < 3; i++) {
			put_recv(&bag, other, 1, i, length[(i + other + the_round) % 5]);
			put_send(&bag, other, 1, i, length[(i + rank + the_round) % 5], i == 1);
		}
	if (size > 1 && (rank == huge || rank == after)) {
		int other = rank == huge ? after : huge;
		put_send(&bag, other, 1, 3, 4096 * KIB, 0);
		put_recv(&bag, other, 1, 3, 4096 * KIB);
	}
	strike(1);
	finish(&bag);
}

/* 2: synchronous sends, small and large, which no rank receives for a while. */
static void synchronous(void)
{
	for (int other = 0; other < size; other++)
		for (int i = 0; other != rank && i < 4; i++)
			put_send(&bag, other, 2, i, i % 2 ? 150 * KIB : 10 * i, 1);
	strike(2);
	nap(5);
	for (int other = 0; other < size; other++)
		for (int i = 0; other != rank && i < 4; i++)
			put_recv(&bag, other, 2, i, i % 2 ? 150 * KIB : 10 * i);
	finish(&bag);
}

/* 3: one rank receives the messages of all ranks from any source; those of each rank in their order. */
static void from_anywhere(void)
{
	static char buf[700 * KIB], wanted[700 * KIB];
	static const int length[] = {8, 40000, 0, 600 * KIB, 1000, 120000};
	int next[64] = {0}, to = (the_round + size - 1) % size;

	for (int i = 0; rank != to && i < 6; i++)
		put_send(&bag, to, 3, i, length[i], 0);
	strike(3);
	for (int k = 0; rank == to && k < 6 * (size - 1); k++) {
		MPI_Status status;
		int len;
		MPI_Recv(buf, sizeof(buf), MPI_BYTE, MPI_ANY_SOURCE, 3, WORLD, &status);
		MPI_Get_count(&status, MPI_BYTE, &len);
		int from = status.MPI_SOURCE, number = next[from]++;
		CHECK_INT(len, length[number]);
		fill(wanted, (size_t)len, seed_of(from, rank, 3, number));
		CHECK(memcmp(buf, wanted, (size_t)len) == 0, "round %d: message %d of %d from anywhere", the_round,
			number, from);
		received++;
	}
	finish(&bag);
}

/* 4: matched by a probe, and received only after a while. */
static void matched(void)
{
	static const int length[] = {20, 200 * KIB, 1200 * KIB, 9000};
	int peer = size - 1 - rank;
	MPI_Message message[4];
	MPI_Status status;

	if (peer == rank)
		return;
	for (int i = 0; i < 4; i++)
		put_send(&bag, peer, 4, i, length[i], 0);
	for (int i = 0; i < 4; i++) {
		int len;
		MPI_Mprobe(i % 2 ? peer : MPI_ANY_SOURCE, 4, WORLD, &message[i], &status);
		MPI_Get_count(&status, MPI_BYTE, &len);
		CHECK_INT(len, length[i]);
		CHECK_INT(status.MPI_SOURCE, peer);
	}
	strike(4);
	nap(5);
	for (int i = 3; i >= 0; i--) { /* the last one first */
		struct item *it = put_place(&bag, peer, 4, i, length[i]);
		MPI_Imrecv(it->buf, it->capacity, MPI_BYTE, &message[i], &bag.request[bag.n++]);
	}
	finish(&bag);
}

/* 5: messages that are received two rounds after they were sent. */
static struct bag late[3];
static const int late_length[] = {1, 30000, 400 * KIB, 900 * KIB};
static void send_late(void)
{
	for (int other = 0; other < size; other++)
		for (int i = 0; other != rank && i < 4; i++)
			put_send(&late[the_round % 3], other, 40 + the_round % 3, i, late_length[i], 0);
	strike(5);
}
static void take_late(void)
{
	int now = the_round;

	if (now < 2)
		return;
	the_round = now - 2; /* whose messages these are */
	for (int other = 0; other < size; other++)
		for (int i = 0; other != rank && i < 4; i++)
			put_recv(&late[the_round % 3], other, 40 + the_round % 3, i, late_length[i]);
	finish(&late[the_round % 3]);
	the_round = now;
}

/* 6: persistent requests, made once. */
#define LASTING 250000
static struct bag lasting;
static void begin_lasting(void)
{
	static const int length[] = {500, LASTING};
	int peer = size - 1 - rank;

	for (int i = 0; peer != rank && i < 4; i++) {
		struct item *it = put(&lasting, peer, 20 + i / 2, length[i / 2], 0);
		it->capacity = i % 2 ? it->len : -1;
		if (i % 2)
			MPI_Recv_init(it->buf, it->len, MPI_BYTE, peer, it->tag, WORLD, &lasting.request[lasting.n++]);
		else
			MPI_Send_init(it->buf, it->len, MPI_BYTE, peer, it->tag, WORLD, &lasting.request[lasting.n++]);
	}
}
static void start_lasting(void)
{
	for (int i = 0; i < lasting.n; i++) {
		struct item *it = &lasting.item[i];
		if (it->capacity < 0)
			fill(it->buf, (size_t)it->len, seed_of(rank, it->other, it->tag, 0));
		else
			memset(it->buf, 0x3c, (size_t)it->len + 1);
	}
	MPI_Startall(lasting.n, lasting.request);
	strike(6);
	MPI_Status status[4];
	MPI_Waitall(lasting.n, lasting.request, status);
	for (int i = 0; i < lasting.n; i++) {
		struct item *it = &lasting.item[i];
		it->seed = seed_of(it->other, rank, it->tag, 0);
		if (it->capacity >= 0)
			check_item(it, &status[i]);
	}
}
static void end_lasting(void)
{
	for (int i = 0; i < lasting.n; i++) {
		MPI_Request_free(&lasting.request[i]);
		free(lasting.item[i].buf);
	}
}

/* 7: too short a buffer, and behind it one that is whole. */
static void truncated(void)
{
	static const int length[] = {2000, 120 * KIB, 1100 * KIB};
	static char buf[1100 * KIB];
	int peer = size - 1 - rank;

	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; peer != rank && i < 3; i++)
		put_send(&bag, peer, 7, i, length[i], i == 1);
	strike(7);
	for (int i = 0; peer != rank && i < 3; i++) {
		MPI_Status status;
		int class = MPI_SUCCESS, rc = MPI_Recv(buf, length[i] - 100, MPI_BYTE, peer, 7, WORLD, &status);
		if (rc != MPI_SUCCESS)
			MPI_Error_class(rc, &class);
		CHECK_INT(class, MPI_ERR_TRUNCATE);
	}
	if (peer != rank) {
		put_send(&bag, peer, 8, 0, 5000, 0);
		put_recv(&bag, peer, 8, 0, 5000);
	}
	finish(&bag);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

/* 8: large ones with gaps at the receiver, and what is between them. */
static void with_gaps(void)
{
	enum { BLOCK = 1000, BLOCKS = 700 };
	static unsigned char in[2 * BLOCK * BLOCKS], wanted[BLOCK * BLOCKS];
	int peer = size - 1 - rank, between = 0, wrong = 0;
	MPI_Datatype type;
	MPI_Request request;

	if (peer == rank)
		return;
	memset(in, 0x55, sizeof(in));
	MPI_Type_vector(BLOCKS, BLOCK, 2 * BLOCK, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	MPI_Irecv(in, 1, type, peer, 9, WORLD, &request);
	put_send(&bag, peer, 9, 0, BLOCK * BLOCKS, 0);
	strike(8);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Type_free(&type);
	fill(wanted, sizeof(wanted), seed_of(peer, rank, 9, 0));
	for (int b = 0; b < BLOCKS; b++) {
		wrong += memcmp(in + 2 * b * BLOCK, wanted + b * BLOCK, BLOCK) != 0;
		for (int i = BLOCK; i < 2 * BLOCK; i++)
			between += in[2 * b * BLOCK + i] != 0x55;
	}
	CHECK(wrong + between == 0, "round %d: %d blocks and %d bytes between them", the_round, wrong, between);
	finish(&bag);
}

/* 9: broadcasts of all sizes from all in turn, several at once. */
static void broadcasts(void)
{
	enum { AT_ONCE = 6 };
	static char buf[AT_ONCE][500 * KIB];
	static const int length[AT_ONCE] = {8, 3000, 500 * KIB, 20000, 200 * KIB, 100};
	MPI_Request request[AT_ONCE];

	for (int i = 0; i < AT_ONCE; i++) {
		int root = (i + the_round) % size;
		if (rank == root)
			fill(buf[i], (size_t)length[i], seed_of(root, 0, 30, i));
		else
			memset(buf[i], 0, (size_t)length[i]);
		MPI_Ibcast(buf[i], length[i], MPI_BYTE, root, WORLD, &request[i]);
	}
	strike(9);
	MPI_Waitall(AT_ONCE, request, MPI_STATUSES_IGNORE);
	for (int i = 0; i < AT_ONCE; i++) {
		uint32_t seed = seed_of((i + the_round) % size, 0, 30, i);
		CHECK(filled(buf[i], (size_t)length[i], seed), "round %d: broadcast %d", the_round, i);
	}
}

/* 10: reductions and exchanges, on a communicator that is made for them. */
static void reductions(void)
{
	enum { NUMBERS = 60000 };
	static int in[NUMBERS], out[NUMBERS], all[64 * 1000];
	MPI_Comm comm;
	MPI_Request request;
	int wrong = 0;

	MPI_Comm_split(WORLD, 0, size - rank, &comm);
	for (int i = 0; i < NUMBERS; i++)
		in[i] = rank * i + the_round;
	MPI_Iallreduce(in, out, NUMBERS, MPI_INT, MPI_SUM, comm, &request);
	strike(10);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	for (int i = 0; i < NUMBERS; i++)
		wrong += out[i] != size * (size - 1) / 2 * i + size * the_round;
	CHECK(wrong == 0, "round %d: %d of an allreduce", the_round, wrong);
	MPI_Allgather(in, 1000, MPI_INT, all, 1000, MPI_INT, WORLD);
	for (int r = 0; r < size; r++)
		wrong += all[r * 1000 + 999] != r * 999 + the_round;
	MPI_Alltoall(all, 500, MPI_INT, out, 500, MPI_INT, comm);
	MPI_Reduce(in, out, 10, MPI_INT, MPI_MAX, the_round % size, WORLD);
	if (rank == the_round % size)
		CHECK_INT(out[9], (size - 1) * 9 + the_round);
	MPI_Scan(&rank, out, 1, MPI_INT, MPI_SUM, WORLD);
	CHECK_INT(out[0], rank * (rank + 1) / 2);
	CHECK(wrong == 0, "round %d: %d wrong", the_round, wrong);
	MPI_Comm_free(&comm);
	MPI_Barrier(WORLD);
}

/* 11: receives that are given up before anything comes for them, and messages to and fro one by one. */
static void one_by_one(void)
{
	int peer = size - 1 - rank, token = rank, cancelled;
	char unused[8];
	MPI_Request request;
	MPI_Status status;

	MPI_Irecv(unused, 8, MPI_BYTE, MPI_ANY_SOURCE, 50, WORLD, &request);
	for (int i = 0; peer != rank && i < 20; i++) {
		if (i == 10)
			strike(11);
		MPI_Sendrecv_replace(&token, 1, MPI_INT, peer, 11, peer, 11, WORLD, MPI_STATUS_IGNORE);
		CHECK_INT(token, i % 2 ? rank : peer);
	}
	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &cancelled);
	CHECK_INT(cancelled, 1);
}

/* 12: operations on a window, many small ones on all ranks and a large one on another rank. */
static void one_sided(void)
{
	enum { TIMES = 20, BLOCK = 49999 }; /* MPICH 4.0.2 needs windows of multiples of 16 bytes */
	static int block[BLOCK], back[BLOCK];
	const int one = 1, there = (rank + size / 2) % size, from = (rank + size - size / 2) % size;
	int *mine, wrong = 0;
	MPI_Win win;

	MPI_Win_allocate((1 + BLOCK) * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &mine, &win);
	memset(mine, 0, (1 + BLOCK) * sizeof(int));
	for (int i = 0; i < BLOCK; i++)
		block[i] = rank * i + the_round;
	MPI_Barrier(WORLD);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < TIMES; i++)
		for (int r = 0; r < size; r++)
			MPI_Accumulate(&one, 1, MPI_INT, r, 0, 1, MPI_INT, MPI_SUM, win);
	MPI_Put(block, BLOCK, MPI_INT, there, 1, BLOCK, MPI_INT, win);
	strike(12);
	MPI_Win_flush_all(win);
	MPI_Get(back, BLOCK, MPI_INT, there, 1, BLOCK, MPI_INT, win);
	MPI_Win_unlock_all(win);
	MPI_Barrier(WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	CHECK_INT(mine[0], TIMES * size);
	for (int i = 0; i < BLOCK; i++)
		wrong += (mine[1 + i] != from * i + the_round) + (back[i] != block[i]);
	CHECK(wrong == 0, "round %d: %d of a window", the_round, wrong);
	MPI_Win_unlock(rank, win);
	MPI_Win_free(&win);
}

/*
 * 13: a file of all ranks: a block of each rank, lines in the order of the ranks by the shared pointer, and a block
 * that all have.
 */
static void file(void)
{
	enum { BLOCK = 50000 };
	static char name[] = "failover.dat"; /* MPI of old wanted to write there */
	static int block[BLOCK], back[BLOCK];
	const int from = (rank + 1) % size;
	int wrong = 0, n = -1;
	MPI_File f;
	MPI_Offset at = -1;
	MPI_Request request;
	MPI_Status status;

	for (int i = 0; i < BLOCK; i++)
		block[i] = rank * i + the_round;
	int class = MPI_File_open(WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
		MPI_INFO_NULL, &f);
	MPI_Error_class(class, &class);
	if (class == MPI_ERR_UNSUPPORTED_DATAREP) /* clusters that are told to be different have none */
		return;
	CHECK_INT(class, MPI_SUCCESS);
	MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	MPI_File_iwrite_at(f, (MPI_Offset)rank * BLOCK, block, BLOCK, MPI_INT, &request);
	strike(13);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_File_seek_shared(f, (MPI_Offset)size * BLOCK, MPI_SEEK_SET);
	for (int i = 0; i < 5; i++)
		CHECK_INT(MPI_File_write_ordered(f, &rank, 1, MPI_INT, MPI_STATUS_IGNORE), 0);
	MPI_File_sync(f);
	MPI_Barrier(WORLD);
	MPI_File_sync(f);
	MPI_File_get_size(f, &at);
	CHECK_INT(at, (MPI_Offset)(size * BLOCK + 5 * size) * (MPI_Offset)sizeof(int));
	MPI_File_read_at_all(f, (MPI_Offset)from * BLOCK, back, BLOCK, MPI_INT, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	CHECK_INT(n, BLOCK);
	for (int i = 0; i < BLOCK; i++)
		wrong += back[i] != from * i + the_round;
	MPI_File_read_at(f, (MPI_Offset)size * BLOCK, back, 5 * size, MPI_INT, MPI_STATUS_IGNORE);
	for (int i = 0; i < 5 * size; i++)
		wrong += back[i] != i % size;
	CHECK(wrong == 0, "round %d: %d of a file", the_round, wrong);
	MPI_File_close(&f);
}

/* Small messages that some have not received yet when their senders are in MPI_Finalize. */
static void part(void)
{
	the_round = 60;
	if (rank >= size / 2)
		nap(30);
	for (int other = 0; other < size; other++)
		for (int i = 0; (other < size / 2) != (rank < size / 2) && i < 5; i++)
			if (rank < size / 2)
				put_send(&bag, other, 12, i, 100 * i, 0);
			else
				put_recv(&bag, other, 12, i, 100 * i);
	strike_at("last", 0);
	finish(&bag);
	if (errors)
		printf("rank %d: errors at the end\n", rank);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	int rounds = argc > 1 ? atoi(argv[1]) : 2, total;
	strikes = argv + 2;
	nstrikes = argc > 2 ? argc - 2 : 0;
	begin_lasting();
	for (the_round = 0; the_round < rounds; the_round++) {
		void (*const phase[])(void) = {flood, large, synchronous, from_anywhere, matched, send_late, take_late,
			start_lasting, truncated, with_gaps, broadcasts, reductions, one_by_one, one_sided, file};
		for (size_t i = 0; i < sizeof(phase) / sizeof(phase[0]); i++)
			phase[i]();
	}
	for (int i = 0; i < 2; i++, the_round++)
		take_late();
	end_lasting();
	strike_at("end", size - 1);
	printf("rank %d: %ld messages %08x, %s\n", rank, received, sum, errors ? "errors" : "ok");
	MPI_Reduce(&errors, &total, 1, MPI_INT, MPI_SUM, 0, WORLD);
	if (rank == 0)
		printf(total ? "%d errors\n" : "No errors\n", total);
	part();
	MPI_Finalize();
	return errors ? 1 : 0;
}

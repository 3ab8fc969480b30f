/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Very large messages between the first half of the ranks and the second: around the lengths at which a message may be
 * divided among several rails, in the order of other messages, in all ways of receiving: dense and with gaps, probed,
 * too short a buffer, from anywhere, cancelled too late. twin: one_sided=yes external32=yes timeout=60
 */
#include "../check.h"

#define UNIT (256 << 10)
#define LONGEST (3 * UNIT + 12345)

static unsigned char out[LONGEST], in[2 * LONGEST];
static int peer, first;

static void send_one(int len, int tag, uint32_t seed)
{
	fill(out, (size_t)len, seed);
	MPI_Send(out, len, MPI_BYTE, peer, tag, WORLD);
}

static void check_in(const char *what, const MPI_Status *status, int len, uint32_t seed)
{
	int got;

	MPI_Get_count(status, MPI_BYTE, &got);
	CHECK(got == len, "%s: %d bytes, not %d", what, got, len);
	CHECK(filled(in, (size_t)len, seed), "%s: other bytes", what);
	CHECK_INT(status->MPI_SOURCE, peer);
}

static void lengths(void)
{
	static const int length[] = {2 * UNIT - 1, 2 * UNIT, 2 * UNIT + 1, 3 * UNIT - 4096, 3 * UNIT, LONGEST};
	MPI_Status status;

	for (int i = 0; i < 6; i++) {
		if (first)
			send_one(length[i], i, (uint32_t)(rank + i));
		else {
			memset(in, 0, sizeof(in));
			MPI_Recv(in, LONGEST, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : peer, i, WORLD, &status);
			check_in("plain", &status, length[i], (uint32_t)(peer + i));
		}
	}
	MPI_Barrier(WORLD); /* with wildcards: nobody else's */
}

/* Small ones before, between and behind: all with one tag, in order. */
static void in_order(void)
{
	MPI_Request request[9];

	for (int i = 0; i < 9; i++) {
		int len = i % 3 == 1 ? 2 * UNIT + i : 100;
		if (first) {
			memset(out, i, (size_t)len);
			MPI_Send(out, len, MPI_BYTE, peer, 7, WORLD);
		} else if (i % 2) {
			MPI_Status status;
			int got;
			MPI_Probe(peer, 7, WORLD, &status);
			MPI_Get_count(&status, MPI_BYTE, &got);
			CHECK_INT(got, len);
			MPI_Irecv(in, got, MPI_BYTE, peer, 7, WORLD, &request[i]);
			MPI_Cancel(&request[i]); /* too late */
			MPI_Wait(&request[i], &status);
			int cancelled;
			MPI_Test_cancelled(&status, &cancelled);
			CHECK_INT(cancelled, 0);
			CHECK_INT(in[0] * 1000 + in[len - 1], i * 1000 + i);
		} else {
			MPI_Message message;
			MPI_Status status;
			MPI_Mprobe(peer, 7, WORLD, &message, &status);
			MPI_Mrecv(in, LONGEST, MPI_BYTE, &message, &status);
			CHECK_INT(in[0] * 1000 + in[len - 1], i * 1000 + i);
		}
	}
}

/* Every second block of 1000 bytes of the receiver's buffer; what is between stays as it is. */
static void with_gaps(void)
{
	int blocks = 2 * UNIT / 1000 + 10;
	MPI_Datatype type;
	MPI_Status status;

	if (first) {
		send_one(blocks * 1000, 8, (uint32_t)rank);
		return;
	}
	memset(in, 0x55, sizeof(in));
	MPI_Type_vector(blocks, 1000, 2000, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	MPI_Recv(in, 1, type, peer, 8, WORLD, &status);
	MPI_Type_free(&type);
	int between = 0;
	for (int b = 0; b < blocks; b++) {
		memcpy(out + b * 1000, in + b * 2000, 1000);
		between += in[b * 2000 + 1000] != 0x55 || in[b * 2000 + 1999] != 0x55;
	}
	CHECK_INT(between, 0);
	CHECK(filled(out, (size_t)blocks * 1000, (uint32_t)peer), "blocks differ");
}

static void too_long(void)
{
	MPI_Status status;
	int rc, class = MPI_SUCCESS;

	if (first) {
		send_one(LONGEST, 9, 1);
		MPI_Ssend(out, LONGEST, MPI_BYTE, peer, 10, WORLD);
		return;
	}
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	rc = MPI_Recv(in, 2 * UNIT, MPI_BYTE, peer, 9, WORLD, &status);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
	if (rc != MPI_SUCCESS)
		MPI_Error_class(rc, &class);
	CHECK_INT(class, MPI_ERR_TRUNCATE);
	MPI_Recv(in, LONGEST, MPI_BYTE, peer, 10, WORLD, &status); /* the next one is whole */
	check_in("behind one that was too long", &status, LONGEST, 1);
}

/* To and fro at the same time, with requests that are given up. */
static void both_ways(void)
{
	MPI_Request request;
	MPI_Status status;

	fill(out, LONGEST, (uint32_t)(rank + 50));
	MPI_Isend(out, LONGEST, MPI_BYTE, peer, 11, WORLD, &request);
	MPI_Recv(in, LONGEST, MPI_BYTE, peer, 11, WORLD, &status);
	check_in("both ways", &status, LONGEST, (uint32_t)(peer + 50));
	MPI_Request_free(&request);
	/* MPI_Finalize sees to it, but UCX says so where a native one has not quite ended. */
	MPI_Sendrecv_replace(&first, 1, MPI_INT, peer, 12, peer, 12, WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	first = rank < size / 2;
	peer = first ? rank + size / 2 : rank - size / 2;
	lengths();
	in_order();
	with_gaps();
	too_long();
	both_ways();
	return end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting order between receives with and without wildcards (MPI-4.0 section 3.5). Rank 0 posts receives of random
 * kinds, then enough from anywhere that every message finds one. Afterwards no receive may have got a message while an
 * earlier message of the same sender that it could have had went to a later receive. Argument: seed.
 */
#include "../check.h"

#define EACH 60 /* messages of one sender */
#define KINDS 80
#define MAXRANKS 8
#define TAGS 3
#define MAXRECV (KINDS + MAXRANKS * EACH)

static struct receive {
	int source, tag;	   /* wanted */
	int from, number, got_tag; /* got; from is -1 if nothing */
	int data[2];
	char *big;
} recvs[MAXRECV];
static MPI_Request request[MAXRECV];
static int sizes[4] = {8, 200, 20000, 100000};

static int length_of(int from, int number)
{
	return sizes[(from * 7 + number * 5) % 4];
}

static void send_all(void)
{
	MPI_Request r[EACH];
	char *buf[EACH];

	for (int i = 0; i < EACH; i++) {
		int len = length_of(rank, i);
		buf[i] = malloc(len);
		fill(buf[i], len, (uint32_t)(rank * 100 + i));
		memcpy(buf[i], (int[]){rank, i}, 8);
		switch (i % 3) {
		case 0:
			MPI_Isend(buf[i], len, MPI_BYTE, 0, i % TAGS, WORLD, &r[i]);
			break;
		case 1:
			MPI_Issend(buf[i], len, MPI_BYTE, 0, i % TAGS, WORLD, &r[i]);
			break;
		default:
			MPI_Send(buf[i], len, MPI_BYTE, 0, i % TAGS, WORLD), r[i] = MPI_REQUEST_NULL;
		}
	}
	MPI_Waitall(EACH, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < EACH; i++)
		free(buf[i]);
}

static void take(struct receive *r, const MPI_Status *st)
{
	int len, number;

	MPI_Get_count(st, MPI_BYTE, &len);
	memcpy(&r->from, r->big, 4);
	memcpy(&number, r->big + 4, 4);
	r->number = number;
	r->got_tag = st->MPI_TAG;
	CHECK_INT(st->MPI_SOURCE, r->from);
	CHECK_INT(st->MPI_TAG, number % TAGS);
	CHECK_INT(len, length_of(r->from, number));
	CHECK(r->source == MPI_ANY_SOURCE || r->source == r->from, "wanted from %d, came from %d", r->source, r->from);
	CHECK(r->tag == MPI_ANY_TAG || r->tag == r->got_tag, "wanted tag %d, came %d", r->tag, r->got_tag);
	char *expect = malloc(len);
	fill(expect, len, (uint32_t)(r->from * 100 + number));
	CHECK(memcmp(r->big + 8, expect + 8, len - 8) == 0, "message %d from %d", number, r->from);
	free(expect);
}

static int could_have(const struct receive *r, int from, int tag)
{
	return (r->source == MPI_ANY_SOURCE || r->source == from) && (r->tag == MPI_ANY_TAG || r->tag == tag);
}

static void receive_all(uint32_t *seed)
{
	int messages = (size - 1) * EACH, n = KINDS + messages, done = 0;

	for (int i = 0; i < n; i++) {
		struct receive *r = &recvs[i];
		r->source = i >= KINDS || next_random(seed) % 2 ? MPI_ANY_SOURCE
								: 1 + (int)(next_random(seed) % (size - 1));
		r->tag = i >= KINDS || next_random(seed) % 2 ? MPI_ANY_TAG : (int)(next_random(seed) % TAGS);
		r->from = -1;
		r->big = malloc(sizes[3]);
		MPI_Irecv(r->big, sizes[3], MPI_BYTE, r->source, r->tag, WORLD, &request[i]);
	}
	MPI_Barrier(WORLD);
	while (done < messages) {
		int count, index[MAXRECV];
		static MPI_Status st[MAXRECV];
		MPI_Waitsome(n, request, &count, index, st);
		for (int i = 0; i < count; i++)
			take(&recvs[index[i]], &st[i]);
		done += count;
	}
	for (int i = 0; i < n; i++) {
		MPI_Status st;
		int cancelled;
		if (request[i] == MPI_REQUEST_NULL)
			continue;
		MPI_Cancel(&request[i]);
		MPI_Wait(&request[i], &st);
		MPI_Test_cancelled(&st, &cancelled);
		CHECK(cancelled, "receive %d is left but was not cancelled", i);
	}
	for (int i = 0; i < n; i++)
		for (int k = i + 1; k < n; k++)
			if (recvs[k].from >= 0 && could_have(&recvs[i], recvs[k].from, recvs[k].got_tag))
				CHECK(recvs[i].from >= 0 &&
						(recvs[i].from != recvs[k].from || recvs[i].number < recvs[k].number),
					"receive %d got %d/%d, receive %d behind it %d/%d", i, recvs[i].from,
					recvs[i].number, k, recvs[k].from, recvs[k].number);
	for (int i = 0; i < n; i++)
		free(recvs[i].big);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	if (size > MAXRANKS || size < 2)
		MPI_Abort(WORLD, 2);
	for (int round = 0; round < 5; round++) {
		if (rank == 0) {
			receive_all(&seed);
		} else {
			MPI_Barrier(WORLD);
			send_all();
		}
		MPI_Barrier(WORLD);
	}
	return end();
}

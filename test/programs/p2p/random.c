/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random point-to-point: all ranks draw the same plan from a seed, then carry it out with their own random order of
 * posting, modes and completion calls. Sizes from 0 to 4 MiB, tags, named and wildcard sources, two communicators, with
 * and without gaps at either end; every byte is compared.
 * Arguments: seed, messages a round, rounds. twin: tcp=yes one_sided=yes endpoints=3
 */
#include <stdbool.h>

#include "../check.h"

#define MAXMSG 400
struct message {
	int from, to, tag, len, mode, wild_source;
	int comm;		/* the world, or the same backwards */
	bool gaps_out, gaps_in; /* every second byte of the buffer */
	char *buf;
};
static struct message plan[MAXMSG];
static MPI_Comm comms[2];

static int rank_in(const struct message *m, int world_rank)
{
	return m->comm == 0 ? world_rank : size - 1 - world_rank;
}

/* Without gaps none is made: of hundreds that lie in one piece MPICH 4.0.2 packs some short. */
static MPI_Datatype make_type(bool gaps, int len, int *count)
{
	MPI_Datatype t = MPI_BYTE;
	*count = gaps ? 1 : len;
	if (gaps)
		MPI_Type_vector(len, 1, 2, MPI_BYTE, &t), MPI_Type_commit(&t);
	return t;
}

static void free_type(MPI_Datatype t)
{
	if (t != MPI_BYTE)
		MPI_Type_free(&t);
}

static void spread(char *buf, int len)
{
	for (int i = len - 1; i >= 0; i--)
		buf[2 * i] = buf[i];
}

static bool untouched_gaps(const char *buf, int len)
{
	int touched = 0;
	for (int i = 0; i < len; i++)
		touched |= buf[2 * i + 1] != 0x3c;
	return !touched;
}

static void gather(char *buf, int len)
{
	for (int i = 0; i < len; i++)
		buf[i] = buf[2 * i];
}

static void start_send(const struct message *m, const char *out, MPI_Request *r)
{
	int n, to = rank_in(m, m->to);
	MPI_Datatype t = make_type(m->gaps_out, m->len, &n);
	switch (m->mode) {
	case 0:
	case 1:
		MPI_Isend(out, n, t, to, m->tag, comms[m->comm], r);
		break;
	case 2:
		MPI_Issend(out, n, t, to, m->tag, comms[m->comm], r);
		break;
	case 3:
		MPI_Ibsend(out, n, t, to, m->tag, comms[m->comm], r);
		break;
	case 4:
		MPI_Send_init(out, n, t, to, m->tag, comms[m->comm], r), MPI_Start(r);
		break;
	}
	free_type(t);
}

static void start_recv(struct message *m, bool persistent, MPI_Request *r)
{
	int n, room = m->len + 8, from = m->wild_source ? MPI_ANY_SOURCE : rank_in(m, m->from);
	MPI_Datatype t = make_type(m->gaps_in, room, &n);
	m->buf = malloc(2 * room);
	memset(m->buf, 0x3c, 2 * room);
	if (persistent)
		MPI_Recv_init(m->buf, n, t, from, m->tag, comms[m->comm], r), MPI_Start(r);
	else
		MPI_Irecv(m->buf, n, t, from, m->tag, comms[m->comm], r);
	free_type(t);
}

static int draw_len(uint32_t *s)
{
	switch (next_random(s) % 16) {
	case 0:
		return 0;
	case 1:
	case 2:
		return next_random(s) % (64 << 10);
	case 3:
		return next_random(s) % (512 << 10);
	case 4:
		return next_random(s) % 8 ? next_random(s) % (128 << 10) : next_random(s) % ((4 << 20) + 1);
	default:
		return next_random(s) % 1500;
	}
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	int messages = argc > 2 ? atoi(argv[2]) : 80, rounds = argc > 3 ? atoi(argv[3]) : 4;
	if (messages > MAXMSG)
		messages = MAXMSG;
	if (rank == 0)
		printf("seed %u\n", seed);
	void *attached = malloc(64 << 20);
	int old, total = 0;
	uint32_t sum = 0;
	MPI_Buffer_attach(attached, 64 << 20);
	comms[0] = WORLD;
	MPI_Comm_split(WORLD, 0, -rank, &comms[1]);

	for (int round = 0; round < rounds; round++) {
		uint32_t s = seed * 7919 + round, mine = (seed * 31 + round) * 1009 + rank;
		MPI_Request r[2 * MAXMSG];
		int what[2 * MAXMSG], n = 0, nsent = 0;
		char *sent[MAXMSG];
		/* a tag is unique in its round: whatever the order of posting, the plan says which receive gets it */
		for (int i = 0; i < messages; i++) {
			plan[i].from = next_random(&s) % size;
			plan[i].to = next_random(&s) % size;
			plan[i].len = draw_len(&s);
			plan[i].mode = next_random(&s) % 5;
			plan[i].wild_source = next_random(&s) % 3 == 0;
			plan[i].tag = i + 1;
			plan[i].comm = next_random(&s) % 2;
			plan[i].gaps_out = next_random(&s) % 4 == 0 && plan[i].len > 1;
			plan[i].gaps_in = next_random(&s) % 4 == 0;
		}
		/* receives in my own order, half of them before the sends */
		int order[MAXMSG], half = next_random(&mine) % (messages + 1);
		for (int i = 0; i < messages; i++)
			order[i] = i;
		for (int i = messages - 1; i > 0; i--) {
			int k = next_random(&mine) % (i + 1), t = order[i];
			order[i] = order[k], order[k] = t;
		}
		for (int phase = 0; phase < 3; phase++) {
			for (int j = 0; j < messages; j++) {
				struct message *m = &plan[order[j]];
				if (phase == 1) {
					if (m->from != rank)
						continue;
					char *out = malloc(2 * m->len + 1);
					fill(out, m->len, seed + round * 1000 + m->tag);
					if (m->gaps_out)
						spread(out, m->len);
					what[n] = -1;
					start_send(m, out, &r[n]);
					n++;
					sent[nsent++] = out;
				} else {
					if (m->to != rank || (phase == 0) != (j < half))
						continue;
					what[n] = order[j];
					start_recv(m, next_random(&mine) % 4 == 0, &r[n++]);
				}
			}
		}
		for (int left = n; left > 0;) {
			int index[2 * MAXMSG], count = 0, flag;
			MPI_Status st[2 * MAXMSG];
			switch (next_random(&mine) % 5) {
			case 0:
				MPI_Waitany(n, r, &index[0], &st[0]), count = 1;
				break;
			case 1:
				MPI_Testany(n, r, &index[0], &flag, &st[0]), count = flag;
				break;
			case 2:
				MPI_Waitsome(n, r, &count, index, st);
				break;
			case 3:
				MPI_Testsome(n, r, &count, index, st);
				break;
			case 4: /* one of them by itself */
				for (int i = 0, from = next_random(&mine) % n; i < n && !count; i++) {
					index[0] = (from + i) % n;
					if (r[index[0]] != MPI_REQUEST_NULL) {
						MPI_Test(&r[index[0]], &flag, &st[0]);
						count = flag;
						break;
					}
				}
				break;
			}
			for (int i = 0; i < count; i++) {
				left--;
				if (r[index[i]] != MPI_REQUEST_NULL) /* a persistent one */
					MPI_Request_free(&r[index[i]]);
				if (what[index[i]] < 0)
					continue;
				struct message *m = &plan[what[index[i]]];
				int got;
				MPI_Get_count(&st[i], MPI_BYTE, &got);
				CHECK_INT(got, m->len);
				CHECK_INT(st[i].MPI_SOURCE, rank_in(m, m->from));
				CHECK_INT(st[i].MPI_TAG, m->tag);
				if (m->gaps_in) {
					CHECK(untouched_gaps(m->buf, m->len + 8), "gaps of message %d", m->tag);
					gather(m->buf, m->len + 8);
				}
				CHECK(filled(m->buf, m->len, seed + round * 1000 + m->tag),
					"message %d of %d bytes from %d", m->tag, m->len, m->from);
				CHECK(m->buf[m->len] == 0x3c, "byte behind message %d", m->tag);
				sum += digest(m->buf, m->len);
				total++;
				free(m->buf);
			}
		}
		MPI_Barrier(WORLD); /* the next round uses the same tags */
		while (nsent > 0)
			free(sent[--nsent]);
	}
	MPI_Comm_free(&comms[1]);
	MPI_Buffer_detach(&attached, &old);
	free(attached);
	printf("rank %d: %d messages %08x\n", rank, total, sum);
	return end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point communication over intercommunicators: every mode, wildcards, probes, persistent requests.
 * twin: timeout=120 */
#include "inter_comms.h"

#define MAX 200000
static char out[16][MAX], in[16][MAX];

static int size_to(int from, int to)
{
	static const int sizes[] = {0, 1, 100, 5000, 70000, MAX};
	return sizes[(from * 3 + to) % 6];
}

static void check_message(int r, const MPI_Status *st, int tag, const void *buf)
{
	int n;
	MPI_Get_count(st, MPI_CHAR, &n);
	CHECK_INT(n, size_to(remote_world[r], rank));
	CHECK_INT(st->MPI_SOURCE, r);
	CHECK_INT(st->MPI_TAG, tag);
	CHECK(filled(buf, (size_t)n, (uint32_t)(remote_world[r] * 100 + rank)), "data from %d", r);
}

static void fill_all(void)
{
	for (int r = 0; r < nremote; r++) {
		memset(in[r], 1, MAX);
		fill(out[r], MAX, (uint32_t)(rank * 100 + remote_world[r]));
	}
}

typedef int sending(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* Each rank sends to all ranks of the other group, from no bytes to a transfer by rendezvous. */
static void all_pairs(sending *send)
{
	MPI_Request q[32];
	MPI_Status st[32];
	fill_all();
	for (int r = 0; r < nremote; r++)
		MPI_Irecv(in[r], MAX, MPI_CHAR, r, 7, inter, &q[r]);
	MPI_Barrier(WORLD); /* for the ready mode; ranks without this intercommunicator come too */
	for (int r = 0; r < nremote; r++)
		send(out[r], size_to(rank, remote_world[r]), MPI_CHAR, r, 7, inter, &q[nremote + r]);
	MPI_Waitall(2 * nremote, q, st);
	for (int r = 0; r < nremote; r++)
		check_message(r, &st[r], 7, in[r]);
}

/* From anywhere, with any tag; every other one probed first. */
static void from_anywhere(void)
{
	MPI_Request q[16];
	MPI_Status st;
	MPI_Message message;
	int seen[16] = {0}, n, flag = 0;
	fill_all();
	for (int r = 0; r < nremote; r++)
		MPI_Isend(out[r], size_to(rank, remote_world[r]), MPI_CHAR, r, 30 + me, inter, &q[r]);
	for (int i = 0; i < nremote; i++) {
		if (i % 4 == 0) {
			MPI_Recv(in[0], MAX, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &st);
		} else if (i % 4 == 1) {
			MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &message, &st);
			MPI_Get_count(&st, MPI_CHAR, &n);
			MPI_Mrecv(in[0], n, MPI_CHAR, &message, &st);
		} else if (i % 4 == 2) {
			MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &st);
			MPI_Recv(in[0], MAX, MPI_CHAR, st.MPI_SOURCE, st.MPI_TAG, inter, &st);
		} else {
			for (flag = 0; !flag;)
				MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &flag, &message, &st);
			MPI_Request r;
			MPI_Imrecv(in[0], MAX, MPI_CHAR, &message, &r);
			MPI_Wait(&r, &st);
		}
		CHECK(st.MPI_SOURCE >= 0 && st.MPI_SOURCE < nremote && !seen[st.MPI_SOURCE]++, "source is %d",
			st.MPI_SOURCE);
		check_message(st.MPI_SOURCE, &st, 30 + st.MPI_SOURCE, in[0]);
	}
	MPI_Waitall(nremote, q, MPI_STATUSES_IGNORE);
}

static void probe_one_by_one(void)
{
	MPI_Request q;
	MPI_Status st;
	int flag;
	MPI_Isend(NULL, 0, MPI_CHAR, me % nremote, 2, inter, &q);
	for (int r = me; r < nremote && me < np; r += np) {
		for (flag = 0; !flag;)
			MPI_Iprobe(r, 2, inter, &flag, &st);
		CHECK_INT(st.MPI_SOURCE, r);
		MPI_Recv(NULL, 0, MPI_CHAR, r, 2, inter, &st);
	}
	MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
	MPI_Request q[32];
	MPI_Status st[32];
	int any = me % 2;
	for (int r = 0; r < nremote; r++) {
		MPI_Recv_init(in[r], MAX, MPI_CHAR, any ? MPI_ANY_SOURCE : r, any ? MPI_ANY_TAG : 4, inter, &q[r]);
		if (r % 2)
			MPI_Ssend_init(out[r], size_to(rank, remote_world[r]), MPI_CHAR, r, 4, inter, &q[nremote + r]);
		else
			MPI_Send_init(out[r], size_to(rank, remote_world[r]), MPI_CHAR, r, 4, inter, &q[nremote + r]);
	}
	for (int round = 0; round < 3; round++) {
		fill_all();
		MPI_Startall(2 * nremote, q);
		MPI_Waitall(2 * nremote, q, st);
		for (int r = 0; r < nremote; r++)
			check_message(st[r].MPI_SOURCE, &st[r], 4, in[r]);
		MPI_Barrier(inter);
	}
	for (int i = 0; i < 2 * nremote; i++)
		MPI_Request_free(&q[i]);
}

/* Ranks of equal number exchange; a rank without a partner sends nothing. */
static void partners(void)
{
	int partner = me < nremote ? me : MPI_PROC_NULL, x[3] = {rank, rank * 2, rank * 3}, y[3] = {-1, -1, -1};
	MPI_Status st;
	MPI_Request q;
	MPI_Sendrecv(x, 3, MPI_INT, partner, 5, y, 3, MPI_INT, partner, 5, inter, &st);
	CHECK_INT(st.MPI_SOURCE, partner);
	CHECK_INT(y[2], partner < 0 ? -1 : remote_world[me] * 3);
	MPI_Sendrecv_replace(x, 3, MPI_INT, partner, 6, partner, 6, inter, &st);
	CHECK_INT(x[1], partner < 0 ? rank * 2 : remote_world[me] * 2);
	MPI_Send(x, 3, MPI_INT, MPI_PROC_NULL, 0, inter);
	MPI_Recv(x, 3, MPI_INT, MPI_PROC_NULL, 0, inter, &st);
	CHECK_INT(st.MPI_SOURCE, MPI_PROC_NULL);
	MPI_Irecv(x, 3, MPI_INT, MPI_ANY_SOURCE, 99, inter, &q);
	MPI_Cancel(&q);
	MPI_Wait(&q, &st);
	int cancelled;
	MPI_Test_cancelled(&st, &cancelled);
	CHECK_INT(cancelled, 1);
}

/* Messages of the two copies, and of the intercommunicator and collectives on it, are not mixed up. */
static void apart(void)
{
	MPI_Comm d;
	MPI_Request q[4];
	int x = 1000 + rank, y = 2000 + rank, a = 0, b = 0, partner = me % nremote;
	MPI_Comm_dup(inter, &d);
	if (me < nremote && me < np) {
		MPI_Irecv(&a, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &q[0]);
		MPI_Irecv(&b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, d, &q[1]);
	}
	MPI_Barrier(inter);
	if (me < nremote && me < np) {
		MPI_Isend(&y, 1, MPI_INT, partner, 3, d, &q[2]);
		MPI_Isend(&x, 1, MPI_INT, partner, 3, inter, &q[3]);
		MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
		CHECK_INT(a, 1000 + remote_world[me]);
		CHECK_INT(b, 2000 + remote_world[me]);
	}
	MPI_Comm_free(&d);
}

int main(int argc, char **argv)
{
	static char attached[16 * MAX + 16 * MPI_BSEND_OVERHEAD];
	static sending *const modes[] = {MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend};
	void *p;
	int n;
	begin(&argc, &argv);
	make_inters();
	MPI_Buffer_attach(attached, sizeof attached);
	for (int i = 0; i < INTERS; i++) {
		int member = use_inter(i);
		for (int m = 0; m < 4; m++) {
			if (member)
				all_pairs(modes[m]);
			else
				MPI_Barrier(WORLD);
		}
		if (!member)
			continue;
		from_anywhere();
		MPI_Barrier(inter); /* whose receives take anything */
		probe_one_by_one();
		persistent();
		partners();
		apart();
		printf("rank %d: %s: done, %d and %d\n", rank, inter_names[i], np, nremote);
	}
	MPI_Buffer_detach(&p, &n);
	free_inters();
	return end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes with gaps: what lies in the gaps of the receiver must stay as it was. Sent to every other rank.
 * twin: one_sided=yes */
#include "../check.h"

#define ROOM (1 << 20)
static unsigned char out[ROOM], in[ROOM], want[ROOM], packed[ROOM];

struct mixed {
	char c;
	double d;
	short s;
	int i[3];
};

static void make(int kind, int big, MPI_Datatype *t, int *count)
{
	int lens[4] = {1, 3, 0, 2}, disps[4] = {0, 4, 9, 12};
	MPI_Aint bytes[4] = {0, 8, 40, 64};
	int shape[3] = {8, 9, 10}, part[3] = {3, 4, 5}, at[3] = {2, 1, 3};
	MPI_Datatype a, types[4] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_INT};
	/* MPICH 4.0.2 over UCX reports truncation where a fragment of 8 KiB ends inside an element of a struct:
	 * structs stay below that */
	*count = !big ? 3 : kind == 3 ? 300 : kind == 11 ? 90 : 500;
	switch (kind) {
	case 0:
		MPI_Type_vector(5, 2, 4, MPI_INT, t);
		break;
	case 1:
		MPI_Type_indexed(4, lens, disps, MPI_SHORT, t);
		break;
	case 2:
		MPI_Type_create_hindexed(4, lens, bytes, MPI_INT, t);
		break;
	case 3: {
		int ones[4] = {1, 1, 1, 3};
		MPI_Aint where[4] = {offsetof(struct mixed, c), offsetof(struct mixed, d), offsetof(struct mixed, s),
			offsetof(struct mixed, i)};
		MPI_Type_create_struct(4, ones, where, types, &a);
		MPI_Type_create_resized(a, 0, sizeof(struct mixed), t);
		MPI_Type_free(&a);
		break;
	}
	case 4:
		MPI_Type_create_resized(MPI_INT, 0, 12, t);
		break;
	case 5:
		MPI_Type_create_subarray(3, shape, part, at, MPI_ORDER_C, MPI_CHAR, t);
		break;
	case 6:
		MPI_Type_create_subarray(3, shape, part, at, MPI_ORDER_FORTRAN, MPI_SHORT, t);
		break;
	case 7:
		MPI_Type_create_hvector(4, 3, 29, MPI_CHAR, t);
		break;
	case 8:
		MPI_Type_create_indexed_block(4, 2, disps, MPI_INT, t);
		break;
	case 9: /* a vector of vectors */
		MPI_Type_vector(2, 1, 3, MPI_SHORT, &a);
		MPI_Type_vector(3, 2, 4, a, t);
		MPI_Type_free(&a);
		break;
	case 10:
		MPI_Type_dup(MPI_LONG_DOUBLE, t);
		break;
	case 11:
		MPI_Type_contiguous(7, MPI_DOUBLE_INT, t);
		break;
	}
	MPI_Type_commit(t);
}
#define KINDS 12

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	for (int kind = 0; kind < KINDS; kind++) {
		for (int big = 0; big < 2; big++) {
			MPI_Datatype t;
			int count, n, pos = 0;
			MPI_Status st;
			make(kind, big, &t, &count);
			MPI_Aint lb, extent, tlb, textent;
			MPI_Type_get_extent(t, &lb, &extent);
			MPI_Type_get_true_extent(t, &tlb, &textent);
			size_t span = extent * (count - 1) + tlb + textent;
			CHECK(span < ROOM, "span %zu", span);
			for (int step = 1; step < size; step++) {
				int to = (rank + step) % size, from = (rank + size - step) % size;
				uint32_t seed = kind * 100 + big * 10, h;
				fill(out, span, seed + rank);
				memset(in, 0xa5, span);
				MPI_Sendrecv(out, count, t, to, kind, in, count, t, from, kind, WORLD, &st);
				MPI_Get_count(&st, t, &n);
				CHECK_INT(n, count);
				/* the same by packing here what the other one has */
				fill(out, span, seed + from);
				memset(want, 0xa5, span);
				pos = 0;
				MPI_Pack(out, count, t, packed, ROOM, &pos, WORLD);
				int bytes = pos;
				pos = 0;
				MPI_Unpack(packed, bytes, &pos, want, count, t, WORLD);
				CHECK(!memcmp(in, want, span), "type %d, big %d, from %d", kind, big, from);
				h = digest(packed, bytes);
				printf("rank %d: type %d big %d from %d: %d bytes %08x\n", rank, kind, big, from, bytes,
					h);

				/* with gaps there, packed here, and the other way round */
				int type_bytes;
				MPI_Type_size(t, &type_bytes);
				fill(out, span, seed + rank);
				memset(in, 0, span);
				MPI_Request r;
				MPI_Irecv(in, bytes, MPI_BYTE, from, 50, WORLD, &r);
				MPI_Send(out, count, t, to, 50, WORLD);
				MPI_Wait(&r, &st);
				MPI_Get_count(&st, MPI_BYTE, &n);
				CHECK_INT(n, type_bytes * count);
				CHECK(!memcmp(in, packed, bytes), "type %d to bytes", kind);
				memset(in, 0xa5, span);
				MPI_Irecv(in, count, t, from, 51, WORLD, &r);
				pos = 0;
				MPI_Pack(out, count, t, packed, ROOM, &pos, WORLD);
				MPI_Send(packed, pos, MPI_PACKED, to, 51, WORLD);
				MPI_Wait(&r, &st);
				CHECK(!memcmp(in, want, span), "packed to type %d", kind);
			}
			MPI_Type_free(&t);
		}
	}
	/* addresses instead of a buffer */
	double x = rank + 0.25, y = -1;
	int i = rank * 3, j = -1, ones[2] = {1, 1};
	MPI_Aint from_here[2], to_here[2];
	MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT}, send, recv;
	MPI_Get_address(&x, &from_here[0]), MPI_Get_address(&i, &from_here[1]);
	MPI_Get_address(&y, &to_here[0]), MPI_Get_address(&j, &to_here[1]);
	MPI_Type_create_struct(2, ones, from_here, types, &send), MPI_Type_commit(&send);
	MPI_Type_create_struct(2, ones, to_here, types, &recv), MPI_Type_commit(&recv);
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	MPI_Sendrecv(MPI_BOTTOM, 1, send, next, 60, MPI_BOTTOM, 1, recv, prev, 60, WORLD, MPI_STATUS_IGNORE);
	CHECK(y == prev + 0.25 && j == prev * 3, "by address: %g %d", y, j);
	/* freed while it is on the way */
	MPI_Datatype v;
	static int big[40000], got[40000];
	MPI_Request r[2];
	for (int k = 0; k < 40000; k++)
		big[k] = rank + k, got[k] = -1;
	MPI_Type_vector(20000, 1, 2, MPI_INT, &v);
	MPI_Type_commit(&v);
	MPI_Irecv(got, 1, v, prev, 61, WORLD, &r[0]);
	MPI_Isend(big, 1, v, next, 61, WORLD, &r[1]);
	MPI_Type_free(&v);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	for (int k = 0; k < 40000; k++)
		CHECK_INT(got[k], k % 2 ? -1 : prev + k);
	return end();
}

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Bytes of collectives that cross the bridge, as zipperd counts them: every byte as few times as possible (libzipper(7)).
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
cd "$TAP_TMP" || exit 99
cat >crossing.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
static int size, n, counts[64], displs[64];
static MPI_Datatype bytes[64];
static MPI_Op last; /* does not commute: the right one */
static char *out, *in;

static void right(void *a, void *b, int *len, MPI_Datatype *type)
{
	(void)a, (void)b, (void)len, (void)type;
}

static int call(const char *name, MPI_Comm c, int root)
{
	if (!strcmp(name, "barrier"))
		return MPI_Barrier(c);
	if (!strcmp(name, "bcast"))
		return MPI_Bcast(out, n, MPI_BYTE, root, c);
	if (!strcmp(name, "reduce"))
		return MPI_Reduce(out, in, n, MPI_BYTE, MPI_BOR, root, c);
	if (!strcmp(name, "reduce_ordered"))
		return MPI_Reduce(out, in, n, MPI_BYTE, last, root, c);
	if (!strcmp(name, "allreduce"))
		return MPI_Allreduce(out, in, n, MPI_BYTE, MPI_BOR, c);
	if (!strcmp(name, "allreduce_ordered"))
		return MPI_Allreduce(out, in, n, MPI_BYTE, last, c);
	if (!strcmp(name, "reduce_scatter"))
		return MPI_Reduce_scatter_block(out, in, n, MPI_BYTE, MPI_BOR, c);
	if (!strcmp(name, "reduce_scatter_v"))
		return MPI_Reduce_scatter(out, in, counts, MPI_BYTE, MPI_BOR, c);
	if (!strcmp(name, "gather"))
		return MPI_Gather(out, n, MPI_BYTE, in, n, MPI_BYTE, root, c);
	if (!strcmp(name, "gatherv"))
		return MPI_Gatherv(out, n, MPI_BYTE, in, counts, displs, MPI_BYTE, root, c);
	if (!strcmp(name, "scatter"))
		return MPI_Scatter(in, n, MPI_BYTE, out, n, MPI_BYTE, root, c);
	if (!strcmp(name, "scatterv"))
		return MPI_Scatterv(in, counts, displs, MPI_BYTE, out, n, MPI_BYTE, root, c);
	if (!strcmp(name, "allgather"))
		return MPI_Allgather(out, n, MPI_BYTE, in, n, MPI_BYTE, c);
	if (!strcmp(name, "allgatherv"))
		return MPI_Allgatherv(out, n, MPI_BYTE, in, counts, displs, MPI_BYTE, c);
	if (!strcmp(name, "alltoall"))
		return MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, c);
	if (!strcmp(name, "alltoallv"))
		return MPI_Alltoallv(out, counts, displs, MPI_BYTE, in, counts, displs, MPI_BYTE, c);
	if (!strcmp(name, "alltoallw"))
		return MPI_Alltoallw(out, counts, displs, bytes, in, counts, displs, bytes, c);
	if (!strcmp(name, "scan"))
		return MPI_Scan(out, in, n, MPI_BYTE, MPI_BOR, c);
	if (!strcmp(name, "exscan"))
		return MPI_Exscan(out, in, n, MPI_BYTE, MPI_BOR, c);
	return MPI_Abort(c, 1);
}

/* NAME BYTES TIMES [mixed|halves|parity]: on the world, with the ranks of the clusters interleaved, or between the
 * groups of an intercommunicator, from rank 0 of the first one. */
int main(int argc, char **argv)
{
	int rank, times = atoi(argv[3]), side, root = 0;
	const char *where = argc > 4 ? argv[4] : "world";
	n = atoi(argv[2]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Op_create(right, 0, &last);
	MPI_Comm c = MPI_COMM_WORLD, group;
	for (int i = 0; i < size; i++) {
		counts[i] = n;
		displs[i] = i * n;
		bytes[i] = MPI_BYTE;
	}
	out = calloc((size_t)size, (size_t)n);
	in = calloc((size_t)size, (size_t)n);
	side = strcmp(where, "parity") ? rank >= size / 2 : rank % 2;
	if (!strcmp(where, "mixed")) {
		MPI_Comm_split(MPI_COMM_WORLD, 0, rank % 2, &c);
	} else if (argc > 4) {
		MPI_Comm_split(MPI_COMM_WORLD, side, rank, &group);
		MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, strcmp(where, "parity") ? side ? 0 : size / 2 : !side, 1, &c);
		MPI_Comm_rank(group, &root);
		root = side ? 0 : root ? MPI_PROC_NULL : MPI_ROOT;
	}
	for (int i = 0; i < times; i++)
		call(argv[1], c, root);
	return MPI_Finalize();
}
END
compile crossing.c crossing || bail_out "crossing.c does not compile"

unset ZIPPER_TUNING ZIPPER_TUNE
run() { # LAYOUT NAME BYTES TIMES [WHERE]: sets m1 b1 m2 b2 to messages and bytes from the first cluster to the second, and back
	# shellcheck disable=SC2086 # a word or none
	limited 60 "$ZMPIRUN" --stats --clusters "$1" ./crossing "$2" "$3" "$4" $5 >out 2>&1 </dev/null
	read -r m1 b1 < <(sed -n 's/.* c1 -> c2: \([0-9]*\) messages, \([0-9]*\) bytes.*/\1 \2/p' out)
	read -r m2 b2 < <(sed -n 's/.* c2 -> c1: \([0-9]*\) messages, \([0-9]*\) bytes.*/\1 \2/p' out)
}
declare -A without # [LAYOUT WHERE]: bytes there and back for making the communicator, without any call
# crosses LAYOUT NAME BYTES TIMES THERE BACK MESSAGES [WHERE [LEAST]]: exactly THERE and BACK bytes cross in one call, from the
# first cluster to the second and back, with at most MESSAGES messages in one direction, and at least LEAST. Joining, leaving and
# acknowledgements are messages without bytes.
crosses() {
	local layout=$1 name=$2 n=$3 times=$4 there=$5 back=$6 messages=$7 where=$8 least=$((${9:-0} * $4)) m1 b1 m2 b2
	if [ -z "${without[$layout $where]}" ]; then
		run "$layout" "$name" "$n" 0 "$where"
		without[$layout $where]="$b1 $b2"
	fi
	run "$layout" "$name" "$n" "$times" "$where"
	there=$((there * times + ${without[$layout $where]% *})) back=$((back * times + ${without[$layout $where]#* }))
	messages=$((messages * times + 20))
	if [ "${b1:--1}" = $there ] && [ "${b2:--1}" = $back ] && [ "$m1" -le $messages ] && [ "$m2" -le $messages ] &&
		[ "$m1" -ge $least ] && [ "$m2" -ge $least ]; then
		pass "$layout: $name of $n${where:+, $where}: $b1 bytes there and $b2 back in $times calls, $m1 and $m2 messages"
	else
		fail "$layout: $name of $n${where:+, $where}: wanted $there and $back bytes in $times calls, $least to $messages messages"
		diag_file out
	fi
}
# among LAYOUT NAME BYTES TIMES FROM>TO:BYTES...: exactly these bytes cross between more clusters in one call. FROM>TO:BYTES+
# leave their cluster in a message to several.
among() {
	local layout=$1 name=$2 n=$3 times=$4 pair bytes shared want_shared want
	shift 4
	limited 60 "$ZMPIRUN" --stats --clusters "$layout" ./crossing "$name" "$n" "$times" >out 2>&1 </dev/null
	sed -n 's/.* \(c[0-9]\) -> \(c[0-9]\): [0-9]* messages, \([0-9]*\) bytes\(, of them \([0-9]*\) by.*\)*/\1>\2 \3 \5/p' out >pairs
	: >wrong
	while read -r pair bytes shared; do
		want=$(printf '%s\n' "$@" | sed -n "s/^$pair:\([0-9]*\)+*$/\1/p")
		want=$((${want:-0} * times)) want_shared=0
		printf '%s\n' "$@" | grep -q "^$pair:.*+$" && want_shared=$want
		[ "$bytes" = $want ] && [ "${shared:-0}" = $want_shared ] || echo "$pair: $want, shared $want_shared" >>wrong
	done <pairs
	if [ -s pairs ] && [ ! -s wrong ]; then
		pass "$layout: $name of $n: $* in each of $times calls"
	else
		fail "$layout: $name of $n: $* in each of $times calls"
		diag_file wrong
		diag_file out
	fi
}
crosses 2+2 barrier 0 100 0 0 1
crosses 2+2 bcast 1000 100 1000 0 1
crosses 3+2 bcast 1000000 3 1000000 0 60
crosses 2+2 reduce 1000 100 0 1000 1
crosses 2+2 allreduce 8 100 8 8 1
crosses 3+2 allreduce 1000000 3 1000000 1000000 200
crosses 2+3 reduce_scatter 1000 100 3000 2000 1
crosses 2+3 reduce_scatter 100000 3 300000 200000 10
crosses 2+3 gather 1000 100 0 3000 1
crosses 2+3 scatter 1000 100 3000 0 1
crosses 2+3 allgather 1000 100 2000 3000 1
crosses 2+3 alltoall 100 100 600 600 1
crosses 2+3 scan 1000 100 1000 0 1
crosses 2+3 exscan 1000 100 1000 0 1
crosses 2+3 gatherv 1000 100 0 3000 1
# vectors cross with their sizes if the receiver does not know them
crosses 2+3 scatterv 1000 100 3024 0 1
crosses 2+3 scatterv 10000 30 30024 0 5 # long blocks go alone
crosses 2+3 allgatherv 1000 100 2000 3000 1
crosses 2+3 alltoallv 100 100 624 624 2
crosses 2+3 alltoallw 100 100 624 624 2
crosses 2+3 reduce_scatter_v 1000 100 3000 2000 1
# ranks of the clusters interleaved: sums as before; operations that do not commute are collected at the root
crosses 3+2 allreduce 1000 100 1000 1000 1 mixed
crosses 3+2 reduce 1000 100 0 1000 1 mixed
crosses 3+2 reduce_ordered 1000 100 0 2000 1 mixed
crosses 3+2 allreduce_ordered 1000 100 1000 2000 1 mixed
crosses 3+2 scan 1000 100 2016 2000 1 mixed
# between groups: one in each cluster; both in both
crosses 2+2 barrier 0 100 0 0 1 halves
crosses 2+2 bcast 1000 100 1000 0 1 halves
crosses 2+2 reduce 1000 100 0 1000 1 halves
crosses 2+2 allreduce 1000 100 1000 1000 1 halves
crosses 2+2 gather 1000 100 0 2000 1 halves
crosses 2+2 scatter 1000 100 2000 0 1 halves
crosses 2+2 allgather 1000 100 2000 2000 1 halves
crosses 2+2 alltoall 1000 100 4016 4016 2 halves
crosses 2+2 reduce_scatter 1000 100 2000 2000 1 halves
crosses 4+4 reduce_scatter 100000 3 400000 400000 60 halves # by several leaders
crosses 2+2 bcast 1000 100 1000 0 1 parity
crosses 2+2 allreduce 1000 100 2000 2000 2 parity
crosses 2+2 reduce_scatter 1000 100 2000 2000 2 parity # each group gets the blocks of the other's members there
crosses 2+2 reduce_scatter_v 1000 100 2032 2000 4 parity # and their counts
crosses 4+4 reduce_scatter 100000 3 400000 400000 60 parity
crosses 1+1+1 barrier 0 100 0 0 1
crosses 1+1+1 allreduce 1000 100 1000 1000 1
export ZIPPER_TUNE="all patience=60000" # ms to wait for a late cluster
among 1+1+1 bcast 1000 100 "c1>c2:1000" "c1>c3:1000"
among 2+1+1 bcast 100000 3 "c1>c2:100000" "c1>c3:100000+"
among 1+2+1 reduce 1000 100 "c2>c1:1000" "c3>c1:1000"
among 1+2+1 gather 1000 100 "c2>c1:2000" "c3>c1:1000"
among 1+2+1 scatter 1000 100 "c1>c2:2000" "c1>c3:1000"
among 1+1+1 allgather 10000 30 "c1>c2:10000" "c1>c3:10000+" "c2>c1:10000+" "c2>c3:10000" "c3>c1:10000" "c3>c2:10000+"
among 1+2+1 alltoall 1000 100 "c1>c2:2000" "c1>c3:1000" "c2>c1:2000" "c2>c3:2000" "c3>c1:1000" "c3>c2:2000"
among 1+2+1 reduce_scatter 1000 100 "c1>c2:2000" "c1>c3:1000" "c2>c1:1000" "c2>c3:1000" "c3>c1:1000" "c3>c2:2000"
among 1+1+2 scan 1000 100 "c1>c2:1000" "c1>c3:1000" "c2>c3:1000"
among 1+2+1+1 scan 100000 3 "c1>c2:100000" "c1>c3:100000+" "c1>c4:100000+" "c2>c3:100000" "c2>c4:100000+" "c3>c4:100000"
among 1+2+1+1 exscan 100000 3 "c1>c2:100000" "c1>c3:100000+" "c1>c4:100000+" "c2>c3:100000" "c2>c4:100000+" "c3>c4:100000"
# data that would go one-sided to one cluster goes to several in one message
export ZIPPER_ONE_SIDED=yes
among 1+1+1 bcast 1000000 3 "c1>c2:1000000" "c1>c3:1000000+"
among 1+1+1+1 scan 100000 3 "c1>c2:100000" "c1>c3:100000+" "c1>c4:100000+" "c2>c3:100000" "c2>c4:100000+" "c3>c4:100000"
crosses 2+2 bcast 1000000 3 1000000 0 60
unset ZIPPER_ONE_SIDED ZIPPER_TUNE
# data that clusters pass on to each other enters each of them once
export ZIPPER_TUNE="all between=chain segment=600"
among 1+2+1+2 allgather 1000 30 "c1>c2:4000" "c2>c3:5000" "c3>c4:4000" "c4>c1:5000"
among 1+1+1+1+1 allgatherv 1000 30 "c1>c2:4000" "c2>c3:4000" "c3>c4:4000" "c4>c5:4000" "c5>c1:4000"
export ZIPPER_TUNE="all between=tree segment=600 leaders=2"
among 2+2+2+2 allgather 1000 30 "c1>c2:2000" "c2>c3:2000" "c3>c4:2000" "c4>c1:2000" "c1>c3:4000" "c2>c4:4000" "c3>c1:4000" "c4>c2:4000"
among 2+2+2 bcast 100000 3 "c1>c2:100000" "c1>c3:100000"
export ZIPPER_TUNE="all between=pipeline segment=500"
among 1+1+1+1 allgather 1000 30 "c1>c2:1500" "c1>c3:1000" "c1>c4:500" "c2>c3:1500" "c2>c4:1000" "c2>c1:500" \
	"c3>c4:1500" "c3>c1:1000" "c3>c2:500" "c4>c1:1500" "c4>c2:1000" "c4>c3:500"
export ZIPPER_TUNE="allreduce exchange=slices between=sequential"
among 1+2+1+1 allreduce 1000000 3 "c1>c2:500000" "c1>c3:500000" "c1>c4:500000" "c2>c1:500000" "c2>c3:500000" "c2>c4:500000" \
	"c3>c1:500000" "c3>c2:500000" "c3>c4:500000" "c4>c1:500000" "c4>c2:500000" "c4>c3:500000"
export ZIPPER_TUNE="allreduce exchange=slices between=chain"
among 1+2+1+1 allreduce 1000000 3 "c1>c2:1000000" "c1>c3:250000" "c1>c4:250000" "c2>c1:250000" "c2>c3:1000000" "c2>c4:250000" \
	"c3>c1:250000" "c3>c2:250000" "c3>c4:1000000" "c4>c1:1000000" "c4>c2:250000" "c4>c3:250000"
unset ZIPPER_TUNE
export ZIPPER_TUNE="allreduce exchange=slices"
crosses 1+1+1 allreduce 999999 3 666671 666671 60 # a third of a segment is not always a whole number of bytes
export ZIPPER_TUNE="all leaders=2; alltoall aggregate=1K"
crosses 2+2 allreduce 1000000 3 1000000 1000000 200
crosses 3+3 alltoall 100 100 900 900 2
crosses 2+2 bcast 1000000 3 1000000 0 60
crosses 4+4 allgather 1000 100 4000 4000 2 halves 2
crosses 4+4 allgatherv 1000 100 4000 4000 2 halves 2
crosses 4+4 reduce_scatter 1000 100 4000 4000 2 halves 2
done_testing

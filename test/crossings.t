#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What crosses the bridge in collectives, as zipperd counts it: every byte as few times as possible (libzipper(7)).
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
cd "$TAP_TMP" || exit 99
cat >crossing.c <<'END'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	int rank, size, n = atoi(argv[2]), times = atoi(argv[3]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	char *out = calloc((size_t)size, (size_t)n), *in = calloc((size_t)size, (size_t)n);
	MPI_Comm w = MPI_COMM_WORLD;
	for (int i = 0; i < times; i++) {
		if (!strcmp(argv[1], "barrier"))
			MPI_Barrier(w);
		else if (!strcmp(argv[1], "bcast"))
			MPI_Bcast(out, n, MPI_BYTE, 0, w);
		else if (!strcmp(argv[1], "reduce"))
			MPI_Reduce(out, in, n, MPI_BYTE, MPI_BOR, 0, w);
		else if (!strcmp(argv[1], "allreduce"))
			MPI_Allreduce(out, in, n, MPI_BYTE, MPI_BOR, w);
		else if (!strcmp(argv[1], "reduce_scatter"))
			MPI_Reduce_scatter_block(out, in, n, MPI_BYTE, MPI_BOR, w);
		else if (!strcmp(argv[1], "gather"))
			MPI_Gather(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, w);
		else if (!strcmp(argv[1], "scatter"))
			MPI_Scatter(in, n, MPI_BYTE, out, n, MPI_BYTE, 0, w);
		else if (!strcmp(argv[1], "allgather"))
			MPI_Allgather(out, n, MPI_BYTE, in, n, MPI_BYTE, w);
		else if (!strcmp(argv[1], "alltoall"))
			MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, w);
		else if (!strcmp(argv[1], "scan"))
			MPI_Scan(out, in, n, MPI_BYTE, MPI_BOR, w);
		else
			MPI_Abort(w, 1);
	}
	return MPI_Finalize();
}
END
compile crossing.c crossing || bail_out "crossing.c does not compile"

unset ZIPPER_TUNING ZIPPER_TUNE
# crosses LAYOUT NAME BYTES TIMES THERE BACK MESSAGES: bytes from the first cluster to the second and back in one call,
# and at most so many messages in one direction. Joining, leaving and acknowledgements have some to spare.
crosses() {
	local layout=$1 name=$2 n=$3 times=$4 there=$5 back=$6 messages=$7 m1 b1 m2 b2
	limited 60 "$ZMPIRUN" --stats --clusters "$layout" ./crossing "$name" "$n" "$times" >out 2>&1 </dev/null
	read -r m1 b1 < <(sed -n 's/.* c1 -> c2: \([0-9]*\) messages, \([0-9]*\) bytes.*/\1 \2/p' out)
	read -r m2 b2 < <(sed -n 's/.* c2 -> c1: \([0-9]*\) messages, \([0-9]*\) bytes.*/\1 \2/p' out)
	there=$((there * times)) back=$((back * times)) messages=$((messages * times + 20))
	if [ "${b1:--1}" -ge $there ] && [ "$b1" -le $((there + there / 10 + 1000)) ] && [ "${b2:--1}" -ge $back ] &&
		[ "$b2" -le $((back + back / 10 + 1000)) ] && [ "$m1" -le $messages ] && [ "$m2" -le $messages ]; then
		pass "$layout: $name of $n: $b1 bytes there and $b2 back in $times calls, $m1 and $m2 messages"
	else
		fail "$layout: $name of $n: wanted $there and $back bytes in $times calls, at most $messages messages"
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
crosses 2+3 alltoall 100 100 600 600 6
crosses 2+3 scan 1000 100 1000 0 1
crosses 1+1+1 barrier 0 100 0 0 1
crosses 1+1+1 allreduce 1000 100 1000 1000 1
export ZIPPER_TUNE="allreduce exchange=slices"
crosses 1+1+1 allreduce 999999 3 666666 666666 60
export ZIPPER_TUNE="all leaders=2; alltoall aggregate=1K"
crosses 2+2 allreduce 1000000 3 1000000 1000000 200
crosses 3+3 alltoall 100 100 900 900 2
crosses 2+2 bcast 1000000 3 1000000 0 60
done_testing

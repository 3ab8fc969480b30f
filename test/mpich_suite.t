#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The runner of MPICH's test suite (mpich_suite.py), on a suite of a few programs: what counts as a pass, known failures, jobs beside
# each other, results that are kept, and the table.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
command -v python3 >/dev/null || skip_all "no python3"
[ -z "$RUNTIME" ] || skip_all "the runner preloads no runtime of a sanitizer"
cd "$TAP_TMP" || exit 99
export MPICC MPIEXEC
suite=work/mpi
for folder in . dtpools util one two; do
	mkdir -p "$suite/$folder"
	printf 'all:\n' >"$suite/$folder/Makefile"
done

# Says "No Errors" where all ranks are in one cluster, as natively. Arguments change that.
cat >program.c <<'end'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	int rank, size, n, sum, one = 1;
	const char *how = argc > 1 ? argv[1] : "";
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	n = atoi(getenv("PMI_SIZE")); /* in this cluster */
	int bad = !strcmp(how, "never") || (!strcmp(how, "one-cluster") && n < size) || (!strcmp(how, "not-three") && n == 1);
	MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (rank == 0)
		printf(bad ? "Found 1 errors\n" : !strcmp(how, "chatty") ? "a word\n No Errors\n" : " No Errors\n");
	MPI_Finalize();
	return bad;
}
end
compile program.c program || bail_out "the program does not compile"
cp program "$suite/one/" && cp program "$suite/two/"
cat >"$suite/one/testlist" <<'end'
# a comment
program 4
program 4 arg=one-cluster
program 4 arg=not-three
program 2 arg=never
program 2 arg=chatty
nothing 2
end
echo 'program 1' >"$suite/two/testlist"
echo 'late 2' >>"$suite/two/testlist"
printf 'late:\n\tcp program late\n' >>"$suite/two/Makefile"
printf '%s  %s\n' 'one/program not-three as 1\+1\+2' 'clusters with one rank' 'two/program' 'none, in truth' >known

runner() { ZIP_TOP_BUILDDIR=$ZIP_TOP_BUILDDIR python3 -B "$ZIP_TOP_SRCDIR/test/mpich_suite.py" --work work --jobs 3 --results results --expected known "$@" >out 2>err; }
has() { ok "$1" grep -qE -- "$2" "${3:-out}" || diag_file "${3:-out}"; }

printf 'Text before.\n\n| folder | clusters | lines | natively | merged | known | failed | bytes over the bridge |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n| `one` | 7 | 1 | 1 | 1 | 0 | 0 | 1 |\n| `zero` | 2 | 3 | 3 | 3 | 0 | 0 | 9 |\n' >table
runner --table table one two
is "a failure that nobody lists is a failure: status" "$?" 1 || diag_file err
has "a line that passes" '^ok [0-9]+ - one/program as 2\+2$'
has "... in three clusters, too" '^ok [0-9]+ - one/program as 1\+1\+2$'
has "a failure" '^not ok [0-9]+ - one/program one-cluster as 2\+2$'
has "... with what the program says" '^#   Found 1 errors'
has "a known failure" '^not ok [0-9]+ - one/program not-three as 1\+1\+2 # TODO clusters with one rank$'
has "... and the same line in other clusters" '^ok [0-9]+ - one/program not-three as 2\+2$'
has "a line that fails natively" '^ok [0-9]+ - one/program never # SKIP natively it fails too$'
has "... as one does that says more than No Errors" '^ok [0-9]+ - one/program chatty # SKIP natively'
has "a program that was not built" '^ok [0-9]+ - one/nothing # SKIP it was not built$'
has "... one that its folder does not build with the others" '^ok [0-9]+ - two/late as 1\+1$'
has "a line for one rank runs with two" '^ok [0-9]+ - two/program as 1\+1 '
has "what is listed and passes is told" '^# passed: two/program as 1\+1$'
has "the sums" '^3 lines passed, 1 failed, 1 passed that are listed as failures$'
has "the table: a folder that ran" '^\| `one` \| 2 and 3 \| 5 \| 3 \| 1 \| 1 \| 1 \| [0-9]+ \|$' table
has "... one that did not" '^\| `zero` \| 2 \| 3 \| 3 \| 3 \| 0 \| 0 \| 9 \|$' table
has "... and the sums of all" '^\| all \| \| 10 \| 8 \| 6 \| 1 \| 1 \| [0-9]+ \|$' table
has "... below the text" '^Text before\.$' table

runner --table table one two
is "again: only what may come out differently runs" "$(grep -cE '^(not )?ok .* as ' out)" 4 || diag_file out
has "... with the same sums" '^3 lines passed, 1 failed, 1 passed that are listed as failures$'
has "... and the same table" '^\| all \| \| 10 \| 8 \| 6 \| 1 \| 1 \| [0-9]+ \|$' table
runner --only '^one/program$' --table table one
is "without failures: status" "$?" 0 || diag_file out
has "the table after a run of some lines: all that have a result" '^\| `one` \| 2 and 3 \| 5 \| 3 \| 1 \| 1 \| 1 \| [0-9]+ \|$' table
runner --results "" --shard 1/2 --table table one
is "... and without results of the others a usage error: status" "$?" 2
has "... that says what to give" '^.*error: --table makes rows of whole folders: .*--results FILE' err
done_testing

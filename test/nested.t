#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job inside a job: mpiexec and zmpirun that a rank calls start plain jobs, and the outer job goes on.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "zmpirun is not built"
[ "$SANITIZED" != libtsan ] || skip_all "a shell with libtsan preloaded, as ranks start it here, crashes"
compile "$ZIP_TOP_SRCDIR/test/lib/driver.c" driver >cc 2>&1 || { diag_file cc; bail_out "driver.c does not compile"; }
compile "$ZIP_TOP_SRCDIR/test/programs/start/hello.c" hello >cc 2>&1 || { diag_file cc; bail_out "hello.c does not compile"; }
unset LD_PRELOAD

# counted REGEX: the lines of out that match, each with the number of its copies
counted() { grep -E "$1" out | LC_ALL=C sort | uniq -c | sed 's/^ *//' | tr '\n' ';'; }
inner="$MPIEXEC -n 2 ./hello"
# of RANKS TIMES: what as many jobs of so many ranks print
of() { limited 60 "$MPIEXEC" -n "$1" ./hello 2>native.err </dev/null | grep token | LC_ALL=C sort | sed "s/^/$2 /" | tr '\n' ';'; }
hello=$(of 2 3)
run "mpiexec in each rank" 0 --clusters 1,2 ./driver "$inner"
is "mpiexec: three plain jobs" "$(counted token)" "$hello" || diag_file err
is "mpiexec: all drivers go on" "$(counted driver)" "1 driver 0: 0;1 driver 1: 0;1 driver 2: 0;"
run "zmpirun in each rank" 0 --clusters 2 ./driver "$ZMPIRUN --clusters 2 -n 4 ./hello"
is "zmpirun: two merged worlds" "$(counted token)" "$(of 4 2)" || diag_file err
run "zmpirun in mpiexec in a rank" 0 --clusters 2 ./driver "$MPIEXEC -n 1 ./driver '$ZMPIRUN --clusters 1,1 ./hello'"
is "zmpirun in mpiexec: two merged worlds" "$(counted token)" "$(of 2 2)" || diag_file err
run "a session alone" 0 --clusters 1,2 ./driver session "$inner"
is "a session alone: three plain jobs" "$(counted token)" "$hello" || diag_file err
if limited 30 "$MPIEXEC" -n 1 ./driver spawn "$inner" >out 2>err </dev/null && grep -qx "driver 0: 0" out; then
	run "a spawned process" 0 --clusters 1,2 ./driver spawn "$inner"
	is "a spawned process: three plain jobs" "$(counted token)" "$hello" || diag_file err
else
	skip "a spawned process" "natively no job starts in a spawned process"
	skip "a spawned process: three plain jobs" "natively no job starts in a spawned process"
fi
run "an inner job that fails" 0 --clusters 2 ./driver "$MPIEXEC -n 2 false"
matches "an inner job that fails: the driver hears of it" out 'driver 0: 256'

# --- what is inherited
echo 'int zip_test_other;' >other.c
"${CC:-gcc}" -shared -fPIC -o other.so other.c || bail_out "no shared library"
show='env | grep -E "^(LD_PRELOAD|ZIPPER_|MINE|PMI_RANK)" | sed "s/^ZIPPER_MODULE_DIR=.*/ZIPPER_MODULE_DIR/" | sort'
run "the environment of children" 0 --clusters 1,1 -genv MINE x -genv ZIPPER_WAIT yield ./driver "$show"
is "children: what tunes the library stays" "$(counted '=|ZIPPER')" \
	"${RUNTIME:+2 LD_PRELOAD=$RUNTIME;}2 MINE=x;2 PMI_RANK=0;2 ZIPPER_MODULE_DIR;2 ZIPPER_WAIT=yield;" || diag_file err
run "another preloaded library" 0 --clusters 1,1 -genv LD_PRELOAD "$PWD/other.so" ./driver 'echo "LD_PRELOAD=$LD_PRELOAD"'
is "another preloaded library stays" "$(counted LD_PRELOAD)" "2 LD_PRELOAD=${RUNTIME:+$RUNTIME:}$PWD/other.so;" || diag_file err
run "before MPI_Init all is inherited" 0 --clusters 1,1 sh -c 'sh -c "exec ./hello"'
is "before MPI_Init: one world" "$(counted token)" "$(of 2 1)"

# --- without a job: only recorded
graph=$TAP_TMP/graph
ZIPPER_PROFILE=$graph limited 60 "$MPIEXEC" -n 3 env LD_PRELOAD="$PRELOAD_LIST" ./driver "$inner" >out 2>err </dev/null
is "recording" $? 0 || diag_file err
is "recording: three plain jobs" "$(counted token)" "$hello"
is "recording: the graph names the outer job's program" "$(grep -aoE 'driver|hello' "$graph" | uniq)" driver

# --- a program that keeps the environment of before MPI_Init
cat >keeper.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank, status = 0, go[2];
	char word;
	if (pipe(go) != 0)
		return 9;
	pid_t child = fork(); /* before MPI_Init */
	if (child == 0) {
		close(go[1]);
		if (read(go[0], &word, 1) == 1)
			execvp(argv[1], argv + 1);
		_exit(0);
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0 && write(go[1], "x", 1) != 1)
		return 9;
	close(go[1]);
	waitpid(child, &status, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("status %d\n", WEXITSTATUS(status));
	MPI_Finalize();
	return 0;
}
END
compile keeper.c keeper >cc 2>&1 || diag_file cc
run "mpiexec with the environment of before MPI_Init" 0 --clusters 2 ./keeper $inner
is "... two plain jobs" "$(counted token)" "$(of 2 1)" || diag_file err
is "... which end well" "$(counted status)" "1 status 0;"
run "zmpirun with that environment" 0 --clusters 2 ./keeper "$ZMPIRUN" --clusters 2 -n 4 ./hello
is "... a merged world" "$(counted token)" "$(of 4 1)" || diag_file err

# --- Python keeps a copy
cat >keeps.py <<'END'
import ctypes, os, subprocess, sys
mpi = ctypes.CDLL("libmpich.so.12")
mpi.MPI_Init(None, None)
rank = ctypes.c_int()
mpi.MPI_Comm_rank(ctypes.c_int(0x44000000), ctypes.byref(rank))
if "ZIPPER_JOB" not in os.environ:
    sys.exit("os.environ is not as expected")
if rank.value == 0:
    env = dict(os.environ, ZIPPER_JOB="other") if sys.argv[1] == "other" else os.environ
    print("failed", subprocess.run(sys.argv[2:], env=env).returncode != 0, flush=True)
mpi.MPI_Barrier(ctypes.c_int(0x44000000))
mpi.MPI_Finalize()
END
if [ -n "$RUNTIME" ]; then
	skip "Python" "ASan with Python"
else
	run "Python: os.environ" 0 --clusters 1,1 python3 keeps.py environ $inner
	is "Python: a plain job" "$(counted 'token|failed')" "1 failed False;$(of 2 1)" || diag_file err
	run "Python: another job" 0 --clusters 1,1 python3 keeps.py other $inner
	is "Python: another job is no plain one" "$(counted 'token|failed')" "1 failed True;" || diag_file out
	matches "Python: but refused" err 'libzipper: rank 0 of part c1: MPI_Init: '
fi
done_testing

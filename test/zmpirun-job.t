#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zmpirun with a bridge: exit status, faults by hand, ranks that do not report, a zipperd that runs, a terminal.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
ENDS=$TAP_TMP/ends
compile "$ZIP_TOP_SRCDIR/test/lib/ends.c" "$ENDS" || bail_out "cannot compile ends.c"
cd "$TAP_TMP" || exit 99

# the only line is zmpirun's
line() { is "$1" "$(cat err)" "zmpirun: $2"; }

# --- in order
for layout in 2+2 1+3 3+1 1+1+2; do
	run "$layout ranks" 0 --clusters $layout "$ENDS" well
	is "$layout: one world" "$(sort out | sed 's/ pid.*//' | tr '\n' ';')" \
		"rank 0 of 4;rank 1 of 4;rank 2 of 4;rank 3 of 4;"
done
is "nothing else is printed" "$(cat err)" ""
run "-l" 0 --clusters 2 -n 4 -l "$ENDS" well
is "-l: labels are virtual ranks" "$(sort out | sed 's/ of.*//' | tr '\n' ';')" \
	"[0] rank 0;[1] rank 1;[2] rank 2;[3] rank 3;"
run "--stats" 0 --clusters 2 -n 4 --stats "$ENDS" well
matches "--stats: a line for c1 to c2" err '^zmpirun:   c1 -> c2: [0-9]+ messages, [0-9]+ bytes$'
matches "--stats: and one back" err '^zmpirun:   c2 -> c1: [0-9]+ messages, [0-9]+ bytes$'
# traffic for three seconds; on a terminal one line is written over and over
cat >busy.c <<'END'
#include <mpi.h>
#include <stddef.h>
int main(void)
{
	static char in[4096], out[4096];
	int go = 1;
	double end;
	MPI_Init(NULL, NULL);
	end = MPI_Wtime() + 3;
	while (go) {
		MPI_Alltoall(out, 1024, MPI_CHAR, in, 1024, MPI_CHAR, MPI_COMM_WORLD); /* two ranks */
		go = MPI_Wtime() < end;
		MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD); /* rank 0 has the clock */
	}
	return MPI_Finalize();
}
END
compile busy.c busy || bail_out "cannot compile busy.c"
run "--progress" 0 --clusters 2 --progress ./busy
way='[0-9.]+ [KMG]?i?B \([0-9.]+ [KMG]?i?B/s\)'
matches "--progress: each way, its rate, the busiest, the zippers" err \
	"^zmpirun: [0-9]+ s, 1 of 1 zippers: c1 > c2 $way, c2 > c1 $way, most c[12] > c[12]$"
is "--progress: no escape codes, no other lines" "$(grep -vcE '^zmpirun: [0-9]+ s[:,] ' err)" 0
run "--progress and --stats" 0 --clusters 2 --rails 2 --progress --stats "$ENDS" well
matches "--progress does not take the answer of --stats" err '^zmpirun:   c2 -> c1: [0-9]+ messages, [0-9]+ bytes$'
if command -v script >/dev/null; then
	script -qec "$ZMPIRUN --clusters 2 --progress ./busy" /dev/null >out 2>err </dev/null
	ok "--progress on a terminal: a line is erased and written again" grep -q $'\r\033\\[Kzmpirun: [0-9]* s, 1 of 1 zippers: c1 > c2 ' out
else
	skip "--progress on a terminal" "no script(1) here"
fi
run "-genvnone" 0 --clusters 2 -genvnone "$ENDS" well
run "-genv LD_PRELOAD" 0 --clusters 2 -genv LD_PRELOAD "${RUNTIME:+$RUNTIME:}$YIELD" "$ENDS" well
is "a preload of the user's: still one world" "$(sort out | sed 's/ pid.*//' | tr '\n' ';')" "rank 0 of 2;rank 1 of 2;"
for d in 'a #b' 'a"b'; do
	mkdir "$d"
	TMPDIR=$TAP_TMP/$d run "TMPDIR with $d" 0 --clusters 2 "$ENDS" well
done
# zipperd may have no thread more, as with ulimit -u.
cat >threadless.c <<'END'
#include <errno.h>
#include <pthread.h>
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *arg)
{
	(void)t, (void)a, (void)run, (void)arg;
	return EAGAIN;
}
END
if "${CC:-gcc}" -shared -fPIC -o threadless.so threadless.c >cc 2>&1; then
	printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "${RUNTIME:+$RUNTIME:}$PWD/threadless.so" "$ZIPPERD" >threadless
	chmod +x threadless
	ZMPIRUN_ZIPPERD=$PWD/threadless run "zipperd has no thread" 1 --clusters 2+2 "$ENDS" well
	matches "zipperd has no thread: its reason" err '^zmpirun: no data connection for rank [0-3] .*: cannot start the worker c1<>c2: Resource temporarily unavailable \(too many processes and threads: ulimit -u\)$'
	is "zipperd has no thread: nobody speaks of the protocol" "$(grep -c Protocol err)" 0
else
	diag_file cc
	fail "threadless.c compiles"
fi
run "two programs" 0 --clusters 2 -n 1 "$ENDS" well : -n 3 "$ENDS" wel : -n 1 "$ENDS" status 4 0
is "two programs: one world" "$(sort out | grep -c 'of 5')" 5
run "one cluster" 0 --clusters 1 -n 2 "$ENDS" well
is "one cluster: one world" "$(sort out | grep -c 'of 2')" 2

# A part that ends just after zmpirun has looked at its children and just before it reads its signals. With this preload only the
# second look sees a child that has ended.
cat >ends_between.c <<'END'
#define _GNU_SOURCE
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static pid_t seen[64];
/* All that is about to come has come. */
int poll(struct pollfd *p, nfds_t n, int timeout)
{
	int rc = (int)syscall(SYS_poll, p, n, timeout);
	if (rc <= 0)
		return rc;
	usleep(50000);
	return (int)syscall(SYS_poll, p, n, 0);
}
/* Who has ended is seen only the second time. */
pid_t waitpid(pid_t pid, int *status, int options)
{
	siginfo_t info = {.si_pid = 0};
	if (pid == -1 && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
		seen[info.si_pid % 64] != info.si_pid) {
		seen[info.si_pid % 64] = info.si_pid;
		return 0;
	}
	return (pid_t)syscall(SYS_wait4, pid, status, options, 0);
}
END
if "${CC:-gcc}" -shared -fPIC -o ends_between.so ends_between.c >cc 2>&1; then
	LD_PRELOAD=${RUNTIME:+$RUNTIME:}$PWD/ends_between.so run "a part ends unseen" 0 --clusters 1+1 "$ENDS" well
else
	diag_file cc
	fail "ends_between.c compiles"
fi

# --- a tool between program and MPI (profiling interface): it sees the program's calls, and one world
cat >tool.c <<'END'
#include <mpi.h>
#include <stdio.h>
static MPI_Comm own;
static int calls;
int MPI_Init(int *argc, char ***argv)
{
	int rc = PMPI_Init(argc, argv);
	PMPI_Comm_dup(MPI_COMM_WORLD, &own);
	return rc;
}
int MPI_Barrier(MPI_Comm comm)
{
	calls++;
	return PMPI_Barrier(comm);
}
int MPI_Type_commit(MPI_Datatype *type) /* which libzipper.so leaves to native MPI */
{
	calls += 10;
	PMPI_Barrier(own);
	return PMPI_Type_commit(type);
}
int MPI_Finalize(void)
{
	int sum = 0, rank;
	PMPI_Reduce(&calls, &sum, 1, MPI_INT, MPI_SUM, 0, own);
	PMPI_Comm_rank(own, &rank);
	if (rank == 0)
		printf("%d\n", sum);
	PMPI_Comm_free(&own);
	return PMPI_Finalize();
}
END
cat >tooled.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_Datatype type;
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Type_contiguous(2, MPI_INT, &type);
	MPI_Type_commit(&type);
	MPI_Type_free(&type);
	return MPI_Finalize();
}
END
"$MPICC" -shared -fPIC -o tool.so tool.c >cc 2>&1 && "$MPICC" -o tooled tooled.c >>cc 2>&1 || diag_file cc
LD_PRELOAD=${RUNTIME:+$RUNTIME:}$PWD/tool.so run "a preloaded tool" 0 --clusters 2 -n 4 ./tooled
is "a preloaded tool: what it counted" "$(cat out)" 44
run "a preloaded tool, by option" 0 --clusters 2 -n 3 -genv LD_PRELOAD "${RUNTIME:+$RUNTIME:}$PWD/tool.so" ./tooled
is "a preloaded tool, by option: what it counted" "$(cat out)" 33

# --- exit status
run "the highest status of any rank" 3 --clusters 2 -n 4 "$ENDS" ranks
is "a status needs no comment" "$(cat err)" ""
run "a rank of the first cluster" 9 --clusters 2 -n 4 "$ENDS" status 1 9
run "MPI_Abort hands its code on" 7 --clusters 2 -n 4 "$ENDS" abort 2 7
matches "MPI_Abort: who and what" err '^zmpirun: rank 2 \(.*code 7'
is "MPI_Abort: one line" "$(wc -l <err)" 1
is_gone "MPI_Abort: nothing is left"
# mpiexec itself does not always learn how a rank without MPI_Finalize has ended: alone, 2 of 160 runs ended with 1
# or 9 instead of 5. So it has three tries.
for try in 1 2 3; do
	limited 60 "${marked[@]}" "$ZMPIRUN" --clusters 2 -n 4 "$ENDS" exit 1 5 >out 2>err </dev/null
	rc=$?
	[[ $rc == [19] && $try != 3 ]] || break
	diag "mpiexec has lost the status of a rank; again"
done
is "a rank that ends without MPI_Finalize" $rc 5
matches "without MPI_Finalize: who" err '^zmpirun: rank 1 \(c1 rank 1 '
limited 60 "${marked[@]}" "$ZMPIRUN" --clusters 2 -n 4 "$ENDS" exit 2 0 >out 2>err </dev/null
ok "the same with status 0 is a failure" test $? -ne 0
matches "with status 0: who" err '^zmpirun: rank 2 \(c2 rank 0 '
is_gone "nothing is left of them"

# --- faults by hand
for rank in 0 1 3; do
	hit 9 $rank start 2+2
	ended "rank $rank killed" 9 "rank $rank \\(c[12] rank [01] .*; mpiexec tells of signal 9 \\(Killed\\)$"
done
hit TERM 2 start 1+1+2
ended "a rank terminated" 15 'rank 2 \(c3 rank 0 .*; killed by signal 15 \(Terminated\)$'
start 2+2
kill -9 "$(left_named zipperd)"
ended "zipperd killed" 1 'zipperd was killed by signal 9 \(Killed\)$'
start 2+2
kill -9 "$(left_named mpiexec.mpich | head -1)"
ended "one mpiexec killed" 137 'mpiexec of part c[12] was killed by signal 9 \(Killed\)$'
start 2+2
kill -INT $JOB
ended "SIGINT" 130 'ended by signal 2 \(Interrupt\)$'
start 2+2
kill -9 $JOB
wait $JOB 2>/dev/null
wait_for 3 nothing_left
is_gone "zmpirun itself killed: nothing is left"
rm -rf zmpirun.*

# --- ranks that do not report
run "not an MPI program" 1 --clusters 2 sh -c 'echo $ZIPPER_LAUNCHER'
is "not an MPI program: the ranks are told who has started them" "$(uniq out)" zmpirun
line "not an MPI program: why" "0 of 2 ranks have reported to zipperd: not an MPI program (then use --no-mpi), or libzipper.so was not preloaded"
run "a part that fails before MPI_Init" 3 --clusters 2 sh -c 'sleep 0.3; exit 3'
matches "before MPI_Init: which part" err '^zmpirun: part c[12] ended with status 3 before its ranks had reported'
# No preload: the dynamic linker drops LD_PRELOAD here, as for set-user-id programs.
printf '#!/bin/sh\nunset LD_PRELOAD\nexec %s well\n' "$ENDS" >bare
chmod +x bare
run "libzipper.so was not preloaded" 1 --clusters 2 ./bare
line "not preloaded: why" "0 of 2 ranks have reported to zipperd: not an MPI program (then use --no-mpi), or libzipper.so was not preloaded"
run "a rank that never comes" 1 --init-timeout 2 --clusters 2 -n 1 "$ENDS" well : -n 1 sleep 30
matches "never comes: which part" err '^zmpirun: .*part c2'
run "a run that takes too long" 110 -timeout 2 --clusters 2 "$ENDS" wait
line "too long: its line" "the job has not ended within 2 seconds (-timeout)"
is_gone "too long: nothing is left"
MPIEXEC_TIMEOUT=2 run "the same by MPIEXEC_TIMEOUT, without MPI" 110 --clusters 2 --no-mpi sleep 30
line "MPIEXEC_TIMEOUT: its line" "the job has not ended within 2 seconds (-timeout)"
run "a run that is in time" 0 -timeout 50 --clusters 2 "$ENDS" well
# mpiexec of MPICH 4.0 waits for a host whose ssh has failed until somebody ends it: the time for reporting is not over here.
cat >refused <<'END'
#!/bin/sh
case " $* " in *" b1 "*) echo "connect to host b1: Connection refused" >&2; exit 255 ;; esac
exec "$TMPDIR/rsh" "$@"
END
chmod +x refused
hosts tcp:127.0.0.1 | sed "s|$TAP_TMP/rsh|$TAP_TMP/refused|" >refused.hosts
run "a host that cannot be reached" 1 --init-timeout 3600 -f refused.hosts "$ENDS" well
# (2 of all 4 had), where those of the other part need less than two seconds to start
unreached 'mpiexec of part b.* has failed before'
is "not reached: what its launcher says, which part, which hosts" "$(sort err | sed 's/ ([0-2] of all 4 had)$//')" \
	"${said}zmpirun: mpiexec of part b does not reach b1: $how before all ranks had reported to zipperd"
is_gone "nothing is left of them, either"
hosts tcp:127.0.0.1 >elsewhere.hosts
here=$(hostname)
for how in "" -l; do
	run "a program that other hosts lack${how:+, with $how}" 255 -f elsewhere.hosts $how ./heaat
	is "lacking: a line for each part" "$(grep 'cannot start' err | sort -u)" \
		"zmpirun: host $here cannot start ./heaat (No such file or directory)"
	ok "lacking: no more than that" test "$(grep -c 'cannot start' err)" -le 2
	is "lacking: no lines of Hydra" "$(grep -c -e 'HYD' -e '\[proxy' err)" 0 || diag_file err
done
run "a working directory that other hosts lack" 255 -f elsewhere.hosts -wdir "$PWD/none" "$ENDS" well
matches "lacking directory: its line" err "^zmpirun: host $here cannot change to the directory $PWD/none \(No such file or directory\)$"
is "lacking directory: no lines of Hydra" "$(grep -c -e 'HYD' -e '\[proxy' err)" 0 || diag_file err

# --- a running zipperd
key=$(printf '%064x' "4711$$") # of no other run: no process may have it
printf 'me %s\n' "$key" >keys
chmod 600 keys
printf 'listen = "a=tcp:127.0.0.1:0"\nlisten = "b=tcp:127.0.0.1:0"\nkey_file = %s/keys\nlog_level = error\n' "$TAP_TMP" >conf
background "$ZIPPERD" -c conf --ready-fd 3 3>ready
wait_for 10 grep -q '^$' ready
address() { sed -n "s/^$1=//p" ready; }
zipper_hosts() { # ADDRESS-OF-A ADDRESS-OF-B
	cat <<-END
	#ZIP cluster a launcher=rsh launcher-exec=$TAP_TMP/rsh localhost=localhost
	a1:2
	#ZIP cluster b launcher=rsh launcher-exec=$TAP_TMP/rsh localhost=localhost
	b1
	b2
	#ZIP zipper z a=$1 b=$2
	END
}
zipper_hosts "$(address a)" "$(address b)" >hosts
export ZIPPER_USER=me
ZIPPER_KEY=$key run "hostfile, running zipperd" 0 -f hosts -l --stats "$ENDS" well
is "hostfile: one world" "$(grep -c 'of 4' out)" 4
matches "hostfile: what went over the bridge" err '^zmpirun:   a -> b: '
ZIPPER_KEY_FILE=$TAP_TMP/keys run "key from ZIPPER_KEY_FILE" 0 -f hosts "$ENDS" well
mkdir -p home/.zipper
cp -p keys home/.zipper/key
HOME=$TAP_TMP/home run "key from the home directory" 0 -f hosts "$ENDS" well
# no process of the job has the user's key but zmpirun itself, and what a rank starts has no credential either
cat >spy.sh <<'END'
key=$(awk '$1 == "me" { print $2 }' keys)
for p in /proc/[0-9]*; do
	name=$(cat "$p/comm" 2>/dev/null)
	cat "$p/environ" "$p/cmdline" 2>/dev/null | tr '\0' '\n' | grep -q "$key" && [ "$name" != zmpirun ] && echo "the key is in $name"
done
tr '\0' '\n' <"/proc/$SPY/environ" | grep -c '^ZIPPER_CREDENTIAL=[0-9]*:' >seen
env | grep -E '^ZIPPER_(KEY|CREDENTIAL)='
END
compile "$ZIP_TOP_SRCDIR/test/lib/spy.c" spy || bail_out "cannot compile spy.c"
limited 60 env -u ZIPPER_KEY ZIPPER_KEY_FILE="$TAP_TMP/keys" "$ZMPIRUN" -f hosts -n 4 ./spy "sh spy.sh" >out 2>err </dev/null
status=$?
if [ "$SANITIZED" = libtsan ]; then
	skip "the key stays with zmpirun" "the shell that the rank starts crashes with libtsan preloaded"
	skip "... and ranks have a credential" "likewise"
else
	is "the key stays with zmpirun" "$status $(cat out)" "0 "
	is "... and ranks have a credential" "$(cat seen)" 1 || diag_file err
fi
eval "$(ZIPPER_KEY=$key "$ZMPIRUN" --credential by-hand)"
is "--credential exports job, user and credential" "$ZIPPER_JOB $ZIPPER_USER ${ZIPPER_CREDENTIAL//[0-9a-f]/}" "by-hand me :"
by_hand() { # PART
	limited 60 env -u ZIPPER_KEY HOME=/ ZIPPER_PARTS=a,b ZIPPER_PART="$1" ZIPPER_ZIPPERD="$(address "$1")" \
		ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" "$MPIEXEC" -n 1 -genv LD_PRELOAD "$PRELOAD_LIST" "$ENDS" well >"$1.out" 2>&1 </dev/null
}
by_hand b &
by_hand a
rc=$?
wait $!
is "... which start a job by hand" "$rc $? $(cat a.out b.out | grep -c 'of 2')" "0 0 2"
ZIPPER_CREDENTIAL=4000000000:${ZIPPER_CREDENTIAL#*:} by_hand a
matches "... and cannot be made to last longer" a.out 'refuses the key of user me'
unset ZIPPER_JOB ZIPPER_CREDENTIAL
ZIPPER_KEY=$key run "--credential without a job's name" 2 --credential
ZIPPER_KEY=$key run "--credential: a name that is none" 1 --credential 'a b'
ZIPPER_KEY=$key run "--credential: a name that the shell would read" 1 --credential "a';false;'b"
ZIPPER_KEY=$(printf '%064x' 1) run "a wrong key" 1 -f hosts "$ENDS" well
is "a wrong key: one line" "$(grep -c ^zmpirun: err) of $(wc -l <err)" "1 of 1"
ZIPPER_KEY=$key limited 60 "$ZMPIRUN" -f hosts "$ENDS" well >out 2>err </dev/null &
ZIPPER_KEY=$key limited 60 "$ZMPIRUN" -f hosts "$ENDS" well >out2 2>err2 </dev/null
is "two jobs at a time: second" "$? $(grep -c 'of 4' out2)" "0 4"
wait $!
is "two jobs at a time: first" "$? $(grep -c 'of 4' out)" "0 4"
zipper_hosts tcp:127.0.0.1 tcp:127.0.0.1 >hosts
run "hostfile, zipperd started over TCP" 0 -f hosts "$ENDS" well
is "started over TCP: one world" "$(grep -c 'of 4' out)" 4
zipper_hosts shm shm >hosts
run "hostfile, zipperd started over shared memory" 0 -f hosts "$ENDS" well
kill %1 2>/dev/null
unset ZIPPER_USER

# --- a terminal: Ctrl-C ends everything
python3 - "$ZMPIRUN" "$ENDS" "$JOB_MARK" >out 2>err <<'END'
import os, pty, select, signal, sys, time
zmpirun, ends, mark = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    for sig in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP:  # a shell's background jobs ignore them
        signal.signal(sig, signal.SIG_DFL)
    name, value = mark.split("=")
    os.environ[name] = value
    os.execv(zmpirun, [zmpirun, "--clusters", "2", "-n", "4", ends, "wait"])
text = b""
end = time.time() + 180
while text.count(b"pid") < 4 and time.time() < end:
    if select.select([fd], [], [], 1)[0]:
        text += os.read(fd, 4096)
start = time.time()
os.write(fd, b"\x03")
try:
    while select.select([fd], [], [], 60)[0]:
        more = os.read(fd, 4096)
        if not more:
            break
        text += more
except OSError:
    pass
signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
signal.alarm(60)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(text.decode(errors="replace").replace("\r", ""))
print("status", status, "soon" if time.time() - start < 30 else "late")
END
matches "Ctrl-C at a terminal" out '^status 130 soon$'
matches "Ctrl-C at a terminal: said so" out 'zmpirun: ended by signal 2 \(Interrupt\)$'
is_gone "Ctrl-C at a terminal: nothing is left"
is "no private directory is left" "$(scratch_left)" 0
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zmpirun without a bridge (--no-mpi): command line, output, input, environment, exit status, signals.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
cd "$TAP_TMP" || exit 99


# --- usage: one clear line, and a hint to --help
run "an unknown option is refused" 2 --xyzzy
is "unknown option: its line" "$(head -1 err)" "zmpirun: unknown option --xyzzy"
run "no program" 2 --clusters 2
is "no program: its line" "$(head -1 err)" "zmpirun: no program given"
run "an empty name of a program" 2 --clusters 2 ""
is "empty name: its line" "$(head -1 err)" "zmpirun: the name of the program is empty"
run "a program that looks like an option" 2 --clusters 2 -- -p
is "like an option: its line" "$(head -1 err)" "zmpirun: -p: mpiexec takes it for an option: write ./-p"
mkdir gone
(cd gone && rmdir ../gone && exec "$PLAIN_ZMPIRUN" --clusters 2 true >../out 2>../err)
is "a current directory that is gone" "$? $(cat err)" "2 zmpirun: the current directory: No such file or directory"
run "help" 0 --help
matches "help lists the options" out '^  -f, --hostfile, --machinefile FILE '
run "version" 0 --version
matches "version is printed" out '^zmpirun \(leiden-zipper\) [0-9]'
run "info" 0 -info
ok "info: libzipper.so is there" test -f "$(sed -n 's/^libzipper: *//p' out)"
is "info: what zmpirun starts" "$(sed -nE 's/^(zmpirun|mpiexec:|zipperd:|libzipper:) .*/\1/p' out | xargs)" "zmpirun mpiexec: zipperd: libzipper:"
run "a binding that there is not" 2 --clusters 2 --bind-to nonsense true
is "binding: one line, and the hint" "$(wc -l <err) $(sed -n 's/: it knows.*//p' err)" "2 zmpirun: -bind-to: mpiexec cannot bind to 'nonsense'"
printf 'h1\n#ZIP clutser a\n' >hosts
run "a typing error in the hostfile" 2 -f hosts true
is "hostfile: file and line" "$(cat err)" "zmpirun: hosts:2: unknown directive #ZIP clutser (did you mean cluster?)"
run "a hostfile that is not there" 2 -f nohosts true
is "no hostfile: its line" "$(cat err)" "zmpirun: nohosts: No such file or directory"

# --- output
run "ranks in two clusters" 0 --clusters 1+3 --no-mpi sh -c 'echo $PMI_RANK/$PMI_SIZE'
is "1+3 ranks" "$(sort out | tr '\n' ' ')" "0/1 0/3 1/3 2/3 "
run "-l" 0 --clusters 1,2 --no-mpi -l sh -c 'echo out $PMI_RANK; echo err $PMI_RANK >&2'
is "-l: virtual ranks on stdout" "$(sort out | tr '\n' ';')" "[0] out 0;[1] out 0;[2] out 1;"
is "-l: virtual ranks on stderr" "$(sort err | tr '\n' ';')" "[0] err 0;[1] err 0;[2] err 1;"
run "-prepend-pattern" 0 --clusters 1,2 --no-mpi -prepend-pattern 'r%r of 3%%> ' sh -c 'echo out; echo err >&2'
is "-prepend-pattern: virtual ranks" "$(sort out err | tr '\n' ';')" \
	"r0 of 3%> err;r0 of 3%> out;r1 of 3%> err;r1 of 3%> out;r2 of 3%> err;r2 of 3%> out;"
echo old >res.2
run "-outfile-pattern, -errfile-pattern" 0 --clusters 1,2 --no-mpi -outfile-pattern res.%r -errfile-pattern "$PWD/e%%%r" \
	sh -c 'echo out $PMI_RANK; echo err $PMI_RANK >&2'
is "a file for each rank of the world" "$(tail -n 9 res.* e%* | tr '\n' ' ')$(cat out err)" \
	"==> res.0 <== out 0  ==> res.1 <== out 0  ==> res.2 <== out 1  ==> e%0 <== err 0  ==> e%1 <== err 0  ==> e%2 <== err 1 "
run "a file that cannot be made" 1 --clusters 2 --no-mpi -outfile-pattern nodir/%r true
is "... is named" "$(cat err)" "zmpirun: -outfile-pattern: $PWD/nodir/0: No such file or directory"
printf '%s\n' '# two programs' "-n 1 sh -c 'echo \"one  \$A\"'" '' '-n 2 -env A\' ' b  sh -c "echo two \$A"' >conf
A=a run "-configfile" 0 --clusters 1,2 --no-mpi -configfile conf
is "-configfile: programs, quotes, a line that goes on" "$(sort out | tr '\n' ';')" "one  a;two b;two b;"
printf '%s\n' "-n 1 sh -c 'echo" >conf
run "-configfile: an open quote" 2 --clusters 2 -configfile=conf
is "... its line" "$(head -1 err)" "zmpirun: conf:1: a quote is not closed"
A=1 B=0 run "-x" 0 --clusters 2 --no-mpi -x A -x B=2 -x D sh -c 'echo $A$B$D'
is "-x: from here, with a value, not set" "$(uniq out)" 12
run "much output" 0 --clusters 2 -n 4 --no-mpi sh -c 'i=0; while [ $i -lt 2000 ]; do
	echo "abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz 0123456789"; i=$((i+1)); done'
is "much output: every line whole" "$(sort out | uniq -c | tr -s ' ')" \
	" 8000 abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz 0123456789"
"$ZMPIRUN" --clusters 2 --no-mpi echo lost >/dev/full 2>err </dev/null
is "output that cannot be written: status" $? 1
matches "output that cannot be written: why" err '^zmpirun: standard output cannot be written, .*: No space left on device$'
(ulimit -f 1 && exec "$ZMPIRUN" --clusters 2 --no-mpi head -c 2000 /dev/zero >out 2>err </dev/null)
is "output beyond the limit on files: status" $? 1
matches "output beyond the limit on files: why" err '^zmpirun: standard output cannot be written, .*: File too large$'
run "the ranks' files have that limit" 0 --clusters 2 --no-mpi sh -c '(ulimit -f 1; exec head -c 2000 /dev/zero >beyond); echo $?'
is "a signal tells them, as without zmpirun" "$(uniq out)" $((128 + $(kill -l XFSZ)))
(exec >&- && exec "$ZMPIRUN" --clusters 2 --no-mpi echo lost 2>err </dev/null)
is "no standard output: status" $? 1
matches "no standard output: why" err '^zmpirun: standard output cannot be written, .*: Bad file descriptor$'
(ulimit -n 40 && exec "$ZMPIRUN" --clusters 2 --no-mpi echo kept >out 2>err </dev/null)
is "few descriptors: nothing is lost" "$? $(tr '\n' ' ' <out)$(cat err)" "0 kept kept "
(ulimit -S -n 41 && exec "$ZMPIRUN" --clusters 2 --no-mpi sh -c 'ulimit -S -n' >out 2>err </dev/null)
is "the ranks may have as many as they would have without zmpirun" "$? $(uniq out)" \
	"0 $(ulimit -S -n 41 && mpiexec.mpich -n 1 sh -c 'ulimit -S -n; sleep 0.3' </dev/null)"
# Preloaded, a poll for more than one stream fails: only zmpirun's main loop does that.
cat >failing.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int poll(struct pollfd *p, nfds_t n, int timeout)
{
	if (n > 1 && strcmp(program_invocation_short_name, "zmpirun") == 0) {
		errno = ENOMEM;
		return -1;
	}
	return (int)syscall(SYS_poll, p, n, timeout);
}
END
if "${CC:-gcc}" -shared -fPIC -o failing.so failing.c >cc 2>&1; then
	LD_PRELOAD=${RUNTIME:+$RUNTIME:}$PWD/failing.so run "poll fails" 1 --clusters 2 --no-mpi echo lost
	is "poll fails: one line" "$(cat err)" \
		"zmpirun: cannot wait for the ranks, and some of their output is lost: Cannot allocate memory"
else
	diag_file cc
	fail "failing.c compiles"
fi
run "the last line may be unfinished" 0 --clusters 1 --no-mpi printf 'a\nb'
is "unfinished: byte by byte" "$(od -An -c out | tr -d ' ')" 'a\nb'
limited 30 "$ZMPIRUN" --clusters 2 --no-mpi yes 2>err | head -1 >out
is "a reader that goes away ends the job" "${PIPESTATUS[0]} $(cat out)" "141 y"
mkfifo pipe
for errors in err /dev/stdout; do
	rm -f saved.*
	: >out
	cat <pipe >out &
	reader=$!
	"${marked[@]}" "$ZMPIRUN" --clusters 2 --no-mpi sh -c 'trap "got=yes" INT; echo started; i=0
		until [ "$got" ] || [ $i = 300 ]; do sleep 0.1; i=$((i+1)); done
		echo saving; sleep 1; echo saving; : >saved.$$' >pipe 2>$errors </dev/null &
	job=$!
	wait_for 10 sh -c '[ $(grep -c started out) = 2 ]' || diag "ranks did not start"
	kill $reader
	wait $reader 2>/dev/null
	kill -INT $job
	wait $job
	is "Ctrl-C that ends the reader, too, standard error to $errors: ranks have time to save" \
		"$? $(ls saved.* | wc -l)" "130 2"
	is_gone "Ctrl-C that ends the reader, too, standard error to $errors: nothing is left"
done

# --- input
echo "some words" | limited 30 "$ZMPIRUN" --clusters 2 --no-mpi -l cat >out 2>err
is "standard input goes to rank 0 alone" "$(cat out)" "[0] some words"
head -c 60000 /dev/urandom >data # Hydra cannot pass on more at once than a rank reads
limited 30 "$ZMPIRUN" --clusters 1,1 --no-mpi cat <data >out 2>err
ok "binary input arrives unchanged" cmp data out

# mpiexec keeps no more than a pipe holds. Its own lines, of which some are lost at times, do not say that.
head -c 3000000 /dev/zero >much
limited 60 "${marked[@]}" "$ZMPIRUN" --clusters 2 --no-mpi sh -c 'sleep 2; cat >/dev/null' >out 2>err <much
ok "input faster than its reader: the job fails" [ $? -ne 0 ]
matches "input faster than its reader: why" err '^zmpirun: mpiexec of part c1 has given up.* standard input comes faster than rank 0 reads it: let the program open the file itself$'
is "input faster than its reader: one line" "$(wc -l <err)" 1 || diag_file err
rm -f much

(exec <&- && limited 10 "$ZMPIRUN" --clusters 2 --no-mpi cat >out 2>err)
is "no standard input: ranks read the end of a file" "$? $(cat out err)" "0 "

# A terminal with zmpirun in its background, where zmpirun stops; then it comes to the foreground.
limited 60 python3 - "$ZMPIRUN" >out 2>err <<'END'
import os, pty, select, sys, time
def read_until(fd, word):
    text = b""
    while word not in text:
        more = os.read(fd, 4096)
        assert more, text
        text += more
    return text
shell, terminal = pty.fork()
if shell == 0:
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.execv(sys.argv[1], [sys.argv[1], "--clusters", "1", "--no-mpi", "sh", "-c",
            "echo started; read line; echo said $line"])
    os.read(0, 100)  # the test says when
    os.tcsetpgrp(0, job)
    print("foreground", flush=True)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(job, 0)[1]))
read_until(terminal, b"started")
time.sleep(2)
os.write(terminal, b"go\n")
read_until(terminal, b"foreground")
os.write(terminal, b"hello\n")
read_until(terminal, b"said hello")
print("status", os.waitstatus_to_exitcode(os.waitpid(shell, 0)[1]))
END
is "a job that was in the background reads the terminal in the foreground" "$(cat out)" "status 0" || diag_file err

# --- environment and directory
run "-genv, -env, -wdir" 0 --clusters 2 --no-mpi -genv A 1 -env B 2 -wdir / sh -c 'echo $A $B $PWD'
is "they reach all ranks" "$(uniq out)" "1 2 /"
run "-genv and -env with =" 0 --clusters 2 --no-mpi -genv A=1=2 -env B= sh -c 'echo $A ${B-unset}'
is "with =: they reach all ranks" "$(uniq out)" "1=2"
run "-genv ZIPPER_JOB=x" 2 --clusters 2 -genv ZIPPER_JOB=x true
is "-genv ZIPPER_JOB=x: its line" "$(head -1 err)" "zmpirun: -genv ZIPPER_JOB: zmpirun sets this variable itself"
ZIPPER_JOB=x ZIPPER_HOSTFILE=y run "variables of an outer job" 0 --clusters 1 -n 2 env
ok "they are not passed on" sh -c '! grep ^ZIPPER_ out | grep -qv ^ZIPPER_RECONNECT=' # which tap.sh exports
run "nothing is preloaded without a bridge" 0 --clusters 2 --no-mpi env
ok "no LD_PRELOAD" sh -c '! grep -q libzipper out'
run "-genv LD_PRELOAD" 0 --clusters 2 --no-mpi -genv LD_PRELOAD "$YIELD" sh -c 'echo $LD_PRELOAD'
is "it reaches the ranks" "$(uniq out)" "${ASAN:+$ASAN:}$YIELD" # see lib/tap.sh

# --- several programs, several hosts
run "two programs" 0 --clusters 2 --no-mpi -l -n 1 echo one : -n 3 -env C 3 sh -c 'echo two $C'
is "their ranks" "$(sort out | tr '\n' ';')" "[0] one;[1] two 3;[2] two 3;[3] two 3;"
cat >hosts <<END
#ZIP cluster a launcher=rsh launcher-exec=$TAP_TMP/rsh localhost=localhost
a1:2
a2
#ZIP cluster b launcher=rsh launcher-exec=$TAP_TMP/rsh localhost=localhost
b1:2
END
run "hostfile: all slots" 0 -f hosts --no-mpi -l sh -c 'echo $FAKE_HOST'
is "where the ranks are" "$(sort out | tr '\n' ' ')" "[0] a1 [1] a1 [2] a2 [3] b1 [4] b1 "
run "hostfile: more ranks than slots" 0 -f hosts -n 7 --no-mpi -l sh -c 'echo $FAKE_HOST'
is "they wrap around" "$(sort out | tr '\n' ' ')" "[0] a1 [1] a1 [2] a2 [3] a1 [4] a1 [5] b1 [6] b1 "
run "hostfile: -ppn 1" 0 -f hosts -ppn 1 --no-mpi -l sh -c 'echo $FAKE_HOST'
is "one rank for each host" "$(sort out | tr '\n' ' ')" "[0] a1 [1] a2 [2] b1 "
sed -i 's/^a1:2$/a1\na1/' hosts
run "hostfile: a line for each slot, -ppn 2" 0 -f hosts -ppn 2 --no-mpi -l sh -c 'echo $FAKE_HOST'
is "twice two ranks, as with mpiexec" "$(sort out | tr '\n' ' ')" "[0] a1 [1] a1 [2] a2 [3] a2 [4] b1 [5] b1 "
run "clusters without ranks" 0 -f hosts -n 2 -l sh -c 'echo $FAKE_HOST'
is "one cluster needs no bridge" "$(sort out | tr '\n' ' ')" "[0] a1 [1] a1 "

# --- exit status
run "highest status of any rank, not the or of them" 2 --clusters 2,2 --no-mpi sh -c 'exit $((PMI_RANK+1))'
is "exit status: silent" "$(cat out err)" ""
run "the highest of several clusters" 5 --clusters 1,4 --no-mpi sh -c 'exit $((PMI_SIZE == 1 ? 5 : PMI_RANK))'
# no sanitizer takes the signal
ASAN_OPTIONS=$ASAN_OPTIONS:handle_segv=0 TSAN_OPTIONS=$TSAN_OPTIONS:handle_segv=0 \
	run "a killed rank counts with its signal, as with mpiexec" 11 --clusters 1,1 --no-mpi \
		sh -c 'if [ -e first ]; then sleep 1; else touch first; kill -SEGV $$; fi'
matches "killed rank: one line" err '^zmpirun: a rank of part c[12] was killed by signal 11 \(Segmentation fault\)$'
is "killed rank: no banner" "$(cat out)" ""
run "a program that is not there" 2 --clusters 2 --no-mpi ./nonexistent
is_gone "nothing is left of all these"
is "no private directory is left" "$(scratch_left)" 0

# --- signals
signal_case() { # NAME STATUS COMMAND-OF-RANK SIGNAL...
	local name=$1 wanted=$2 command=$3 rc pid
	shift 3
	: >out # before the background does it: output of the last job must not count
	"${marked[@]}" "$ZMPIRUN" --clusters 2 --no-mpi sh -c "$command" >out 2>err </dev/null &
	pid=$!
	wait_for 10 sh -c '[ $(grep -c started out) = 2 ]' || diag "ranks did not start"
	for s in "$@"; do kill -"$s" $pid; sleep 0.2; done
	ok "$name: it ends" wait_for 20 child_is_over $pid || kill -9 $pid
	wait $pid
	rc=$?
	is "$name: status" "$rc" "$wanted"
	is_gone "$name: nothing is left"
	is "$name: directory removed" "$(scratch_left)" 0
}
signal_case "SIGINT" 130 'echo started; exec sleep 1000' INT
is "SIGINT: one line" "$(cat err)" "zmpirun: ended by signal 2 (Interrupt)"
signal_case "SIGTERM" 143 'echo started; exec sleep 1000' TERM
signal_case "SIGHUP" 129 'echo started; exec sleep 1000' HUP
signal_case "ranks that ignore signals" 143 'trap "" INT TERM HUP; echo started; sleep 1000; sleep 1000' TERM
signal_case "a second signal" 130 'trap "" INT TERM HUP; echo started; sleep 1000; sleep 1000' INT INT
# Ranks that wait for SIGUSR1 and SIGUSR2.
cat >waits <<'END'
#!/bin/sh
trap "echo USR1; got=yes" USR1
trap "echo USR2; got=yes" USR2
echo started
i=0
until [ "$got" ] || [ $i = 300 ]; do sleep 0.2 & wait; i=$((i+1)); done
END
chmod +x waits
for s in USR1 USR2; do
	: >out
	"${marked[@]}" "$ZMPIRUN" --clusters 2 -n 3 --no-mpi ./waits >out 2>err </dev/null &
	wait_for 10 sh -c '[ $(grep -c started out) = 3 ]'
	kill -$s $!
	wait $!
	is "SIG$s is handed on: status" "$? $(cat err)" "0 "
	is "SIG$s is handed on" "$(grep -c "^$s$" out)" 3
done

mkfifo slow
sh -c 'exec sleep 300' <slow & # a reader that does not read
reader=$!
TAP_PIDS+=($reader)
"${marked[@]}" "$ZMPIRUN" --clusters 2 --no-mpi sh -c 'echo >started; exec yes' 2>err </dev/null >slow &
wait_for 10 test -e started
sleep 1
kill -TERM $!
wait_for 10 child_is_over $! || kill -9 $!
wait $!
is "SIGTERM while nobody reads the output: status" $? 143
kill $reader
is_gone "SIGTERM while nobody reads the output: nothing is left"
is "SIGTERM while nobody reads the output: directory removed" "$(scratch_left)" 0
rm -f started

# --- faults
: >out
"${marked[@]}" "$ZMPIRUN" --clusters 2 --no-mpi sh -c 'echo started; exec sleep 1000' >out 2>err </dev/null &
wait_for 10 sh -c '[ $(grep -c started out) = 2 ]'
kill -9 "$(left_named mpiexec.mpich | head -1)" "$(left_named mpiexec.hydra | head -1)" 2>/dev/null
ok "a killed mpiexec: it ends" wait_for 20 child_is_over $! || kill -9 $!
wait $!
is "a killed mpiexec: status" $? 137
matches "a killed mpiexec: one line" err '^zmpirun: mpiexec of part c[12] was killed by signal 9 \(Killed\)$'
is_gone "a killed mpiexec: nothing is left"

: >out
"${marked[@]}" "$ZMPIRUN" --clusters 2 --no-mpi sh -c 'echo started; trap "" TERM; sleep 1000; sleep 1000' >out 2>err </dev/null &
wait_for 10 sh -c '[ $(grep -c started out) = 2 ]'
kill -9 $!
wait $! 2>/dev/null
wait_for 5 nothing_left
is_gone "zmpirun itself killed: its children end too"
rm -rf zmpirun.*

# mpiexec of MPICH 4.0 waits for a host whose ssh has failed until somebody ends it.
cat >refused <<'END'
#!/bin/sh
case " $* " in *" b1 "*) echo "connect to host b1: Connection refused" >&2; exit 255 ;; esac
exec "$TMPDIR/rsh" "$@"
END
# The proxy lives on, but its ssh is lost while its rank runs.
cat >severed <<'END'
#!/bin/sh
"$TMPDIR/rsh" "$@" &
case " $* " in *" b1 "*) until [ -e running ]; do sleep 0.1; done; exit 255 ;; esac
wait
END
chmod +x refused severed
for launcher in refused severed; do
	printf "#ZIP cluster %s launcher=rsh launcher-exec=$TAP_TMP/$launcher localhost=localhost\n%s:1\n%s:1\n" a a1 a2 b b1 b2 >$launcher.hosts
	sed -n '/cluster b/,$p' $launcher.hosts >$launcher.one
done
for where in hosts one; do
	run "a host that cannot be reached, $where" 1 -f refused.$where --no-mpi sh -c 'exec sleep 300'
	unreached 'mpiexec of part b.* has failed$'
	is "not reached, $where: what its launcher says, which part, which hosts" "$(cat err)" \
		"${said}zmpirun: mpiexec of part b does not reach all of b1, b2: $how"
	is_gone "not reached, $where: nothing is left"
done
# mpiexec since MPICH 4.2 ends by itself then.
cat >gives_up <<'END'
#!/bin/sh
echo "connect to host b2: Connection refused" >&2
echo "[mpiexec@here] ui_cmd_cb (mpiexec/pmiserv_pmci.c:51): Launch proxy failed." >&2
echo "[mpiexec@here] main (mpiexec/mpiexec.c:260): process manager error waiting for completion" >&2
exit 255
END
chmod +x gives_up
sed "s|^#ZIP cluster b |&mpiexec=$TAP_TMP/gives_up |" refused.hosts >gives_up.hosts
run "an mpiexec that ends as it does not reach a host" 1 -f gives_up.hosts --no-mpi sh -c 'exec sleep 300'
is "it ends: what its launcher says, which part, which hosts" "$(cat err)" "connect to host b2: Connection refused
zmpirun: mpiexec of part b does not reach all of b1, b2: the program that starts its processes there has failed"
is_gone "it ends: nothing is left of the other part"
# Longer than zmpirun takes to see that a launcher has failed. The status of mpiexec itself differs: 255 mostly, 0 on a busy
# machine.
limited 60 "${marked[@]}" "$ZMPIRUN" -f severed.hosts --no-mpi sh -c 'touch running; sleep 6; echo done' >out 2>err </dev/null
rc=$?
if grep -q 'the program that starts its processes there has failed$' err; then # a Hydra that ends the job itself
	is "a launcher that is lost when its rank runs: Hydra ends" "$rc $(grep -c '^zmpirun: ' err)" "1 1"
	is_gone "lost launcher: nothing is left"
else
	ok "a launcher that is lost when its rank runs" [ $rc = 255 -o $rc = 0 ] || diag_file err
	is "lost launcher: all ranks end by themselves" "$(grep -c 'done' out) $(grep -c '^zmpirun: ' err)" "4 0"
fi
rm -f running
# Now the rank on b1 is none of mpiexec's descendants.
: >out
"${marked[@]}" "$ZMPIRUN" -f severed.one --no-mpi sh -c 'echo $FAKE_HOST; exec ./waits' >out 2>err </dev/null &
wait_for 10 sh -c '[ $(grep -c started out) = 2 ]'
touch running
no_launcher() { [ -z "$(left_named severed | sed 1d)" ]; }
wait_for 10 no_launcher
kill -USR2 $!
wait_for 10 grep -q USR2 out
is "SIGUSR2 for ranks elsewhere: the others have it" "$(grep -c USR2 out)" 1
is "SIGUSR2 for ranks elsewhere: a warning" "$(cat err)" \
	"zmpirun: warning: signal 12 (User defined signal 2) has reached 1 of 2 ranks of part b, those on this machine: its mpiexec does not pass it on"
kill -TERM $!
wait $!
rm -f running

# --- errors before anything starts
ZMPIRUN_LIBZIPPER=/nonexistent/libzipper.so run "a library that is not there" 1 --clusters 2 true
is "library: its line" "$(cat err)" \
	"zmpirun: /nonexistent/libzipper.so: No such file or directory: it cannot be preloaded"
ZMPIRUN_LIBZIPPER=$ZIP_TOP_SRCDIR/configure.ac run "a library that is none" 1 --clusters 2 true
is "no library: its line" "$(cat err)" \
	"zmpirun: $ZIP_TOP_SRCDIR/configure.ac is no shared object: it cannot be preloaded"
export ZMPIRUN_LIBZIPPER=$YIELD # any shared object will do here
ZMPIRUN_ZIPPERD=/nonexistent/zipperd run "a zipperd that is not there" 1 --clusters 2 true
is "no zipperd: its line" "$(cat err)" "zmpirun: cannot start /nonexistent/zipperd: No such file or directory"
printf '#!/bin/sh\necho "zipperd: first" >&2\necho "zipperd: error: no room for it" >&2\nexit 1\n' >zipperd
chmod +x zipperd
run "a zipperd that does not start" 1 --zipperd ./zipperd --clusters 2 true
is "zipperd: its reason" "$(cat err)" "zmpirun: zipperd did not start: no room for it"
printf '#!/bin/sh\n: >started\nexec sleep 1000\n' >zipperd
for s in INT TERM; do
	rm -f started
	"${marked[@]}" "$ZMPIRUN" --zipperd ./zipperd --clusters 2 true >out 2>err </dev/null &
	wait_for 10 test -e started
	kill -$s $!
	wait_for 10 child_is_over $! || kill -9 $!
	wait $!
	is "SIG$s while zipperd starts: status" $? $((128 + $(kill -l $s)))
	matches "SIG$s while zipperd starts: one line" err "^zmpirun: ended by signal $(kill -l $s) \\("
	is_gone "SIG$s while zipperd starts: nothing is left"
	is "SIG$s while zipperd starts: directory removed" "$(scratch_left)" 0
done
printf '#!/bin/sh\ncp "$2" its.conf\nexit 1\n' >zipperd
ZIPPER_VERBS_PARTITION=5 ZIPPER_VERBS_BUFFER_BYTES=4K ZIPPER_VERBS_ENDPOINTS=dynamic ZIPPER_VERBS_CACHE_BYTES=0 \
	run "a zipperd of ours for Verbs" 1 --zipperd ./zipperd --clusters 2 -genv ZIPPER_VERBS_GID_INDEX 3 true
is "for Verbs it has what the ranks have" "$(sed -n '/verbs\|endpoints/p' its.conf | tr '\n' ';')" \
	"verbs_partition = 5;verbs_gid_index = 3;verbs_buffer_bytes = 4K;"
ZIPPER_VERBS_PARTITION=65536 run "a value out of range" 1 --zipperd ./zipperd --clusters 2 true
matches "out of range: its line" err '^zmpirun: ZIPPER_VERBS_PARTITION: verbs_partition: '
printf '#ZIP cluster a\na1\n#ZIP cluster b\nb1\n' >hosts
run "a hostfile without zipper" 2 -f hosts true
is "no zipper: its line" "$(cat err)" "zmpirun: hosts: no #ZIP zipper line serves all of the clusters a,b, nor do several lead from a to b"
echo '#ZIP zipper z a=tcp:192.0.2.1 b=tcp:127.0.0.1' >>hosts
run "a zipper elsewhere without port" 2 -f hosts true
is "elsewhere: its line" "$(cat err)" \
	"zmpirun: hosts:5: 192.0.2.1 is not an address of this machine: zmpirun cannot start zipperd there; write the port of one that runs (a=tcp:192.0.2.1:7474)"
sed -i '$d' hosts
echo '#ZIP zipper z a=tcp:127.0.0.1:1 b=tcp:127.0.0.1:1' >>hosts
HOME=$TAP_TMP ZIPPER_USER=me run "no key for a running zipperd" 1 -f hosts true
is "no key: its line" "$(cat err)" "zmpirun: your key for zipperd on z: $TAP_TMP/.zipper/key: No such file or directory, and neither ZIPPER_KEY nor ZIPPER_KEY_FILE is set; \"zipperd --make-key me\" prints a key, for this file and for that of zipperd"
HOME='' ZIPPER_USER=me run "no key and no home" 1 -f hosts true
is "no home: its line" "$(cat err)" \
	"zmpirun: your key for zipperd on z: none of ZIPPER_KEY, ZIPPER_KEY_FILE and HOME is set; \"zipperd --make-key me\" prints a key, for this file and for that of zipperd"
ZIPPER_USER=$(printf '%065d' 0) run "a name that is too long" 1 -f hosts true
is "too long: its line" "$(cat err)" \
	"zmpirun: ZIPPER_USER is no name of 1 to 64 printable characters without space and comma"
ZIPPER_KEY=abc run "a bad key" 1 -f hosts true
is "bad key: its line" "$(cat err)" "zmpirun: your key for zipperd on z: ZIPPER_KEY: a key is 64 hexadecimal digits"
ZIPPER_KEY=$(printf '%064d' 0) run "no zipperd is running there" 1 -f hosts true
matches "not running: its line" err '^zmpirun: zipperd: cannot connect to tcp:127.0.0.1:1: Connection refused'
python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True: s.accept()[0].close()' >port &
TAP_PIDS+=($!)
wait_for 10 test -s port
sed -i "s/a=tcp:127.0.0.1:1/a=tcp:127.0.0.1:$(cat port)/" hosts
ZIPPER_KEY=$(printf '%064d' 0) run "a zipperd that hangs up, at the first of two addresses" 1 -f hosts true
matches "hangs up: not what the other address says" err "^zmpirun: .*127.0.0.1:$(cat port)\\b"
printf '#ZIP cluster a localhost=localhost\nhost.invalid\n' >hosts
run "a host without address" 1 -f hosts true
HYDRA_LAUNCHER=rsh HYDRA_LAUNCHER_EXEC=$TAP_TMP/rsh run "it needs none with HYDRA_LAUNCHER" 0 -f hosts true
HYDRA_BOOTSTRAP=rsh HYDRA_BOOTSTRAP_EXEC=$TAP_TMP/rsh run "nor with HYDRA_BOOTSTRAP" 0 -f hosts true
is_gone "nothing is left after errors"
is "no private directory is left after errors" "$(scratch_left)" 0
done_testing

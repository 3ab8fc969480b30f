#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zmpirun with several zippers that join the clusters of a job: its choice of those that carry the job.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
ENDS=$TAP_TMP/ends
ORDERING=$TAP_TMP/ordering # a program whose ranks all send to each other
compile "$ZIP_TOP_SRCDIR/test/lib/ends.c" "$ENDS" || bail_out "cannot compile ends.c"
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/ordering.c" "$ORDERING" || bail_out "cannot compile ordering.c"
cd "$TAP_TMP" || exit 99

# --- running zipperds; NOBODY is an address without one
NOBODY=tcp:127.0.0.1:1
key=$(printf '%064x' 4711)
export ZIPPER_USER=me ZIPPER_KEY=$key
zipperd_runs 1 "$key"
zipperd_runs 2 "$key"
zipperd_runs 3 "$(printf '%064x' 1)"
REFUSED="zipperd: cannot connect to $NOBODY: Connection refused"

# prints the settings that ranks get; the program does not use MPI, so the job fails
told() {
	limited 60 "${marked[@]}" "$ZMPIRUN" "$@" sh -c 'echo $ZIPPER_ZIPPERD' 2>err </dev/null | LC_ALL=C sort -u
}

# --- the zippers that are used
hosts "$ADDRESS_2" "$ADDRESS_1" >file
run "both run" 0 -f file "$ENDS" well
is "both run: one world" "$(grep -c 'of 4' out)" 4
run "--stats" 0 -f file --stats "$ORDERING"
is "--stats: the sum, then each" "$(grep -v ' -> ' err | tr '\n' ';')" \
	"zmpirun: over the bridge:;zmpirun: of that over zipper z1:;zmpirun: of that over zipper z2:;zmpirun: natively, point-to-point:;"
for direction in 'a -> b' 'b -> a'; do
	for what in messages bytes; do
		read -r sum first second <<<"$(sed -En "s/^zmpirun:   $direction: (.* )?([0-9]+) $what.*/\2/p" err | tr '\n' ' ')"
		is "--stats, $direction: $what of both" "$sum" $((first + second))
		ok "--stats, $direction: $what of each" test "$first" -gt 0 -a "$second" -gt 0
	done
done
is "both run: in the order of the file" "$(told -f file)" "$ADDRESS_2,$ADDRESS_1"
is "--rails 1: the first one" "$(told -f file --rails 1)" "$ADDRESS_2"
run "--rails 3, but there are two" 2 -f file --rails 3 "$ENDS" well
is "--rails 3: its line" "$(cat err)" "zmpirun: file: --rails 3, but only 2 #ZIP zipper lines serve all of the clusters a,b"
run "--rails 0" 2 -f file --rails 0 "$ENDS" well
is "--rails 0: its line" "$(head -1 err)" "zmpirun: -rails: '0' is not a number from 1 to 16"
hosts $NOBODY "$ADDRESS_2" >file
run "the first one is not running" 0 -f file "$ENDS" well
is "not running: it is left out" "$(cat err)" "zmpirun: warning: zipper z1 is left out: $REFUSED"
is "not running: one world" "$(grep -c 'of 4' out)" 4
hosts "$ADDRESS_1" $NOBODY "$ADDRESS_2" >file
is "the second of three is not running" "$(told -f file)" "$ADDRESS_1,$ADDRESS_2"
is "the second of three: it is left out" "$(head -1 err)" "zmpirun: warning: zipper z2 is left out: $REFUSED"
is "the first two are wanted" "$(told -f file --rails 2)" "$ADDRESS_1,$ADDRESS_2"
is "one is wanted" "$(told -f file --rails 1)" "$ADDRESS_1"
ok "one is wanted: nobody asks the others" sh -c '! grep -q warning err'
kill -STOP "$ZIPPERD_1"
hosts "$ADDRESS_1" "$ADDRESS_2" >file
run "the first one hangs" 0 -f file "$ENDS" well
kill -CONT "$ZIPPERD_1"
is "hangs: it is left out" "$(cat err)" "zmpirun: warning: zipper z1 is left out: zipperd at $ADDRESS_1 does not answer"
hosts tcp:192.0.2.1 "$ADDRESS_2" >file
run "the first one would be ours, but is elsewhere" 0 -f file "$ENDS" well
is "elsewhere: it is left out" "$(cat err)" \
	"zmpirun: warning: zipper z1 is left out: file:5: 192.0.2.1 is not an address of this machine: zmpirun cannot start zipperd there; write the port of one that runs (a=tcp:192.0.2.1:7474)"
hosts $NOBODY "$NOBODY"1 >file
run "none is running" 1 -f file "$ENDS" well
is "none: the first one's reason" "$(cat err)" "zmpirun: $REFUSED"
hosts $NOBODY "$ADDRESS_3" "$ADDRESS_1" >file
run "one of them refuses the key" 1 -f file "$ENDS" well
is "refused: no other one is taken" "$(cat err)" \
	"zmpirun: zipper z2: zipperd at $ADDRESS_3 refuses the key of user me"
hosts "$ADDRESS_1" "$ADDRESS_3" >file
run "one that would refuse the key is not wanted" 0 -f file --rails 1 "$ENDS" well
hosts "$ADDRESS_1" "$ADDRESS_1" >file
run "two zippers with one zipperd" 1 -f file "$ENDS" well
matches "one zipperd: its line" err \
	'^zmpirun: zipper z2: job me/ends-[^ ]* exists already: have two zippers of the hostfile the same zipperd\?$'

# --- ours
run "two of ours" 0 --clusters 2 -n 4 --rails 2 -v "$ENDS" well
matches "two of ours: both are named" err \
	'^zmpirun: part c1: ranks 0 to 1, shm:.*/zmpirun\.[^/]*/[^/,]*,shm:.*/zmpirun\.[^/]*/[^/,]*$'
for n in 1 2; do matches "-v: log of zipper $n" err "^zipper $n: zipperd: job .* 4 ranks in 2 parts have joined$"; done
is "two of ours: one world" "$(grep -c 'of 4' out)" 4
hosts tcp:127.0.0.1 shm >file
run "two of ours, by a hostfile" 0 -f file "$ENDS" well
hosts shm "$ADDRESS_1" >file
run "ours and one that runs" 0 -f file --stats "$ENDS" well
matches "ours and one that runs: both" err '^zmpirun: of that over zipper z2:$'
ZIPPER_KEY='' HOME='' run "ours and one that runs: without a key" 1 -f file "$ENDS" well
is "without a key: its line" "$(cat err)" \
	"zmpirun: your key for zipperd on z2: none of ZIPPER_KEY, ZIPPER_KEY_FILE and HOME is set; \"zipperd --make-key me\" prints a key, for this file and for that of zipperd"
ZIPPER_KEY='' HOME='' run "ours alone needs none" 0 -f file --rails 1 "$ENDS" well

# --- the second zipper does not start; ours count their starts
cat >second <<END
#!/bin/sh
echo >>count
[ \$(wc -l <count) = 1 ] && exec "$ZIPPERD" "\$@"
. ./instead
END
chmod +x second
echo 'echo "zipperd: error: no room for it" >&2; exit 1' >instead
run "the second one does not start" 1 --zipperd ./second --clusters 2 --rails 2 "$ENDS" well
is "does not start: its line" "$(cat err)" "zmpirun: zipper 2: zipperd did not start: no room for it"
is_gone "does not start: the first one has ended"
is "does not start: directory removed" "$(scratch_left)" 0
rm -f count
echo ': >started; exec sleep 1000' >instead
"${marked[@]}" "$ZMPIRUN" --zipperd ./second --clusters 2 --rails 2 true >out 2>err </dev/null &
JOB=$!
wait_for 10 test -e started
is "SIGINT while the second one starts: the first one is there" "$(left_named zipperd | wc -l)" 1
kill -INT $JOB
ended "SIGINT while the second one starts" 130 'ended by signal 2 \(Interrupt\)$'

# --- ends of a job
start 2+2 --rails 2
is "two zipperds of ours" "$(left_named zipperd | wc -l)" 2
kill -INT $JOB
ended "SIGINT" 130 'ended by signal 2 \(Interrupt\)$'
hit 9 3 start 2+2 --rails 2
ended "a rank killed" 9 'rank 3 \(c2 rank 1 .*; mpiexec tells of signal 9 \(Killed\)$'
run "MPI_Abort hands its code on" 7 --clusters 2 -n 4 --rails 3 "$ENDS" abort 2 7
matches "MPI_Abort: who and what" err '^zmpirun: rank 2 \(.*code 7'
is "MPI_Abort: one line" "$(wc -l <err)" 1 || diag_file err
# One zipper reports it late: the part has ended by then, and its own words are here.
start_as 4 --clusters 2+2 --rails 2 "$ENDS" abort 2 7 go
late=$(left_named zipperd | tail -1)
kill -STOP "$late"
touch go
one_mpiexec() { [ "$(left_named mpiexec.mpich | wc -l)" = 1 ]; }
ok "MPI_Abort, told late: the part ends" wait_for 20 one_mpiexec
kill -CONT "$late"
ended "MPI_Abort, told late" 7 'rank 2 \(c2 rank 0 .*code 7'
run "the highest status of any rank" 3 --clusters 2 -n 4 --rails 2 "$ENDS" ranks
run "a rank that never comes" 1 --init-timeout 2 --clusters 2 --rails 3 -n 1 "$ENDS" well : -n 1 sleep 30
matches "never comes: which part" err '^zmpirun: zipper [123]: not all ranks have joined .*part c2'
hosts "$ADDRESS_1" "$ADDRESS_2" >file
kill -9 "$ZIPPERD_2"
wait "$ZIPPERD_2" 2>/dev/null
start_over 4 -f file
is "the second one has ended: it is told" "$(cat err)" \
	"zmpirun: warning: zipper z2 is left out: zipperd: cannot connect to $ADDRESS_2: Connection refused"
kill -INT $JOB
wait $JOB
is "the second one has ended: status" $? 130
is_gone "nothing is left"
is "no private directory is left" "$(scratch_left)" 0
done_testing

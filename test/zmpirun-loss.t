#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zmpirun with several zippers, some of which are lost while the job runs: the job goes on, or ends for another reason.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
TRAFFIC=$TAP_TMP/traffic # much traffic, until the file of its argument exists
compile "$ZIP_TOP_SRCDIR/test/lib/traffic.c" "$TRAFFIC" || bail_out "cannot compile traffic.c"
cd "$TAP_TMP" || exit 99

# zipperd_of NUMBER: prints the process of one of this job's zipperds
zipperd_of() {
	local pid
	for pid in $(left_named zipperd); do
		tr '\0' '\n' <"/proc/$pid/cmdline" | grep -q "/zmpirun\.[^/]*/conf$1$" && echo "$pid"
	done
}
# started OPTION...: starts a job of four ranks with much traffic, which ends when there is a file "stop"
started() {
	rm -f stop
	start_as 4 "$@" "$TRAFFIC" stop
}
two=(--clusters 2+2 --rails 2)
# is_told NAME: the user hears of a lost zipper, and the job goes on
is_told() {
	ok "$1: told" wait_for 20 grep -q ' is lost: ' err
	ok "$1: the job goes on" child_runs "$JOB"
}
# goes_on NAME ZIPPER WHY [LEFT]: the job ends well, with this one line
goes_on() {
	local rc
	touch stop
	wait_for 60 job_is_over || { diag "the job does not end" && kill -9 "$JOB"; }
	wait "$JOB"
	rc=$?
	is "$1: status" $rc 0
	is "$1: nothing was wrong" "$(grep -cE '^rank [0-3]: ok$|^No errors$' out)" 5 || diag_file out
	matches "$1: which" err "^zmpirun: warning: zipper $2 is lost: $3; the job goes on with ${4:-1 of 2}$"
	is "$1: one line" "$(wc -l <err)" 1 || diag_file err
	is_gone "$1: nothing is left"
	is "$1: directory removed" "$(scratch_left)" 0
}
# both_gone NAME WHY: both zippers have ended at the same time. If a busy machine needs more than a second longer to end one, the
# line names the other, as the job has gone on meanwhile.
both_gone() {
	wait_for 20 job_is_over
	sed -Ei "/^zmpirun: warning: zipper [12] is lost: $2; the job goes on with 1 of 2$/d" err
	ended "$1" 1 "zipper [12]: $2; no zipper is left$"
}
KILLED='zipperd was killed by signal 9 \(Killed\)'
STOPS='zipperd is shutting down'
DIED='rank 3 \(c2 rank 1 .*; mpiexec tells of signal 9 \(Killed\)$'

# --- the job goes on
for n in 1 2; do
	started "${two[@]}"
	kill -9 "$(zipperd_of $n)"
	is_told "zipper $n killed"
	goes_on "zipper $n killed" $n "$KILLED"
done
started "${two[@]}"
kill "$(zipperd_of 2)"
is_told "zipper 2 ended in order"
goes_on "zipper 2 ended in order" 2 "$STOPS"
export ZIPPER_TIMEOUT=5s
started "${two[@]}"
kill -STOP "$(zipperd_of 2)"
is_told "zipper 2 hangs"
goes_on "zipper 2 hangs" 2 "zipperd at [^ ]* has not answered for [0-9]+ s"
export ZIPPER_TIMEOUT=2s # the only one has four times as long
started --clusters 2+2
kill -STOP "$(zipperd_of 1)"
wait_for 60 job_is_over || { diag "the job does not end" && kill -9 "$JOB"; }
wait "$JOB"
is "the only zipper hangs: status" $? 1
matches "the only zipper hangs: said by a rank" err \
	'^libzipper: rank [0-3] .*: the zipper is gone: zipperd at [^ ]* has not answered for [0-9]+ s$'
matches "the only zipper hangs: said by zmpirun" err '^zmpirun: zipperd at [^ ]* has not answered for [0-9]+ s$'
is "the only zipper hangs: one line of zmpirun" "$(grep -c '^zmpirun' err)" 1
is_gone "the only zipper hangs: nothing is left"
unset ZIPPER_TIMEOUT
started --clusters 1+1+2 --rails 3
kill -9 "$(zipperd_of 1)"
goes_on "a zipper lost just before the end" 1 "$KILLED" "2 of 3"
key=$(printf '%064x' 4711)
export ZIPPER_USER=me ZIPPER_KEY=$key
zipperd_runs 1 "$key"
zipperd_runs 2 "$key"
hosts "$ADDRESS_1" "$ADDRESS_2" >file
started -f file
python3 "$ZIP_TOP_SRCDIR/test/lib/cut.py" "$(pid_of_rank 3)" "${ADDRESS_2##*:}"
case $? in
0)
	is_told "connections of one rank cut"
	goes_on "connections of one rank cut" z2 "rank 3 \(b rank 1 on [^ ]*\): .*"
	;;
77)
	skip "connections of one rank cut" "we may not"
	touch stop
	wait "$JOB"
	;;
*) fail "connections of one rank cut" ;;
esac
started -f file
kill -9 "$ZIPPERD_2"
wait "$ZIPPERD_2" 2>/dev/null
is_told "one that runs killed"
goes_on "one that runs killed" z2 "(zipperd at $ADDRESS_2 closed the connection|connection to .* is broken: .*)"
started "${two[@]}" --stats
kill -9 "$(zipperd_of 1)"
is_told "--stats"
touch stop
wait "$JOB"
is "--stats: status" $? 0
is "--stats: what is left" "$(grep -v ' -> ' err | sed 1d | tr '\n' ';')" \
	"zmpirun: zipper 1 is not counted: zipperd was killed by signal 9 (Killed);zmpirun: over the bridge:;zmpirun: of that over zipper 2:;"
is "--stats: of one" "$(grep -c 'c1 -> c2: [1-9]' err) $(grep 'c1 -> c2' err | sort -u | wc -l)" "2 1"

# --- the job ends
"${marked[@]}" "$ZMPIRUN" "${two[@]}" sh -c 'touch up.$PMI_RANK.$$; exec sleep 1000' >out 2>err </dev/null &
JOB=$!
wait_for 10 sh -c '[ $(ls | grep -c ^up) = 4 ]'
kill -9 "$(zipperd_of 2)"
ended "lost before the ranks have joined" 1 "zipper 2: $KILLED$"
started "${two[@]}"
kill -9 $(left_named zipperd)
both_gone "both killed" "$KILLED"
started "${two[@]}"
kill $(left_named zipperd)
both_gone "both ended in order" "$STOPS"
started "${two[@]}"
kill -9 "$(zipperd_of 2)"
is_told "one after the other"
kill -9 "$(zipperd_of 1)"
ended "one after the other" 1 "zipper 1: $KILLED; no zipper is left$" 2
hit 9 3 started "${two[@]}"
ended "a rank killed" 9 "$DIED"
started_and_lost() {
	started "${two[@]}"
	kill -9 "$(zipperd_of 1)"
	[ -z "$1" ] || is_told "$1"
}
hit 9 3 started_and_lost "a rank killed after a zipper"
ended "a rank killed after a zipper" 9 "$DIED" 2
hit 9 3 started_and_lost
ended "a rank and a zipper killed" 9 "$DIED" 2
# if the other zipper reports the rank more than a second later, the job has gone on meanwhile
matches "a rank and a zipper killed: the zipper" err "^zmpirun: warning: zipper 1 is lost: $KILLED(; the job goes on with 1 of 2)?$"
rm -f stop
start_as 4 "${two[@]}" "$TRAFFIC" stop abort 3
touch stop
ended "MPI_Abort" 3 'rank 2 \(c2 rank 0 .*code 3'
started "${two[@]}"
kill -9 "$(left_named mpiexec.mpich | head -1)"
ended "one mpiexec killed" 137 'mpiexec of part c[12] was killed by signal 9 \(Killed\)$'
started "${two[@]}"
kill -9 "$(zipperd_of 2)"
is_told "SIGINT after a loss"
kill -INT "$JOB"
ended "SIGINT after a loss" 130 'ended by signal 2 \(Interrupt\)$' 2
done_testing

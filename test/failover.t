#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Zippers that are lost while a job runs over several: the job goes on with the others, prints its native output, and names the
# lost ones. Other losses still end a job.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
cd "$TAP_TMP" || exit 99
. "$ZIP_TOP_SRCDIR/test/lib/rails.sh"
for program in failover threads endpoint_threads names; do
	compile "$(program "$program.c")" $program >cc.out 2>&1 || { diag_file cc.out; bail_out "$program.c"; }
done

export ZIPPER_RECONNECT=60s # lost zippers are looked for, in vain

# expected RANKS PROGRAM...: its native output in the file native, made once
expected() {
	local ranks=$1 file
	shift
	file=native.$ranks.${*//[^a-z0-9]/}
	[ -s "$file" ] || native 60 "$ranks" "$@" 2>&1 | LC_ALL=C sort >"$file"
	cp "$file" native
}
# lost NAME K...: one line says that these zippers are lost, and there is no other line
lost() {
	local name=$1 k
	shift
	for k; do is "$name: zipper $k is said to be lost" "$(cat err.* | grep -Fc "the zipper at ${at[k]} is lost: ")" 1; done
	is "$name: nothing else is said" "$(cat err.* | wc -l)" $# || diag "$(cat err.*)"
}
# goes_on NAME "K..." RAILS PARTS SIZES ROUNDS STRIKE...: runs failover, which loses these zippers; in a strike @K is the process
# of zipper K
goes_on() {
	local name=$1 lost=$2 rails=$3 parts=$4 layout=$5 rounds=$6 k rc
	local strikes=("${@:7}")
	JOB_NUMBER=$((JOB_NUMBER + 1))
	name="$rails zippers, ranks $layout: $name"
	start_zippers "$rails" "$parts"
	for ((k = 1; k <= rails; k++)); do strikes=("${strikes[@]//@$k/${zipper[k]}}"); done
	expected $((${layout// /+})) ./failover "$rounds"
	by_hand "$parts" "$layout" "$(addresses $(seq "$rails"))" ./failover "$rounds" "${strikes[@]}"
	rc=$?
	is "$name: status" $rc 0 || for k in ${parts//,/ }; do diag_file "err.$k"; done
	is "$name: as natively" "$(cat out.* | LC_ALL=C sort)" "$(cat native)"
	lost "$name" $lost
	is_gone "$name: nothing is left"
	stop_zippers
	rm -f out.* err.*
}

# Together these strike in every phase of the program, with every signal and rail.
goes_on "the first one is killed" 1 2 a,b "2 2" 2 1.1=@1:9
ZIPPER_WAIT="sleep" goes_on "the second one ends, all sleep" 2 2 a,b "1 3" 2 0.2=@2:15
ZIPPER_ONE_SIDED=yes goes_on "two are killed, memory to memory" "1 3" 3 a,b "2 2" 2 0.4=@1:9 1.1=@3:9
ZIPPER_PROGRESS=thread goes_on "two at once, progress by threads" "1 2" 3 a,b,c "2 1 1" 2 1.5=@1:9 1.5=@2:15
ZIPPER_REPRESENTATION=external32 goes_on "in external32" 1 2 a,b "2 2" 2 1.8=@1:9
ZIPPER_TUNE="all multicast=yes" goes_on "multicast" "1 2" 3 a,b,c "2 1 2" 3 0.9=@1:9 2.9=@2:9
ZIPPER_ONE_SIDED=yes ZIPPER_TUNE="all multicast=yes" goes_on "multicast, memory to memory" "1 2" 3 a,b,c "2 1 2" 3 0.9=@1:9 2.9=@2:9
goes_on "operations on windows" 2 2 a,b "2 2" 2 0.12=@2:9
ZIPPER_ONE_SIDED=yes goes_on "operations on windows, memory to memory" 1 3 a,b,c "2 1 1" 2 1.12=@1:9
goes_on "a file" 1 2 a,b "2 2" 2 0.13=@1:9
goes_on "a file of three parts" "1 3" 3 a,b,c "2 1 1" 2 0.13=@3:9 1.13=@1:15
# A zipper is there and does nothing: a rank that waits for it asks, and does not wait for a minute.
goes_on "the second one hangs" 2 2 a,b "2 2" 2 0.2=@2:19
kind=tcp
goes_on "two shortly after each other" "3 2" 3 a,b,c "2 1 1" 2 1.0=@3:9 1.1=@2:15
goes_on "between reductions, to and fro" "2 1" 3 a,b "3 1" 2 0.10=@2:9 1.11=@1:9
ZIPPER_PORTS='0 a=tcp:127.0.0.1 b=tcp:127.0.0.1' goes_on "direct links" 1 2 a,b "2 2" 3 0.3=@1:9
options=(-o eager_bytes=4K -o dest_share=8K) # many refusals
goes_on "refusals" 1 2 a,b "2 2" 2 1.7=@1:9
kind=shm
goes_on "refusals" "2 3" 3 a,b,c "2 1 1" 2 0.6=@2:9 1.0=@3:9
options=()
goes_on "before the last reduction" 2 2 a,b "2 2" 2 end=@2:9
goes_on "before MPI_Finalize" 1 2 a,b "2 2" 2 last=@1:9

# --- one connection of many: a relay between part a and the second zipper cuts it, or is killed
kind=tcp
relayed() { # NAME SIGNAL SAYS: SAYS is the line of the relay
	local rc job
	JOB_NUMBER=$((JOB_NUMBER + 1))
	start_zippers 2 a,b
	start_relays 2
	expected 4 ./failover 2
	# the zipper is still there, and would be back before it is said to be lost
	ZIPPER_RECONNECT=0 by_hand a,b "2 2" "$(addresses 1),$(relays 2) $(addresses 1 2)" ./failover 2 "1.1=$PWD/now" &
	job=$!
	wait_for 20 test -e now
	kill "-$2" "${relay[2]}"
	[ -z "$3" ] || wait_for 20 grep -q . relay.2
	rm -f now # a rank has waited for that
	wait $job
	rc=$?
	is "$1: status" $rc 0 || { diag_file err.a; diag_file err.b; }
	is "$1: as natively" "$(cat out.* | LC_ALL=C sort)" "$(cat native)"
	is "$1: which" "$(cat relay.2)" "$3"
	at[2]=$(relays 2)
	lost "$1" 2
	is_gone "$1: nothing is left"
	stop_relays
	stop_zippers
	rm -f out.* err.*
}
if command -v python3 >/dev/null; then
	relayed "a data channel is cut" 10 "cut data"
	relayed "a control connection is cut" 12 "cut control"
	relayed "all of one part's are cut" 9 ""
else
	skip "a connection is cut" "no python3"
fi

# --- from outside, at any time
kind=shm
start_zippers 3 a,b
expected 4 ./threads
JOB_NUMBER=$((JOB_NUMBER + 1))
by_hand a,b "2 2" "$(addresses 1 2 3)" ./threads &
job=$!
wait_for 20 grep -q joined zipper.3
sleep 0.1
kill -KILL "${zipper[1]}"
sleep 0.1
kill "${zipper[3]}"
wait $job
is "threads, from outside: status" $? 0 || { diag_file err.a; diag_file err.b; }
is "threads, from outside: as natively" "$(cat out.* | LC_ALL=C sort)" "$(cat native)"
stop_zippers
rm -f out.* err.*

# threads at endpoints of their own, which each find out
start_zippers 3 a,b
JOB_NUMBER=$((JOB_NUMBER + 1))
ZIPPER_ENDPOINTS=4 by_hand a,b "2 2" "$(addresses 1 2 3)" ./endpoint_threads 400 &
job=$!
wait_for 20 grep -q joined zipper.3
sleep 0.3
kill -KILL "${zipper[1]}"
sleep 0.3
kill "${zipper[3]}"
wait $job
is "endpoints, from outside: status" $? 0 || { diag_file err.a; diag_file err.b; }
is "endpoints, from outside: nothing is wrong" "$(cat out.* | grep -c -e ' ok$' -e '^No errors$')" 5 || diag_file out.a
stop_zippers
rm -f out.* err.*

# --- published names: each zipper of the job has all of them
for k in 1 2; do
	JOB_NUMBER=$((JOB_NUMBER + 1))
	start_zippers 3 a,b
	by_hand a,b "2 2" "$(addresses 1 2 3)" ./names strike "${zipper[k]}" 9
	is "names, zipper $k is lost: status" $? 0 || { diag_file err.a; diag_file err.b; }
	is "names, zipper $k is lost: nothing is wrong" "$(cat out.* | grep -c -e ' ok$' -e '^No errors$')" 5 || diag_file out.a
	lost "names" $k
	stop_zippers
	rm -f out.* err.*
done

# --- losses that end a job
# ends NAME WHAT STRIKE...: a job over 3 zippers and 2 parts ends with the line WHAT. Other tests check the status, as mpiexec loses
# one now and then
ends() {
	local name=$1 what=$2 k rc lost=no
	local strikes=("${@:3}")
	[[ $* = *@* ]] && lost=yes
	JOB_NUMBER=$((JOB_NUMBER + 1))
	start_zippers 3 a,b
	for k in 1 2 3; do strikes=("${strikes[@]//@$k/${zipper[k]}}"); done
	by_hand a,b "2 2" "$(addresses 1 2 3)" ./failover 2 "${strikes[@]}"
	rc=$?
	ok "$name: the job ends" test $rc -ne 0 -a $rc -ne 124
	cat err.* >err
	matches "$name: what is said" err "$what"
	is "$name: no results" "$(cat out.* | grep -c '^rank')" 0
	[ "$lost" = yes ] || is "$name: not for a lost zipper" "$(grep -c 'the job goes on' err)" 0 || diag_file err
	is_gone "$name: nothing is left"
	stop_zippers
	rm -f out.* err.*
}
export ZIPPER_RECONNECT=0
ends "all zippers are killed" 'zipper' 1.1=@1:9 1.1=@2:9 1.1=@3:9
ends "all zippers end" 'zipper' 1.1=@1:15 1.1=@2:15 1.2=@3:15
ends "a rank is killed" 'libzipper: rank [01] .* rank [23] \(b rank [01] on .*\) died' 1.1=0:9
ends "a rank is killed when zippers are lost" 'rank [013] .* rank [23] \(b rank [01] on .*\) died' 0.1=@1:9 0.2=@2:15 1.1=0:9
# The second zipper hangs and cannot say so, and goes without a word. No rank waits for a zipper to come back.
silently() { # as strikes of `ends` take it: the rank stops the second zipper and dies. That is then killed
	(
		wait_for 60 grep -q 'died' zipper.1
		sleep 2
		kill -9 "${zipper[2]}"
	) &
	TAP_PIDS+=($!)
}
JOB_NUMBER=$((JOB_NUMBER + 1))
start_zippers 2 a,b
silently
ZIPPER_RECONNECT=1h by_hand a,b "2 2" "$(addresses 1 2)" ./failover 2 "1.1=${zipper[2]}:19" 1.1=0:9
rc=$?
ok "a rank is killed, the last zipper goes without a word: the job ends" test $rc -ne 0 -a $rc -ne 124
matches "... and part a says who died" err.a 'rank [23] \(b rank [01] on .*\) died'
is_gone "... and nothing is left"
stop_zippers
rm -f out.* err.*
ends "MPI_Abort" 'rank .* code 7' 1.2=abort
ends "MPI_Abort when a zipper is lost" 'rank .* code 7' 0.1=@1:9 1.2=abort
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs over Verbs, on the fake of libibverbs, that lose zippers, ports, devices, or the other end.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/fake.sh"
. "$ZIP_TOP_SRCDIR/test/lib/fake-job.sh"

# --- two zippers, one of which is lost while messages cross: killed, or by one queue pair that fails
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/failover.c" "$TAP_TMP/failover" || bail_out "failover.c does not compile"
native 60 4 "$TAP_TMP/failover" 3 2>"$TAP_TMP/err" | LC_ALL=C sort >"$TAP_TMP/native"
# losing NAME STRIKE [POINT STATUS AFTER | COMMAND]: the second zipper, Z in STRIKE, is lost: by the strike, by a fault in it (enum
# ibv_wc_status), or while that command runs
losing() {
	local rc
	fake_fabric fka/mw,fkb/ib/mw
	zipper
	first_zipper=$zipper ALSO_A=,$(address A) ALSO_B=,$(address B)
	zipper
	[ -z "$5" ] || fakectl fail "$3" "$4" "$5" 1 "$zipper"
	[ -n "$5" ] || ${3:+"$3"} &
	program=$TAP_TMP/failover part B 3 ${2:+"${2/Z/$zipper}"} &
	second=$!
	program=$TAP_TMP/failover part A 3 ${2:+"${2/Z/$zipper}"}
	rc=$?
	wait $second
	is "$1: status" "$rc $?" "0 0" || { diag_file "$TAP_TMP/outA"; diag_file "$TAP_TMP/outB"; diag_file "$TAP_TMP/zipperd"; }
	is "$1: as natively" "$(cat "$TAP_TMP"/out[AB] | grep -E '^(rank|No errors)' | LC_ALL=C sort)" "$(cat "$TAP_TMP/native")"
	is "$1: one is said to be lost" "$(cat "$TAP_TMP"/out[AB] | grep -c '^libzipper: rank 0 .* is lost: .* with 1 of 2$')" 1 ||
		diag_file "$TAP_TMP/outA"
	ALSO_A='' ALSO_B=''
	kill "$first_zipper" "$zipper" 2>/dev/null
	wait "$first_zipper" "$zipper" 2>/dev/null
	is "$1: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"
}
losing "the second one of two is killed" 1.1=Z:9
losing "the second one of two ends" 1.4=Z:15
losing "a write fails" "" write 10 20
losing "a read fails" "" read 12 10
# later than the first messages: a link whose first credit is not acknowledged stays with TCP, and is not lost
losing "a send fails" "" send 12 400
# Reads and writes of zipperd stay under way until its device is lost: their outcome stays unknown.
are_under_way() { [ "$(fakectl qps | grep -c "^pid=$zipper fk$1:.* waits=1")" -ge "$2" ]; }
device_goes() {
	fakectl keep "$zipper"
	wait_for 60 are_under_way b 1
	fakectl gone fkb "$zipper"
}
losing "the device of the second one goes" "" device_goes

# --- a port that goes down ends the jobs that use it, and no others
fake_fabric fka/mw,fkb/mw,fkc/mw
zipper -o listen=C=fkc:1@127.0.0.1:0
run_pair() { # JOB LETTER ARGUMENT...: runs part A and that part in the background; pair: the processes
	job=$1 parts=A,$2 part A "${@:3}" &
	pair=$!
	job=$1 parts=A,$2 part "$2" "${@:3}" &
	pair="$pair $!"
}
rm -f "$TAP_TMP/go"
run_pair lost B 1000 0
lost=$pair
run_pair other C 1000 5 "$TAP_TMP/go"
both_stand() { [ "$(cat "$TAP_TMP"/out{lost,other}? 2>/dev/null | grep -c 'under way')" = 8 ]; }
ok "two jobs are under way" wait_for 60 both_stand || diag_file "$TAP_TMP/zipperd"
fakectl down fkb 1
for pid in $lost; do
	wait "$pid"
	ok "port down: the job ends, with an error" test $? != 0
done
matches "port down: zipperd says which" "$TAP_TMP/zipperd" 'job me/lost: .*: Network is down' || diag_file "$TAP_TMP/outlostB"
touch "$TAP_TMP/go"
for pid in $pair; do
	wait "$pid"
	is "port down: the job over other ports ends well" $? 0 || diag_file "$TAP_TMP/outotherA"
done
end_zipper "port down"

# --- links of ranks that are there and take nothing end one after the other, while other jobs are served. Messages of zipperd are
# not acknowledged. Then the ranks do nothing any more, and the job ends as one of them is gone. A busy machine may be too slow
# for the answer.
ranks_of() { # LETTER: prints their processes
	local pid
	for pid in $(fakectl qps | sed -n "s/^pid=\([0-9]*\) fk${1,}:.*/\1/p" | sort -u); do
		[ "$pid" = "$zipper" ] || echo "$pid"
	done
}
links_of_zipper() { fakectl qps | grep -c "^pid=$zipper fk${1,}:"; } # LETTER: prints the number of their queue pairs
none_reach_them() { [ "$(fakectl qps | grep -c "^pid=$zipper .* waits=1 shared=0")" = 4 ]; }
none_is_left() { [ "$(fakectl qps | grep -c "^pid=$zipper ")" = 0 ]; }
served=''
for try in 1 2 3 4 5; do
	fake_fabric fka/mw,fkb/mw
	zipper -o listen=C=tcp:127.0.0.1:0
	tcp=$(address C)
	rm -f "$TAP_TMP/go" "$TAP_TMP"/outmute?
	run_pair mute B 1000 50 "$TAP_TMP/go" last
	all_stand() { [ "$(cat "$TAP_TMP"/outmute? 2>/dev/null | grep -c 'rounds$')" = 4 ]; }
	wait_for 60 all_stand || diag_file "$TAP_TMP/zipperd"
	a=$(ranks_of A) b=$(ranks_of B)
	fakectl silence "$zipper"
	touch "$TAP_TMP/go"
	wait_for 60 none_reach_them || diag "$(fakectl qps)"
	# shellcheck disable=SC2086 # several
	kill -STOP $a $b
	# shellcheck disable=SC2086
	kill -KILL $b
	over() { grep -q 'job me/mute: .* died' "$TAP_TMP/zipperd"; }
	wait_for 60 over
	ZIPPER_USER=me ZIPPER_KEY=$key "$ZIP_TOP_BUILDDIR/zipstat/zipstat" --csv "$tcp" >"$TAP_TMP/traffic"
	served="$? $(links_of_zipper A)"
	ok "nothing is taken: all ends by and by" wait_for 60 none_is_left || diag "$(fakectl qps)"
	# shellcheck disable=SC2086
	kill -KILL $a
	# shellcheck disable=SC2086
	wait $pair
	end_zipper "nothing is taken"
	is "nothing is taken: nothing that the Verbs do not allow" "$(fakectl complaints)" 0
	[ "$served" != "0 4" ] || break
done
is "nothing is taken: zipperd serves others before the ends of these two" "$served" "0 4" || diag_file "$TAP_TMP/zipperd"

# --- so does a device that goes away; when it is back, it is used again
fake_fabric fka/mw/tds=8,fkb/mw/tds=8
for category in dynamic mpi-everywhere; do
	zipper -o endpoints="$category"
	bridge "$category, before the device is lost" 300000 4
	rm -f "$TAP_TMP"/outlost?
	run_pair lost B 300000 0
	lost_stands() { [ "$(cat "$TAP_TMP"/outlost? 2>/dev/null | grep -c 'under way')" = 4 ]; }
	ok "$category: a job is under way" wait_for 60 lost_stands || diag_file "$TAP_TMP/zipperd"
	fakectl gone fkb
	for pid in $pair; do
		wait "$pid"
		ok "$category, device lost: the job ends, with an error" test $? != 0
	done
	matches "$category, device lost: zipperd says which" "$TAP_TMP/zipperd" 'job me/lost: .*: No such device'
	none_lost() { [ "$(fakectl lost)" = 0 ]; }
	ok "$category, device lost: nothing of it is left" wait_for 20 none_lost || diag "$(fakectl lost) contexts"
	bridge "$category, device back" 300000 4
	end_zipper "$category, device back"
	is "$category, device lost: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"
done

# --- so does a device with messages on the way from memory to memory, whose outcome stays unknown. Their resources are free for
# the next jobs.
fake_fabric fka/mw,fkb/mw
zipper -o threads=direction
for lost in fkb fka; do
	rm -f "$TAP_TMP"/outkept?
	fakectl keep "$zipper"
	run_pair kept B 3000000 0
	ok "$lost lost on the way: memory is being reached" wait_for 60 are_under_way a 1 || diag_file "$TAP_TMP/zipperd"
	fakectl gone $lost "$zipper"
	for pid in $pair; do
		wait "$pid"
		ok "$lost lost on the way: the job ends, with an error" test $? != 0
	done
	ok "$lost lost on the way: nothing of the job is left" wait_for 20 none_is_left || diag "$(fakectl qps)"
	fakectl keep 0
	bridge "$lost lost on the way, device back" 3000000 4
	ok "$lost lost on the way, device back: nothing of the old one is left" wait_for 20 none_lost || diag "$(fakectl lost) contexts"
done
end_zipper "lost on the way"
ok "lost on the way: those who come next reach memory, too" test "$(fakectl count read)" -gt 100 -a "$(fakectl count write)" -gt 100 ||
	diag "$(fakectl count read) reads, $(fakectl count write) writes"
is "lost on the way: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"

# --- one job has all memory for one-sided transfers, and hangs: other jobs do not wait for it
fake_fabric fka/mw,fkb/mw
zipper -o threads=direction -o one_sided_bytes=256K
rm -f "$TAP_TMP"/outkept?
fakectl keep "$zipper"
# no rounds, but messages both ways at once: else the next job could get the memory of one direction, and hang, too
run_pair kept B 3000000 -1 "$TAP_TMP/keys" both-ways
have_all() { are_under_way a 1 && are_under_way b 1; }
ok "beside one that hangs: memory is being reached, both ways" wait_for 60 have_all || diag_file "$TAP_TMP/zipperd"
bridge "beside one that hangs" 300000 4
ok "beside one that hangs: it does still" have_all
fakectl gone fkb "$zipper"
for pid in $pair; do
	wait "$pid"
	ok "one that hung: it ends, with an error" test $? != 0
done
ok "one that hung: nothing of it is left" wait_for 20 none_is_left || diag "$(fakectl qps)"
fakectl keep 0
bridge "beside one that hung" 300000 4
end_zipper "one that hung"
is "one that hung: zipperd says once in each direction what others got" "$(($(grep -c 'large messages travel as fragments while' "$TAP_TMP/zipperd") <= 2))" 1
matches "one that hung: zipperd says what others got" "$TAP_TMP/zipperd" 'large messages travel as fragments while others have all'
is "one that hung: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"

# --- RoCE: a rank whose address does not answer while the system looks for it: only ranks that talk to it wait
fake_fabric fka/mw,fkb/mw
zipper
tcp=tcp:$(address A | sed 's/.*@//')
is_seeking() { [ "$(fakectl seeks)" -gt 0 ]; }
answers() {
	ZIPPER_USER=me ZIPPER_KEY=$key limited 20 "$ZIP_TOP_BUILDDIR/zipstat/zipstat" --csv "$tcp"
}
rm -f "$TAP_TMP"/outseek?
fakectl seek "$zipper"
run_pair seek B 1000 5
ok "no neighbour: it is looked for" wait_for 60 is_seeking || diag_file "$TAP_TMP/zipperd"
ok "no neighbour: zipperd answers meanwhile" answers
fakectl seek 0
for pid in $pair; do
	wait "$pid"
	is "no neighbour: it is found after all" $? 0 || diag_file "$TAP_TMP/outseekA"
done
# the job is over before it is known
fakectl seek "$zipper"
run_pair seek B 1000 5
ok "no neighbour again: it is looked for" wait_for 60 is_seeking
fakectl qps | sed 's/^pid=\([0-9]*\) .*/\1/' | grep -vx "$zipper" | head -1 | xargs kill -KILL
ok "no neighbour again: zipperd answers meanwhile" answers
ok "no neighbour again: the job is over" wait_for 20 grep -q 'me/seek: .* died' "$TAP_TMP/zipperd" || diag_file "$TAP_TMP/zipperd"
# shellcheck disable=SC2086 # several
wait $pair
fakectl seek 0
ok "no neighbour again: nothing of it is left" wait_for 20 none_is_left || diag "$(fakectl qps)"
# 16 addresses are looked for at a time, and none for a job that is over
links_are() { [ "$(fakectl qps | grep -c "^pid=$zipper ")" = $(($1 * 2)) ]; }
fakectl seek "$zipper"
ranks=10
run_pair seek B 1000 5
ranks=
ok "many neighbours: some are looked for, and some wait" wait_for 60 links_are 20 || diag_file "$TAP_TMP/zipperd"
# shellcheck disable=SC2046 # several
kill -KILL $(ranks_of A) $(ranks_of B) 2>/dev/null # they may end each other
ok "many neighbours: when the job is over, those that wait go at once" wait_for 20 links_are 16 ||
	diag "$(fakectl qps | grep -c "^pid=$zipper ") queue pairs"
# shellcheck disable=SC2086 # several
wait $pair
fakectl seek 0
ok "many neighbours: nothing of it is left" wait_for 20 none_is_left || diag "$(fakectl qps)"
# if there is no way to it, its messages go by TCP
fakectl fail route 110 0 1 "$zipper"
bridge "no way" 30000 4
matches "no way: zipperd says so" "$TAP_TMP/zipperd" 'no way from our GID ::ffff:127[0-9.]* to ::ffff:127.* messages go by TCP'
end_zipper "no way"
is "no way: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || diag_file "$TAP_TMP/zipperd"

# --- a port that is not active yet when zipperd starts
fake_fabric fka/mw,fkb/mw
fakectl down fkb 1
zipper
matches "port not active: zipperd starts, and warns" "$TAP_TMP/zipperd" 'fkb:1 is not active .*refused until it is$'
fakectl up fkb 1
bridge "port active" 1000 5
end_zipper "port active"
ok "a zipperd for one job does not start" test "$(
	fakectl down fkb 1
	limited 20 "$ZIPPERD" -o listen=A=fka:1@127.0.0.1:0 -o listen=B=fkb:1@127.0.0.1:0 -o key_file="$TAP_TMP/keys" \
		-o module_dir="$TAP_TMP/modules" --die-with-parent 2>&1 | grep -c 'cannot listen .*fkb:1 is not active'
)" = 1
done_testing

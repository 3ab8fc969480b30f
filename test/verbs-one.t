#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Verbs in one virtual machine with two Soft-RoCE devices: cluster A's ranks use rxea, those of B rxeb, zipperd both.
. "${ZIP_TOP_SRCDIR:?}/test/lib/vm.sh" one

# --- the laboratory itself: a failure here is not ours
vm 200 zipper rdma link >"$TAP_TMP/links"
matches "rxea is up" "$TAP_TMP/links" '^link rxea/1 state ACTIVE'
matches "rxeb is up" "$TAP_TMP/links" '^link rxeb/1 state ACTIVE'
ok "rxea loops back" vm_pair zipper zipper 10.78.1.1 ibv_rc_pingpong -d rxea -g 1 -e -c -n 100
ok "rxeb loops back" vm_pair zipper zipper 10.78.2.1 ib_write_bw -d rxeb -x 1 -F -n 100 -s 65536

if [ ! -e "$ZIP_TOP_BUILDDIR/common/.libs/zipverbs.so" ]; then
	skip "the transport" "built without libibverbs"
	done_testing
	exit
fi
. "$ZIP_TOP_SRCDIR/test/lib/vm-job.sh"

# --- the conformance list of transports, over queue pairs; with ZIP_LONG also over links that change over in the test
if [ -x "$ZIP_TOP_BUILDDIR/test/unit/common/transport" ]; then
	vm_tap zipper 1500 conformance env CMOCKA_MESSAGE_OUTPUT=TAP ZIP_TEST_SCALE=20 ZIP_TEST_VERBS=rxea:1@10.78.1.1 \
		ZIP_TEST_LINKS=" ${ZIP_LONG:+verbs ownverbs }warmverbs " "$ZIP_TOP_BUILDDIR/test/unit/common/transport"
	vm_tap zipper 600 threads env CMOCKA_MESSAGE_OUTPUT=TAP ZIP_TEST_SCALE=20 ZIP_TEST_VERBS=rxea:1@10.78.1.1 \
		ZIP_TEST_LINKS=" ownverbs " "$ZIP_TOP_BUILDDIR/test/unit/common/transport" ownverbs_links_in_threads_of_their_own
	# once more what uses memory of the caller, with memory windows, which are not used here by themselves
	for name in reads_what_was_exposed writes_nothing_around exposes_again memory_that_was_mapped_again \
		refuses_what_is_not_exposed; do
		vm_tap zipper 600 windows env CMOCKA_MESSAGE_OUTPUT=TAP ZIP_TEST_VERBS=rxea:1@10.78.1.1 \
			ZIP_TEST_LINKS=" warmverbs " ZIPPER_VERBS_WINDOWS=yes "$ZIP_TOP_BUILDDIR/test/unit/common/transport" \
			"warmverbs_$name"
	done
else
	skip "conformance" "built without cmocka"
fi

# --- twin programs: their output merged over verbs is the native output
twin() { # PROGRAM LAYOUTS
	TMPDIR=$ZIP_VM/files ZIP_LAYOUTS=$2 "$ZIP_TOP_SRCDIR/test/twin" "$1" >"$TAP_TMP/tap"
	tap_of verbs "$TAP_TMP/tap" $?
}
for source in "$ZIP_TOP_SRCDIR"/test/programs/*/*.c; do
	sed 20q "$source" | grep -q 'twin:.*tcp=yes' || continue
	case $source in
	*/hello.c) twin "$source" "1+3 1+1+2" ;;
	*/multicast.c) twin "$source" "2+2+2" ;; # zipperd reads large messages once, and writes them to two clusters
	*) twin "$source" "2+2" ;;
	esac
done

# --- traffic on the devices, and faults, with two ranks that send to and fro for ever
compile "$ZIP_TOP_SRCDIR/test/lib/stream.c" "$STREAM" || bail_out "cannot compile stream.c"
# shellcheck disable=SC2016 # for the shell over there
counts='for d in rxea rxeb; do cat /sys/class/infiniband/$d/ports/1/hw_counters/sent_pkts; done
	ss -tinHO | grep -o "bytes_sent:[0-9]*" | awk -F: "{ s += \$2 } END { print s + 0 }"'
moved() { # until both devices have sent 20 MB at least, in packets of 4 KiB and envelopes
	local a b
	read -r -d '' a b tcp < <(vm 200 zipper bash -c "$counts")
	[ $((a - a0)) -ge 5000 ] && [ $((b - b0)) -ge 5000 ]
}
if stream_start 1000000; then
	read -r -d '' a0 b0 tcp0 < <(vm 200 zipper bash -c "$counts")
	ok "messages go over both devices" wait_for 600 moved
	ok "and not over TCP" test $((tcp - tcp0)) -lt 500000 || diag "$((tcp - tcp0)) bytes"
	vm 200 zipper ip link set fb down
	job_ended "port down" 1 '^zmpirun: rank [01] .*(died|aborted) .*: Network is down'
else
	fail "a job for ever starts"
	diag_file "$err"
fi
vm 200 zipper bash -c 'ip link set fb up; until rdma link show rxeb/1 | grep -q ACTIVE; do sleep 0.1; done'
if stream_start 1000; then
	vm 200 zipper pkill -KILL -x zipperd
	job_ended "zipperd killed" 1 '^zmpirun: zipperd was killed by signal 9'
else
	fail "after port down and up: a job starts"
	diag_file "$err"
fi
# two more ports, of another zipperd: after the loss of one of them the first pair carries all
# shellcheck disable=SC2016 # for the shell over there
vm 200 zipper bash -c 'for l in c d; do ip link add f$l type dummy && ip link set f$l mtu 4500; done
	ip addr add 10.78.3.1/24 dev fc; ip addr add 10.78.4.1/24 dev fd
	for l in c d; do ip link set f$l up && rdma link add rxe$l type rxe netdev f$l; done
	until [ "$(rdma link | grep -c ACTIVE)" = 4 ]; do sleep 0.1; done'
more_hosts="#ZIP zipper localhost clusterA=rxec:1 clusterB=rxed:1"
# shellcheck disable=SC2016 # for the shell over there
sends='for l; do a=/sys/class/infiniband/rxe$l/ports/1/hw_counters/sent_pkts
	n=$(cat $a); until [ "$(cat $a)" -gt $((n + 1000)) ]; do sleep 0.1; done; done'
if stream_start 1000000; then
	vm 300 zipper bash -c "$sends" bash a b c d
	is "two zippers: messages go over all four devices" $? 0
	vm 200 zipper ip link set fd down
	vm 300 zipper bash -c "$sends" bash a b
	is "port down: messages go on over the other two" $? 0 || diag_file "$err"
	wait_for 60 grep -q warning "$err"
	matches "port down: said" "$err" '^zmpirun: warning: zipper localhost is lost: .* with 1 of 2$'
	kill $job
	wait $job
	is "port down: nobody else complains" "$(grep -vc '^zmpirun: ' "$err")" 0 || diag_file "$err"
else
	fail "two zippers: a job starts"
	diag_file "$err"
fi
more_hosts=
vm 200 zipper ip link set fd up
cat >"$ZIP_VM/files/little-memory" <<'END'
#!/bin/bash
# little memory may be locked, and not even root may have more
ulimit -l 512
exec setpriv --bounding-set=-ipc_lock "$@"
END
chmod +x "$ZIP_VM/files/little-memory"
vm 300 zipper "$ZMPIRUN" -f "$ZIP_VM/files/hosts" -n 2 "$ZIP_VM/files/little-memory" "$STREAM" 1000 1 >"$out" 2>"$err"
is "hardly memory to register: status" $? 0 || diag_file "$err"
matches "hardly memory to register: said" "$err" 'rxe[ab]: cannot register .*: messages go by TCP; [0-9]+ KiB of locked'
sed -i 's/512/8192/' "$ZIP_VM/files/little-memory" # the default limit
vm 300 zipper "$ZMPIRUN" -f "$ZIP_VM/files/hosts" -n 2 "$ZIP_VM/files/little-memory" "$STREAM" 300000 4 >"$out" 2>"$err"
is "little memory to register: status" $? 0 || diag_file "$err"
matches "little memory to register: said" "$err" 'rxe[ab]: cannot register .*: [0-9]+ shared buffers instead of 256'

# --- zipcast between processes, by queue pairs; in one shell, so that they run at the same time
. "$ZIP_TOP_SRCDIR/test/lib/cast.sh"
CAST_NODE=$ZIP_VM/files/castnode
if cast_compile; then
	# shellcheck disable=SC2016 # for the shell over there
	vm 600 zipper env ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" bash -c 'mkdir "$1/cast"
		for i in 0 1 2; do "$1/castnode" "$1/cast" $i 3 rxea:1@10.78.1.1:0 pipeline 300000 4 & done; wait' \
		bash "$ZIP_VM/files" >"$TAP_TMP/cast" 2>&1
	is "zipcast: all came" "$(grep -c ': 4 messages, 0 bytes damaged' "$TAP_TMP/cast")" 3 || diag_file "$TAP_TMP/cast"
	matches "zipcast: at addresses of the device" "$ZIP_VM/files/cast/address0" '^rxea:1@10.78.1.1:[0-9]+$'
	# one is killed while others write to its memory, and it to theirs
	# shellcheck disable=SC2016
	vm 600 zipper env ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" bash -c 'mkdir "$1/killed"; cd "$1/killed"
		for i in 0 1 2 3; do "$1/castnode" . $i 4 rxea:1@10.78.1.1:0 pipeline 3000000 0 >node$i & pid[i]=$!; done
		until [ "$(cat node? | grep -c "under way")" = 4 ]; do sleep 0.1; done; sleep 1; kill -KILL ${pid[2]}; wait
		cat node?' bash "$ZIP_VM/files" >"$TAP_TMP/cast" 2>&1
	is "zipcast, one killed: the others are told who" "$(grep -c 'failed: node 2 ' "$TAP_TMP/cast")" 3 || diag_file "$TAP_TMP/cast"
	is "zipcast, one killed: no damaged bytes" "$(grep -c ' 0 bytes damaged' "$TAP_TMP/cast")" 3
else
	fail "zipcast: a program is linked with it"
fi

# a device with users does not go; the job that has it goes on, and the next one does not find it
if stream_start 100000; then
	vm_background 600 zipper rdma link delete rxeb
	deleting=$!
	vm 200 zipper bash -c 'a=/sys/class/infiniband/rxea/ports/1/hw_counters/sent_pkts
		n=$(cat $a); until [ "$(cat $a)" -gt $((n + 1000)) ]; do sleep 0.1; done'
	is "device removed: a job that uses it goes on" $? 0
	kill $job
	wait $job
	wait $deleting
	is "device removed: it goes with the job" $? 0
	vm 200 zipper "$ZMPIRUN" -f "$ZIP_VM/files/hosts" -n 2 "$STREAM" 1000 1 >"$out" 2>"$err"
	is "device removed: the next job's status" $? 1
	matches "device removed: why" "$err" '^zmpirun: .*there is no RDMA device rxeb on this host'
else
	fail "before device removal: a job starts"
	diag_file "$err"
fi
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zipperd serves peers of earlier protocols: what they said once, they say again, and zipperd answers with the same bytes.
# ZIP_RECORD=yes records the present protocol instead, see golden/README.md.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
command -v python3 >/dev/null || skip_all "no python3"
GOLDEN=$ZIP_TOP_SRCDIR/test/golden
PROTOCOL=$(sed -n 's/^#define ZCTL_PROTOCOL \([0-9]*\).*/\1/p' "$ZIP_TOP_SRCDIR/common/control/ctl.h")
OLDEST=$(sed -n 's/^#define ZCTL_PROTOCOL_OLDEST \([0-9]*\).*/\1/p' "$ZIP_TOP_SRCDIR/common/control/ctl.h")
KEY=$(printf '%064x' 4711)
cd "$TAP_TMP" || exit 99
${CC:-cc} -shared -fPIC -O1 "$ZIP_TOP_SRCDIR/test/lib/fixed_random.c" -o fixed_random.so >cc.out 2>&1 || { diag_file cc.out; bail_out "fixed_random.c"; }

# The address of the next zipperd of "reach" is in the recording, and in its proofs: all processes on this machine have the same.
NEXT=@zipper-golden-next
# start_fixed KEY: starts a zipperd whose nonces are always the same; HOST and PORT
start_fixed() {
	(umask 077 && echo "me $1" >keys)
	rm -f ready
	LD_PRELOAD=${RUNTIME:+$RUNTIME:}$TAP_TMP/fixed_random.so background "$ZIPPERD" -o listen=a,b=tcp:127.0.0.1:0 -o key_file="$TAP_TMP/keys" \
		-o eager_bytes=1024 -o workers=2 -o listen=n="shm:$NEXT.$$" -o next=n="shm:$NEXT" --ready-fd 3 3>ready 2>zipper
	ZIPPER=$!
	wait_for 20 grep -q '^$' ready || { diag_file zipper; bail_out "zipperd does not start"; }
	PORT=$(sed -n 's/^a,b=.*://p' ready)
}
stop_fixed() {
	child_runs $ZIPPER && kill $ZIPPER
	wait $ZIPPER 2>/dev/null
}
next_starts_or_ends() { grep -q '^$' ready.next || ! child_runs $BEHIND; }
# start_next: starts the zipperd behind that one. Another run of this test may have its address for a moment
start_next() {
	local tries
	for ((tries = 0; tries < 20; tries++)); do
		rm -f ready.next
		LD_PRELOAD=${RUNTIME:+$RUNTIME:}$TAP_TMP/fixed_random.so background "$ZIPPERD" -o listen=n,c="shm:$NEXT" \
			-o key_file="$TAP_TMP/keys" --ready-fd 3 3>ready.next 2>zipper.next
		BEHIND=$!
		wait_for 20 next_starts_or_ends
		grep -q '^$' ready.next && return
	done
	diag_file zipper.next
	bail_out "the next zipperd does not start"
}
stop_next() {
	child_runs $BEHIND && kill $BEHIND
	wait $BEHIND 2>/dev/null
}
# record NAME COMMAND...: the command's conversation goes into NAME-PROTOCOL.hex; ADDRESS is where it finds zipperd
record() {
	local name=$1 recorder
	shift
	start_fixed "$KEY"
	rm -f port
	background python3 -B "$GOLDEN/golden.py" record port 127.0.0.1 "$PORT" "$GOLDEN/$name-$PROTOCOL.hex"
	recorder=$!
	wait_for 20 test -s port || bail_out "golden.py does not start"
	ADDRESS=tcp:127.0.0.1:$(cat port)
	ok "$name: recorded" "$@"
	kill $recorder
	wait $recorder
	stop_fixed
}
launched() {
	hosts "$ADDRESS" >file
	ZIPPER_USER=me ZIPPER_KEY=$KEY ZIPPER_DIRECT=no limited 60 "${marked[@]}" "$ZMPIRUN" -f file --ppn 1 sh -c \
		'ZIPPER_CREDENTIAL=$(env -u LD_PRELOAD python3 -B "$0" credential "$1" me "$ZIPPER_JOB" 4102444800) exec ./talk' \
		"$GOLDEN/golden.py" "$KEY" >out 2>&1 || { diag_file out; return 1; }
}
direct() {
	local name pids=() pid rc=0
	for name in a b; do
		limited 60 "${marked[@]}" "$MPIEXEC" -n 1 env LD_PRELOAD="$PRELOAD_LIST" ZIPPER_USER=me ZIPPER_JOB=direct ZIPPER_PARTS=a,b \
			ZIPPER_PART=$name ZIPPER_ZIPPERD="$ADDRESS" ZIPPER_KEY="$KEY" ZIPPER_PORTS='0 a=tcp:127.0.0.1 b=tcp:127.0.0.1' \
			ZIPPER_MODULE_DIR="$ZIP_TOP_BUILDDIR/common/.libs" ./talk >"out.$name" 2>&1 </dev/null &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid" || rc=$?; done
	[ $rc = 0 ] || diag_file out.a
	return $rc
}
met() { limited 60 ./peers "$ADDRESS" "$KEY" meet >out 2>&1 || { diag_file out; return 1; }; }
reached() {
	local rc=0
	start_next
	limited 60 ./peers "$ADDRESS>a>n>shm:$NEXT" "$KEY" reach >out 2>&1 || { rc=1; diag_file out; }
	stop_next
	return $rc
}
asked() {
	ZIPPER_KEY=$KEY limited 60 "$ZIP_TOP_BUILDDIR/zipstat/zipstat" --csv -u me "$ADDRESS" >out 2>&1 || { diag_file out; return 1; }
}
if [ "${ZIP_RECORD:-}" = yes ]; then
	compile "$GOLDEN/talk.c" talk || bail_out "talk.c"
	record job launched
	record direct direct
	record asked asked
	LIBS=$ZIP_TOP_BUILDDIR/common/.libs
	${CC:-cc} -O1 -I"$ZIP_TOP_SRCDIR" "$GOLDEN/peers.c" "$LIBS/libzipauth.a" "$LIBS/libzipcommon.a" -o peers -lsodium -lpthread -ldl >cc.out 2>&1 ||
		{ diag_file cc.out; bail_out "peers.c"; }
	record meet met
	record reach reached
	done_testing
	exit
fi

# --- every protocol that is served
for ((p = OLDEST; p <= PROTOCOL; p++)); do
	for name in job direct asked meet reach; do
		[ $p -ge 3 ] || [ -e "$GOLDEN/$name-$p.hex" ] || continue # the last two were recorded later
		start_fixed "$KEY"
		[ $name = reach ] && start_next
		ok "protocol $p, $name: the same answers" python3 -B "$GOLDEN/golden.py" replay "$GOLDEN/$name-$p.hex" 127.0.0.1 "$PORT" || diag_file zipper
		ok "protocol $p, $name: zipperd runs on" child_runs $ZIPPER
		[ $name = reach ] && stop_next
		stop_fixed
	done
	# another zipperd does not answer so
	start_fixed "$(printf '%064x' 4712)"
	ok "protocol $p, another key: other answers" sh -c '! python3 -B "$@"' sh "$GOLDEN/golden.py" replay "$GOLDEN/job-$p.hex" 127.0.0.1 "$PORT"
	stop_fixed
done
done_testing

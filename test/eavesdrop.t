#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A stranger who reads the network between ranks and zipperd, and says again what it has heard: nobody admits it, and the job goes on.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
command -v python3 >/dev/null || skip_all "no python3"
cd "$TAP_TMP" || exit 99
. "$ZIP_TOP_SRCDIR/test/lib/rails.sh"
compile "$(program failover.c)" failover >cc.out 2>&1 || { diag_file cc.out; bail_out "failover.c"; }
native 60 4 ./failover 2 2>&1 | LC_ALL=C sort >native
kind=tcp

# overheard NAME: runs a job whose traffic with zipperd the stranger hears; its answers go to the file heard
overheard() {
	local job rc stranger
	JOB_NUMBER=$((JOB_NUMBER + 1))
	start_zippers 1 a,b
	rm -f port.1
	background python3 -B "$ZIP_TOP_SRCDIR/test/lib/eavesdrop.py" port.1 127.0.0.1 "${at[1]##*:}" >heard 2>&1
	stranger=$!
	wait_for 20 test -s port.1 || { diag_file heard; bail_out "eavesdrop.py does not start"; }
	by_hand a,b "2 2" "$(relays 1) $(relays 1)" ./failover 2 "1.1=$PWD/now" &
	job=$!
	wait_for 60 test -e now
	kill -USR1 $stranger
	wait_for 120 grep -q '^done' heard
	rm -f now # a rank has waited for that
	wait $job
	rc=$?
	is "$1: status" $rc 0 || { diag_file err.a; diag_file err.b; }
	is "$1: as natively" "$(cat out.* | LC_ALL=C sort)" "$(cat native)"
	is "$1: nobody admits the stranger" "$(grep -c -e ADMITTED -e Traceback -e "^c.*: open" heard)" 0 || diag_file heard
	is_gone "$1: nothing is left"
	stop_all $stranger
	stop_zippers
	rm -f out.* err.*
}
# answered WHAT TEXT: all answers of that kind are this text
answered() {
	is "$1" "$(sed -n "s/^$1: //p" heard | sed 's/rank [0-9][0-9]*/rank N/' | LC_ALL=C sort -u)" "$2"
}

overheard "bridged"
answered "channel, again" "rank N has, or had, a channel to that part already"
for field in ticket nonce rank part endpoint seal; do
	answered "channel, another $field" "no job of that name with a rank of that ticket runs here"
done
answered "control, again" "zipperd at ${at[1]} refuses the key of user $(id -un)"
answered "behind the greeting" shows
ZIPPER_PORTS='0 a=tcp:127.0.0.1 b=tcp:127.0.0.1' overheard "direct"
ok "link, overheard ticket: tried" grep -q '^link, overheard ticket: closed' heard || diag_file heard

# Protected networks, of which the ranks need not know.
words=/encrypt=yes
overheard "encrypted"
answered "behind the greeting" hidden
answered "channel, again" "rank N has, or had, a channel to that part already"
answered "control, again" "zipperd at ${at[1]}$words refuses the key of user $(id -un)"
ZIPPER_PORTS='0 a=tcp:127.0.0.1 b=tcp:127.0.0.1' overheard "direct, encrypted"
# --- links between ranks: what a reader of their network sees
words=
MARK=nobody-else-is-to-read-this
compile "$ZIP_TOP_SRCDIR/test/lib/marked.c" marked >cc.out 2>&1 || { diag_file cc.out; bail_out "marked.c"; }
${CC:-cc} -shared -fPIC -O1 "$ZIP_TOP_SRCDIR/test/lib/wiretap.c" -o wiretap.so -ldl >cc.out 2>&1 || { diag_file cc.out; bail_out "wiretap.c"; }
# tapped WORDS: prints how large writes to links between ranks look, where the network of zipperd has these words
tapped() {
	local rc
	words=$1
	JOB_NUMBER=$((JOB_NUMBER + 1))
	start_zippers 1 a,b
	rm -f tap
	# shellcheck disable=SC2016 # for the ranks
	PRELOAD_LIST=$PRELOAD_LIST:$TAP_TMP/wiretap.so ZIPPER_PORTS='0 a=tcp:127.0.0.1 b=tcp:127.0.0.1' by_hand a,b "1 1" "$(addresses 1)" \
		sh -c 'WIRETAP_HOST=$ZIPPER_PART exec ./marked "$WIRETAP_MARK"'
	rc=$?
	stop_zippers
	[ $rc = 0 ] || { echo "status $rc"; cat err.*; return; }
	awk -v port="${at[1]##*:}" '$1 != port && $2 != port { print $3 }' tap | LC_ALL=C sort -u
	rm -f out.* err.*
}
export WIRETAP=$TAP_TMP/tap WIRETAP_MARK=$MARK
is "a link of ranks: a reader sees the messages" "$(tapped '')" clear
is "a link of ranks, encrypted: a reader sees none" "$(tapped /encrypt=yes)" hidden
unset WIRETAP WIRETAP_MARK

# A bit of a data channel is changed: the job ends, with the reason.
for words in /integrity=yes /encrypt=yes; do
	start_zippers 1 a,b
	rm -f port.1
	background python3 -B "$ZIP_TOP_SRCDIR/test/lib/eavesdrop.py" port.1 127.0.0.1 "${at[1]##*:}" >heard 2>&1
	stranger=$!
	wait_for 20 test -s port.1 || { diag_file heard; bail_out "eavesdrop.py does not start"; }
	JOB_NUMBER=$((JOB_NUMBER + 1))
	by_hand a,b "2 2" "$(relays 1) $(relays 1)" ./failover 2 "1.1=$PWD/now" &
	job=$!
	wait_for 60 test -e now
	kill -USR2 $stranger
	rm -f now
	wait $job
	is "changed bit, $words: status" "$(($? != 0))" 1
	ok "changed bit, $words: changed" grep -q '^flipped' heard || diag_file heard
	ok "changed bit, $words: the reason" grep -q 'data channel.*zipperd at 127.0.0.1.*its sealed bytes were changed on the way' err.a err.b ||
		{ diag_file err.a; diag_file err.b; }
	is_gone "changed bit, $words: nothing is left"
	stop_all $stranger
	stop_zippers
	rm -f out.* err.*
done
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# zmpirun with several zippers that join the clusters of a job: which of them carry it.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/job.sh"
[ -x "$ZMPIRUN" ] || skip_all "no zmpirun in the build tree"
[ -x "$ZIPPERD" ] || skip_all "no zipperd in the build tree"
ENDS=$TAP_TMP/ends
compile "$ZIP_TOP_SRCDIR/test/lib/ends.c" "$ENDS" || bail_out "cannot compile ends.c"
cd "$TAP_TMP" || exit 99

# --- zipperds that run; ADDRESS_1 and so on are theirs, and NOBODY is where there is none
NOBODY=tcp:127.0.0.1:1
key=$(printf '%064x' 4711)
export ZIPPER_USER=me ZIPPER_KEY=$key
# zipperd_runs NUMBER KEY
zipperd_runs() {
	printf 'me %s\n' "$2" >keys"$1"
	chmod 600 keys"$1"
	printf 'listen = "a,b=tcp:127.0.0.1:0"\nkey_file = %s/keys%s\nlog_level = error\n' "$TAP_TMP" "$1" >conf"$1"
	background "$ZIPPERD" -c conf"$1" --ready-fd 3 3>ready"$1"
	wait_for 10 grep -q '^$' ready"$1"
	eval "ZIPPERD_$1=$! ADDRESS_$1=$(sed -n 's/^a,b=//p' ready"$1")"
}
zipperd_runs 1 "$key"
zipperd_runs 2 "$key"
zipperd_runs 3 "$(printf '%064x' 1)"
# hosts ADDRESS...: a hostfile with a zipper z1, z2 and so on for each
hosts() {
	local n=0 address
	printf "#ZIP cluster %s launcher=rsh launcher-exec=$TAP_TMP/rsh localhost=localhost\n%s:2\n" a a1 b b1
	for address; do echo "#ZIP zipper z$((++n)) a=$address b=$address"; done
}
REFUSED="zipperd: cannot connect to $NOBODY: Connection refused"

# --- which are used
hosts $NOBODY "$ADDRESS_2" >file
run "the first one is not running" 0 -f file "$ENDS" well
is "not running: it is left out" "$(cat err)" "zmpirun: warning: zipper z1 is left out: $REFUSED"
is "not running: one world" "$(grep -c 'of 4' out)" 4
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
done_testing

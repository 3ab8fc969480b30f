# SPDX-License-Identifier: BSD-3-Clause
# Sourced after fake.sh: jobs over the fake of libibverbs, with two ranks on each of two ports of the zipper. zipperd and ranks have
# the fake inside.
compile "$ZIP_TOP_SRCDIR/test/lib/stream.c" "$TAP_TMP/stream" || bail_out "stream.c does not compile"
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
(umask 077 && echo "me $key" >"$TAP_TMP/keys")
address() { sed -n "s/^$1=//p" "$TAP_TMP/ready"; }
net_A= net_B= # words of their addresses
# zipper OPTION...: starts a zipperd
zipper() {
	: >"$TAP_TMP/ready"
	background env FAKEVERBS_ONE_POSTER=1 "$ZIPPERD" -o listen="A=fka:1$net_A@127.0.0.1:0" -o listen="B=fkb:1$net_B@127.0.0.1:0" -o key_file="$TAP_TMP/keys" \
		-o module_dir="$TAP_TMP/modules" "$@" --ready-fd 3 3>"$TAP_TMP/ready" 2>"$TAP_TMP/zipperd"
	zipper=$!
	wait_for 60 grep -q '^$' "$TAP_TMP/ready" || bail_out "zipperd did not start: $(cat "$TAP_TMP/zipperd")"
}
# part LETTER ARGUMENT...: starts the part's two ranks (or $ranks) by hand; ALSO_LETTER is ",ADDRESS" of another zipper
part() {
	local letter=$1
	shift
	local ports=PORTS_$letter also=ALSO_$letter away=()
	[ -z "${!ports}" ] || away=("${elsewhere[@]}")
	limited 60 env ${!ports:+ZIPPER_PORTS="${!ports}"} ZIPPER_JOB="${job:-job}" ZIPPER_PART="$letter" ZIPPER_PARTS="${parts:-A,B}" ZIPPER_ZIPPERD="$(address "$letter")${!also}" \
		ZIPPER_DEVICE="fk${letter,}:1" ZIPPER_USER=me ZIPPER_KEY="$key" ZIPPER_MODULE_DIR="$TAP_TMP/modules" \
		"$MPIEXEC" -n "${ranks:-2}" -genv LD_PRELOAD "$PRELOAD_LIST" "${away[@]}" "${program:-$TAP_TMP/stream}" "$@" </dev/null >"$TAP_TMP/out${job:-}$letter" 2>&1
}
# bridge NAME ARGUMENT...: runs a job of both parts
bridge() {
	local name=$1 rc
	shift
	part B "$@" &
	second=$!
	part A "$@"
	rc=$?
	wait $second
	is "$name: status" "$rc $?" "0 0" || { diag_file "$TAP_TMP/outA"; diag_file "$TAP_TMP/outB"; diag_file "$TAP_TMP/zipperd"; }
	is "$name: all came" "$(cat "$TAP_TMP/outA" "$TAP_TMP/outB" | grep -c 'rounds$')" 4
}
all_rounds() { [ "$(cat "$TAP_TMP/outA" "$TAP_TMP/outB" 2>/dev/null | grep -c 'rounds$')" = 4 ]; }
end_zipper() {
	kill "$zipper"
	wait "$zipper"
	is "$1: zipperd ends" $? 0
}

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hops over RDMA devices, on the fake of libibverbs: two sites, a network of its own between their zippers. Messages change from
# queue pair to queue pair three times, and the zippers find their ports on the network between them.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/fake.sh"
for program in stream broadcasts; do
	compile "$ZIP_TOP_SRCDIR/test/lib/$program.c" "$TAP_TMP/$program" || bail_out "$program.c does not compile"
done
compile "$ZIP_TOP_SRCDIR/test/programs/p2p/endpoint_threads.c" "$TAP_TMP/endpoint_threads" || bail_out "endpoint_threads.c does not compile"
key=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
(umask 077 && echo "me $key" >"$TAP_TMP/keys")
# at K FABRIC: prints the address of zipper K there
at() { sed -n "s/^$2=//p" "$TAP_TMP/ready.$1"; }
# zipper K FABRIC=DEVICE...: starts a zipper with a way to others on wan
zipper() {
	local k=$1 listen=()
	shift
	for port; do listen+=(-o "listen=$port:1@127.0.0.1:0"); done
	: >"$TAP_TMP/ready.$k"
	background env FAKEVERBS_ONE_POSTER=1 "$ZIPPERD" "${listen[@]}" -o next=wan -o key_file="$TAP_TMP/keys" \
		-o module_dir="$TAP_TMP/modules" "${options[@]}" --ready-fd 3 3>"$TAP_TMP/ready.$k" 2>"$TAP_TMP/zipperd.$k"
	zipper[k]=$!
	wait_for 60 grep -q '^$' "$TAP_TMP/ready.$k" || bail_out "zipperd $k did not start: $(cat "$TAP_TMP/zipperd.$k")"
}
# part LETTER RANKS WAYS PROGRAM...
part() {
	local letter=$1 ranks=$2 ways=$3
	shift 3
	limited 60 env ZIPPER_JOB=job ZIPPER_PART="$letter" ZIPPER_PARTS=A,B ZIPPER_ZIPPERD="$ways" ZIPPER_ENTRIES="A,wan+1 wan+1,B" \
		ZIPPER_DEVICE="fk${letter,}:1" ZIPPER_USER=me ZIPPER_KEY="$key" ZIPPER_MODULE_DIR="$TAP_TMP/modules" \
		"$MPIEXEC" -n "$ranks" -genv LD_PRELOAD "$PRELOAD_LIST" "$@" </dev/null >"$TAP_TMP/out$letter" 2>&1
}
# job NAME PROGRAM...: runs two ranks at each site
job() {
	local name=$1 rc
	shift
	part B 2 "$(at 1 wan | sed "s/^/$(at 2 B)>B>wan>/"),$(at 2 B)" "$@" &
	second=$!
	part A 2 "$(at 1 A),$(at 1 A)>A>wan>$(at 2 wan)" "$@"
	rc=$?
	wait $second
	is "$name: status" "$rc $?" "0 0" ||
		for file in outA outB zipperd.1 zipperd.2; do diag_file "$TAP_TMP/$file"; done
}
end_zippers() { # NAME
	local k
	for k in 1 2; do
		kill "${zipper[k]}"
		wait "${zipper[k]}"
		is "$1: zipperd $k ends" $? 0
	done
	is "$1: nothing that the Verbs do not allow" "$(fakectl complaints)" 0 || { diag_file "$TAP_TMP/zipperd.1"; diag_file "$TAP_TMP/zipperd.2"; }
}
# Each network is of a kind of its own, so that a port of another network reaches nothing.
networks=fka/mw/tds=32,fkw/ib/pkey=0x8005/mw/tds=32,fkb/mw/tds=32
for threads in pair direction; do
	options=(-o threads=$threads)
	fake_fabric $networks
	zipper 1 A=fka wan=fkw
	zipper 2 wan=fkw B=fkb
	job "$threads, large messages" "$TAP_TMP/stream" 300000 4
	is "$threads, large messages: all came" "$(cat "$TAP_TMP/outA" "$TAP_TMP/outB" | grep -c 'rounds$')" 4
	is "$threads: no memory is read over hops" "$(fakectl count read)" 0
	job "$threads, small messages" "$TAP_TMP/stream" 1000 50
	is "$threads, small messages: all came" "$(cat "$TAP_TMP/outA" "$TAP_TMP/outB" | grep -c 'rounds$')" 4
	ZIPPER_ENDPOINTS=3 job "$threads, endpoints" "$TAP_TMP/endpoint_threads" 10
	is "$threads, endpoints: nothing is wrong" "$(cat "$TAP_TMP/outA" "$TAP_TMP/outB" | grep -c -e ' ok$' -e '^No errors$')" 5
	for k in 1 2; do
		is "$threads: zipper $k has queue pairs on both its devices" "$(grep -o ' fk[abw]: [a-z]* endpoint: ' "$TAP_TMP/zipperd.$k" |
			cut -d: -f1 | sort -u | tr -d '\n')" "$(test $k = 1 && echo ' fka fkw' || echo ' fkb fkw')" || diag_file "$TAP_TMP/zipperd.$k"
	done
	end_zippers "$threads"
done
done_testing

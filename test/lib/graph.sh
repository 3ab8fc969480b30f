# SPDX-License-Identifier: BSD-3-Clause
# Zippers that no single one of them joins all clusters, and jobs over them, started by hand. After tap.sh, job.sh and rails.sh.
# start_graph KIND,KIND.. FABRIC,FABRIC...: starts a zipper for each list of fabrics. Addresses are of these kinds, in turns. All
# may connect to all that they can reach. at[k.FABRIC] is the address of zipper k on that fabric
declare -A port
next=yes
start_graph() {
	local k=0 fabrics fabric listen kinds i=0
	IFS=, read -ra kinds <<<"$1"
	shift
	zipper=() port=()
	for fabrics; do
		k=$((k + 1))
		listen=()
		for fabric in ${fabrics//,/ }; do
			case ${kinds[i++ % ${#kinds[@]}]} in
			shm) listen+=(-o "listen=$fabric=shm:$TAP_TMP/sock.$k.$fabric") ;;
			tcp) listen+=(-o "listen=$fabric=tcp:127.0.0.1:0") ;;
			esac
			[ $next = no ] || listen+=(-o "next=$fabric")
		done
		rm -f "ready.$k"
		background "$ZIPPERD" "${listen[@]}" -o key_file="$TAP_TMP/keys" -o join_timeout=$join_timeout -o log_level=info \
			"${options[@]}" -o module_dir="$ZIP_TOP_BUILDDIR/common/.libs" --ready-fd 3 3>"ready.$k" 2>"zipper.$k"
		zipper[k]=$!
		wait_for 20 grep -q '^$' "ready.$k" || { diag_file "zipper.$k"; bail_out "zipperd $k does not start"; }
		for fabric in ${fabrics//,/ }; do port[$k.$fabric]=$(sed -n "s/^$fabric=//p" "ready.$k"); done
	done
}
# way K.FABRIC [FROM.TO K.FABRIC]...: prints the way in the syntax of ZIPPER_ZIPPERD
way() {
	local text=${port[$1]}
	shift
	while [ $# -gt 0 ]; do
		text="$text>${1%.*}>${1#*.}>${port[$2]}"
		shift 2
	done
	echo "$text"
}
# twin NAME PARTS SIZES ADDRESSES PROGRAM RANKS
twin() {
	local k
	JOB_NUMBER=$((JOB_NUMBER + 1))
	native 60 "$6" "./$5" >native 2>&1
	by_hand "$2" "$3" "$4" "./$5"
	is "$1: $5" $? 0 || { for k in ${2//,/ }; do diag_file "err.$k"; done; for k in "${!zipper[@]}"; do diag_file "zipper.$k"; done; }
	is "$1: $5, as natively" "$(cat out.* | LC_ALL=C sort)" "$(LC_ALL=C sort native)"
	rm -f out.* err.*
}

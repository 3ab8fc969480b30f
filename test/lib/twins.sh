# SPDX-License-Identifier: BSD-3-Clause
# Sourced by ompi_twins and standard_twins: all twin tests over other libraries than the MPICH of this machine. A program that needs
# a function which the library lacks is skipped, and so is one that fails natively.
# DIFFERENT lists programs that run in no world, and BESIDE those that do not run in the worlds of $beside: PROGRAM reason.

sum() { printf '%s' "$((${counts[$1]:-0}))"; }
declare -A counts
# all_twins VARIABLE LIBRARY PROGRAM...: each program in each world of $worlds, which VARIABLE names for lib/tap.sh. The last line
# is a row for a table of the documents.
all_twins() {
	local variable=$1 library=$2 name world reason status first failing n=0 total
	shift 2
	total=$#
	for name in "$@"; do
		reason=$(echo "$DIFFERENT" | sed -n "s#^$name ##p")
		[ -z "$reason" ] || { skip "$name" "$reason"; counts[different]=$((counts[different] + 1)); continue; }
		failing=no
		for world in $worlds; do
			case " $beside $failing " in *" $world "*yes*) skip "$name ($world)" "one of them fails natively"; continue ;; esac
			case " $beside " in *" $world "*) reason=$(echo "$BESIDE" | sed -n "s#^$name ##p") ;; esac
			[ -z "$reason" ] || { skip "$name ($world)" "$reason"; break; }
			env "$variable=$world" "$ZIP_TOP_SRCDIR/test/twin" "$ZIP_TOP_SRCDIR/test/$name" >"$TAP_TMP/twin.out" 2>"$TAP_TMP/twin.err"
			status=$?
			first=no
			[ "$world" = "${worlds%% *}" ] && first=yes # a program that compiles for one world compiles for all
			if [ $first = yes ] && grep -qE "^Bail out! .* does not compile" "$TAP_TMP/twin.out"; then
				skip "$name" "it does not compile with $library"
				diag_file "$TAP_TMP/twin.out" 3
				counts[lacks]=$((counts[lacks] + 1))
				break
			elif grep -qE "^not ok .* as one native job" "$TAP_TMP/twin.out"; then
				skip "$name ($world)" "$library fails natively"
				diag_file "$TAP_TMP/twin.out" 12
				counts[native]=$((counts[native] + 1))
				$each_natively || break
				failing=yes
				continue
			elif [ $first = yes ] && grep -q '^1\.\.0' "$TAP_TMP/twin.out"; then
				skip "$name" "$(sed -n 's/^1\.\.0 # SKIP //p' "$TAP_TMP/twin.out")"
				counts[lacks]=$((counts[lacks] + 1))
				break
			fi
			tap_of "$name ($world)" "$TAP_TMP/twin.out" $status "$TAP_TMP/twin.err"
			[ $status = 0 ] && ! grep -q '^not ok' "$TAP_TMP/twin.out" && counts[$world]=$((counts[$world] + 1))
		done
	done
	for world in $worlds; do n=$((n + ${counts[$world]:-0})); done
	[ $n -gt $((total / 2)) ] || fail "most programs run"
	diag "| $library | $total | $(sum lacks) | $(sum native) | $(sum different) |$(for world in $worlds; do printf ' %s |' "$(sum "$world")"; done)"
}

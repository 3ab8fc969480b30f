# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the measuring scripts (bash): runs that take turns, and tables of medians and ratios.

: "${ZIP_TOP_BUILDDIR:?run by make -C bench, or set ZIP_TOP_BUILDDIR and ZIP_TOP_SRCDIR}"
: "${ZIP_TOP_SRCDIR:?}"
ZIP_TOP_BUILDDIR=$(cd "$ZIP_TOP_BUILDDIR" && pwd)
ZIP_TOP_SRCDIR=$(cd "$ZIP_TOP_SRCDIR" && pwd)
MPIEXEC=${MPIEXEC:-mpiexec.mpich}
ZMPIRUN=$ZIP_TOP_BUILDDIR/launch/zmpirun
BENCH=$ZIP_TOP_BUILDDIR/bench
ZIPBENCH=$ZIP_TOP_BUILDDIR/zipbench/zipbench
YIELD=$ZIP_TOP_BUILDDIR/test/.libs/zyield.so # makes native MPI yield while it waits
LIBRARY=$ZIP_TOP_BUILDDIR/libzip/.libs/libzipper.so
LAB=$ZIP_TOP_SRCDIR/test/lab
ROUNDS=${ROUNDS:-5}	# runs of every contestant, in turns
LIMIT=${LIMIT:-60}	# seconds for one run; native MPI can need minutes on busy cores
WORK=$(mktemp -d "${TMPDIR:-/tmp}/zip-bench.XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT
trap 'exit 143' TERM INT HUP
LC_ALL=C
export LC_ALL

# attempt KEY COMMAND...: runs the command, whose status it returns; its output is in $WORK/out
attempt() {
	local key=$1
	shift
	timeout -k 5 "$LIMIT" "$@" </dev/null >"$WORK/out" 2>"$WORK/err"
	local rc=$?
	[ $rc = 0 ] || echo "$key: status $rc$([ $rc = 124 ] && echo " (more than $LIMIT s)"): $(tail -n1 "$WORK/err")" >&2
	return $rc
}
# samples_of KEY: lines "name: value" of the standard input become samples of KEY, except the frame that mpiexec draws around an
# exit code
samples_of() { sed -n "/^=/!s/^\(.*\): \([0-9.]*\)\$/$1\t\1\t\2/p" >>"$WORK/samples"; }
# sample KEY COMMAND...: runs the command; its output becomes samples of KEY
sample() {
	attempt "$@"
	samples_of "$1" <"$WORK/out"
}
# sample_coll KEY COMMAND...: the same for zipbench coll; all its lines go to $CSV if that is set
sample_coll() {
	attempt "$@"
	awk -F, -v key="$1" 'NF == 9 && $2 != "op" { print key "\t" $2 " " $3 "\t" $7 }' "$WORK/out" >>"$WORK/samples"
	[ -z "$CSV" ] || awk -F, 'NF == 9 && $2 != "op"' "$WORK/out" >>"$CSV"
}

# table FORM KEY...: prints medians, one row a name and one column a KEY. Then each other KEY is compared with the first: FORM
# "ratio" divides the first by it, FORM "difference" subtracts the first
table() {
	local form=$1
	shift
	echo "$(date -u '+%F %H:%M') UTC, load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $ROUNDS rounds"
	awk -F'\t' -v form="$form" -v keys="$*" '
	function median(key, name,  n, i, j, t, v) {
		n = split(values[key, name], v, " ")
		if (n == 0)
			return ""
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
				t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
			}
		return v[int((n + 1) / 2)]
	}
	{
		if (!($2 in seen)) { seen[$2] = 1; order[++rows] = $2 }
		values[$1, $2] = values[$1, $2] " " $3
	}
	END {
		n = split(keys, key, " ")
		printf "%-24s", ""
		for (k = 1; k <= n; k++) printf " %12s", key[k]
		for (k = 2; k <= n; k++) printf " %16s", form == "ratio" ? key[1] "/" key[k] : key[k] "-" key[1]
		print ""
		for (r = 1; r <= rows; r++) {
			printf "%-24s", order[r]
			first = median(key[1], order[r])
			for (k = 1; k <= n; k++) {
				m = median(key[k], order[r])
				printf " %12s", m == "" ? "-" : m
			}
			for (k = 2; k <= n; k++) {
				m = median(key[k], order[r])
				if (m == "" || first == "" || m + 0 == 0) printf " %16s", "-"
				else if (form == "ratio") printf " %16.2f", first / m
				else printf " %16.1f", m - first
			}
			print ""
		}
	}' "$WORK/samples"
}

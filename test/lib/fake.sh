# SPDX-License-Identifier: BSD-3-Clause
# Sourced after tap.sh by tests on the fake of libibverbs, which fakeverbs/fabric.h describes. Jobs over it: modules.
[ -e "$ZIP_TOP_BUILDDIR/test/fakeverbs/.libs/fakeverbs.so" ] || skip_all "built without libibverbs"
FAKE_PRELOAD=${RUNTIME:+$RUNTIME:}$ZIP_TOP_BUILDDIR/test/fakeverbs/.libs/fakeverbs.so
export FAKEVERBS_FABRIC=$TAP_TMP/fabric
export ASAN_OPTIONS=verify_asan_link_order=0:$ASAN_OPTIONS
mkdir "$TAP_TMP/modules" || bail_out "no scratch folder"
ln -s "$ZIP_TOP_BUILDDIR/test/fakeverbs/.libs/zipverbs.so" "$ZIP_TOP_BUILDDIR/common/.libs/zipauth.so" "$TAP_TMP/modules"
fakectl() { "$ZIP_TOP_BUILDDIR/test/fakeverbs/fakectl" "$@"; }
# fake_fabric DEVICES: a new fabric, in the syntax of FAKEVERBS
fake_fabric() {
	rm -f "$FAKEVERBS_FABRIC"
	export FAKEVERBS=$1
}
# fake_tap NAME COMMAND...: the results of a test program, with this test's numbers
fake_tap() {
	local name=$1 line rc planned='' seen=0
	shift
	limited 120 env ZIP_TEST_SCALE="${ZIP_TEST_SCALE:-10}" CMOCKA_MESSAGE_OUTPUT=TAP "$@" >"$TAP_TMP/tap" 2>&1
	rc=$?
	while IFS= read -r line; do
		case $line in
		1..*) planned=${line#1..} ;;
		"ok "*SKIP* | "not ok "*"# SKIP"*) seen=$((seen + 1)) ;; # the latter is cmocka's way
		"ok "*) seen=$((seen + 1)); pass "$name: ${line#*ok *[0-9] - }" ;;
		"not ok "*) seen=$((seen + 1)); fail "$name: ${line#*ok *[0-9] - }" ;;
		esac
	done <"$TAP_TMP/tap"
	[ $rc = 0 ] && [ "$planned" = "$seen" ] && return
	fail "$name: runs to its end"
	diag "status $rc, planned ${planned:-nothing}, seen $seen"
	diag_file "$TAP_TMP/tap" 40
}

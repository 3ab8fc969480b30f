# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tap.sh if ZIP_MIXED is set: worlds whose first cluster is this machine as it is, and whose other clusters are roots with
# another release of Debian (test/root), each with its own mpiexec, MPICH and build of this tree. ZIP_MIXED is the list of releases.
# The program's file is the same in all of them, so a program that this machine has compiled runs with another C library and MPICH.

# mixed_hosts LAYOUT: prints the hostfile of that world. TAP_TMP and the folder of the build are seen at the same path everywhere.
mixed_hosts() {
	local launchers=("$MPIEXEC") release n=0 sizes size k
	for release in $ZIP_MIXED; do
		launchers+=("$TAP_TMP/mpiexec.$release")
		cat >"$TAP_TMP/mpiexec.$release" <<END
#!/bin/sh
ROOT_BINDS="$TAP_TMP:$TAP_TMP $ZIP_ROOTS/$release/src/build:$ZIP_TOP_BUILDDIR"
export ROOT_BINDS
exec "$ZIP_TOP_SRCDIR/test/root" in $release "$MPIEXEC" "\$@"
END
		chmod +x "$TAP_TMP/mpiexec.$release"
	done
	IFS=+ read -ra sizes <<<"$1"
	for size in "${sizes[@]}"; do
		printf '#ZIP cluster c%d launcher=fork mpiexec=%s\n127.0.0.%d:%d\n' $((++n)) "${launchers[(n - 1) % ${#launchers[@]}]}" $n "$size"
	done
	printf '#ZIP zipper localhost'
	for ((k = 1; k <= n; k++)); do printf ' c%d=tcp:127.0.0.1' "$k"; done
	echo
}

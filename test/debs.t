#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The packages of debian/, in roots of the releases in ZIP_RELEASES: built from what "make dist" makes, rated by lintian, installed in a
# fresh root, set up by the steps of README.Debian, used, upgraded, removed and purged. Beside them, once, RPM packages. lib/debs.sh is what the roots do. Only in make
# check-packages, as it downloads some 500 MB for each release and takes half an hour.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
: "${ZIP_RELEASES:=bookworm trixie}"
root=$ZIP_TOP_SRCDIR/test/root
export ZIP_ROOTS=${ZIP_ROOTS:-$ZIP_TOP_BUILDDIR/roots}
configured() { sed -n "s/^#define PACKAGE_$1 \"\(.*\)\"/\1/p" "$ZIP_TOP_BUILDDIR/config.h"; }
name=$(configured TARNAME) version=$(configured VERSION)
tarball=$TAP_TMP/${name}_$version.orig.tar.gz
{ env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$ZIP_TOP_BUILDDIR" dist && mv "$ZIP_TOP_BUILDDIR/$name-$version.tar.gz" "$tarball"; } \
	>"$TAP_TMP/made" 2>&1 || { diag_file "$TAP_TMP/made"; bail_out "make dist"; }

# inside ROOT WORD ARGUMENT...: lib/debs.sh does that in the root
inside() {
	cp "$ZIP_TOP_SRCDIR/test/lib/debs.sh" "$ZIP_ROOTS/$1/debs/"
	"$root" in "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash /debs/debs.sh "${@:2}" </dev/null >"$TAP_TMP/said" 2>&1
}
# step NAME ROOT WORD ARGUMENT...
step() {
	inside "${@:2}"
	is "$release: $1" $? 0 && return
	diag_file "$TAP_TMP/said" 60
	return 1
}

# The root with compilers is kept for the next time, as the bare one is.
builder() {
	local build=$release-build
	if [ ! -d "$ZIP_ROOTS/$build" ]; then
		"$root" bare "$release" && cp -a "$ZIP_ROOTS/$release-bare" "$ZIP_ROOTS/$build.part" && mv "$ZIP_ROOTS/$build.part" "$ZIP_ROOTS/$build" || return
	fi
	rm -rf "${ZIP_ROOTS:?}/$build/debs" && mkdir "$ZIP_ROOTS/$build/debs" && cp "$tarball" "$ZIP_ROOTS/$build/debs/" &&
		cp "$ZIP_TOP_SRCDIR"/test/programs/start/hello.c "$ZIP_ROOTS/$build/debs/"
}
packages() { # RELEASE
	local release=$1 reason build=$1-build fresh=$1-fresh
	reason=$("$root" why "$release-bare")
	[ -z "$reason" ] || { skip "$release" "no root: $reason"; return; }
	builder || { fail "$release: a root to build in"; return; }
	step "what the build needs" $build prepare "$name" "$version" || return
	step "they are built" $build build || return
	step "lintian finds no error" $build rate
	step "a program with libzipcast-dev" $build zipcast
	[ "$release" != "${ZIP_RELEASES%% *}" ] || step "RPM packages, used where they are unpacked" $build rpms
	step "the next version" $build next || return

	rm -rf "${ZIP_ROOTS:?}/$fresh" && cp -a "$ZIP_ROOTS/$release-bare" "$ZIP_ROOTS/$fresh" && mkdir "$ZIP_ROOTS/$fresh/debs" &&
		cp -r "$ZIP_ROOTS/$build"/debs/{first,second,hello} "$ZIP_ROOTS/$fresh/debs/" || { fail "$release: a fresh root"; return; }
	step "what they depend on" $fresh depend || return
	step "they are installed" $fresh install first || return
	step "nothing is started" $fresh idle
	step "zipperd without addresses says what is missing" $fresh unconfigured
	step "a job of two clusters" $fresh local_job
	step "the steps of README.Debian" $fresh configure
	step "a job over that zipperd" $fresh job
	step "they are upgraded" $fresh install second
	step "the version is the next one" $fresh is_version second
	step "the administrator's configuration stays" $fresh configured
	step "a job after that" $fresh job
	step "they are removed" $fresh remove
	step "what is left: the configuration" $fresh left_by_remove
	step "they are purged" $fresh purge
	step "nothing is left" $fresh left_by_purge
	rm -rf "${ZIP_ROOTS:?}/$fresh"
}
for release in $ZIP_RELEASES; do packages "$release"; done
done_testing

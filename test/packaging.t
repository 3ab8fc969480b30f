#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The recipes of packages, without their tools: all are of this version, recipes in Python are that, options that they give configure
# exist, and the module file loads what is installed. make check-packages builds packages (debs.t).
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
packaging=$ZIP_TOP_SRCDIR/packaging debian=$ZIP_TOP_SRCDIR/debian
configured() { sed -n "s/^$1 = //p" "$ZIP_TOP_BUILDDIR/Makefile"; }
version=$(configured VERSION)
python=$(configured PYTHON)
spec=$packaging/rpm/leiden-zipper.spec spack=$packaging/spack/package.py
easybuild=("$packaging"/easybuild/*.eb)

# --- one version
is "NEWS: the last release" "$(sed -nE '/^## .* \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$/{s/^## (.*) \(.*/\1/p;q}' "$ZIP_TOP_SRCDIR/NEWS")" "$version"
is "debian/changelog: version" "$(sed -n '1s/.*(\(.*\)-[0-9]*).*/\1/p' "$debian/changelog")" "$version"
is "the spec file: version" "$(sed -n 's/^Version: *//p' "$spec")" "$version"
is "the spec file: the last change" "$(sed -n '/^%changelog/,$s/.* - \(.*\)-[0-9]*$/\1/p' "$spec" | head -n 1)" "$version"
is "Spack's recipe: version" "$(sed -n 's/^ *version("\([^"]*\)".*/\1/p' "$spack" | head -n 1)" "$version"
is "EasyBuild's recipe: version" "$(sed -n "s/^version = '\(.*\)'/\1/p" "${easybuild[0]}")" "$version"
is "EasyBuild's recipe: name of the file" "$(basename "${easybuild[*]}")" \
	"leiden-zipper-$version-$(sed -n "s/^toolchain = {'name': '\(.*\)', 'version': '\(.*\)'}/\1-\2/p" "${easybuild[0]}").eb"

# --- recipes in Python
for recipe in "$spack" "${easybuild[0]}"; do
	ok "$(basename "$recipe") is Python" "$python" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$recipe"
done

# --- users
is "the spec file makes the users of sysusers.d" "$(sed -n '/^%pre -n zipperd/,/^done/s/^for user in \(.*\); do/\1/p' "$spec")" \
	"$(sed -n 's/^u \([a-z]*\) .*/\1/p' "$ZIP_TOP_SRCDIR/etc/zipper.sysusers" | xargs)"

# --- options of configure
"$ZIP_TOP_SRCDIR/configure" --help >help
options_in() { grep -v '^ *#' "$1" | grep -oE -- '--(with|without|enable|disable)-[a-z0-9]+' | sort -u; }
unknown() { # FILE: its options that configure --help does not have
	local option
	for option in $(options_in "$1"); do
		grep -qE -- "--(with|without|enable|disable)-${option#--*-}\b" help || echo "$option"
	done
}
for recipe in "$debian/rules" "$spec" "${easybuild[0]}"; do
	is "$(basename "$recipe"): configure knows the options" "$(unknown "$recipe")" ""
	ok "$(basename "$recipe"): there are some" [ -n "$(options_in "$recipe")" ]
done
is "package.py: configure knows its variants" "$(sed -n 's/^ *variant("\([a-z0-9]*\)".*/\1/p' "$spack" | while read -r variant; do
	grep -q -- "--without-$variant\b" help || echo "$variant"
done)" ""

# --- the module file, in an installation that was moved
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$ZIP_TOP_BUILDDIR" install DESTDIR="$TAP_TMP/root" >made 2>&1 ||
	{ diag_file made; bail_out "make install"; }
mkdir "$TAP_TMP/elsewhere"
moved=$(cd "$TAP_TMP/elsewhere" && pwd -P)/zipper
mv "$TAP_TMP/root$(configured prefix)" "$moved"
modules=$moved/share/leiden-zipper/modulefiles
# loads COMMAND...: sh reads what that module command prints
loads() {
	local name=$1
	shift
	(
		MODULEPATH=$modules
		export MODULEPATH
		eval "$("$@" load leiden-zipper)"
		{ command -v zmpirun zipperd && zmpirun --version; } >found 2>&1
		echo "$LD_LIBRARY_PATH" >libraries
	)
	is "$name: the programs are found" "$(head -n 2 found)" "$moved/bin/zmpirun
$moved/sbin/zipperd" || diag_file found
	is "$name: they start" "$(sed -n '3p' found)" "$("$moved/bin/zmpirun" --version | head -n 1)"
	ok "$name: libzipcast is found" test -e "$(cut -d: -f1 libraries)/libzipcast.so"
}
if command -v modulecmd >/dev/null; then
	loads "Environment Modules" modulecmd sh
else
	skip "the module file" "no Environment Modules here"
fi
if [ -e /usr/share/lmod/lmod/libexec/lmod ]; then
	loads "Lmod" /usr/share/lmod/lmod/libexec/lmod bash
else
	skip "the module file" "no Lmod here"
fi
done_testing

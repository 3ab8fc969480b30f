#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The documents name files and functions that exist, link to pages that exist, and ARCHITECTURE.md stays short.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$ZIP_TOP_SRCDIR" || exit 99
PYTHON=$(sed -n 's/^PYTHON = //p' "$ZIP_TOP_BUILDDIR/libzip/Makefile")

documents=(README.md ARCHITECTURE.md HACKING.md docs/*.md)
for file in test/programs/README test/vm/README $(find . -name README.md -not -path './build*' -not -path './_*' -not -path './.*' | sed 's|^\./||' | sort); do
	[ "$file" = README.md ] || documents+=("$file")
done
# all paths of the tree, once
find . \( -name '.?*' -o -name 'build*' -o -name '_*' -o -name autom4te.cache \) -prune -o -print | sed 's|^\./||' | sort >"$TAP_TMP/tree"
sed 's|.*/||' "$TAP_TMP/tree" | sort -u >"$TAP_TMP/names"
git ls-files '*.c' '*.h' '*.py' '*.am' 2>/dev/null >"$TAP_TMP/sources"
[ -s "$TAP_TMP/sources" ] || grep -E '\.(c|h|py|am)$' "$TAP_TMP/tree" >"$TAP_TMP/sources"
xargs grep -hoE '\bz[a-z0-9]*_[a-z0-9_]+\b' <"$TAP_TMP/sources" | sort -u >"$TAP_TMP/identifiers"

# exists WORD FOLDER: the path of a file or a module from the top, from the document's folder or the one above it, or a file's name
# alone; '*' as in the shell
exists() {
	local word=${1%/} folder=$2
	case "$word" in
	build) return 0 ;; # of quickstart
	build/*) [ -e "$ZIP_TOP_BUILDDIR/${word#build/}" ] && return ;;
	*NAME* | *TOPIC* | *PART* | *FILE.* | *_X.*) return 0 ;; # a place for a name
	.*) [ -e "$word" ] || [ ! -e .git ] && return ;; # not in the distribution
	esac
	compgen -G "$word" >/dev/null || compgen -G "$folder/$word" >/dev/null && return
	[ -e "$folder/../$word" ] || [ -e "$word.h" ] || [ -e "$folder/$word.h" ] || [ -e "$folder/$word.c" ] && return
	[ -e "$ZIP_TOP_BUILDDIR/$word" ] && return
	case "$word" in
	*/*) return 1 ;;
	*) grep -qxF "$word" "$TAP_TMP/names" || compgen -G "$ZIP_TOP_BUILDDIR/*/*/$word" >/dev/null ||
		compgen -G "$ZIP_TOP_BUILDDIR/*/$word" >/dev/null ;;
	esac
}
# what stands in backquotes on a page: words that look like a path of ours
paths() {
	grep -v '^    ' "$1" | grep -oE '`[^` ]+`' | tr -d '`' | sort -u |
		grep -E '^([a-z_]+(/[A-Za-z0-9_.*-]+)+/?|[a-z]+/|\.ci/run|\.clang-format|[A-Za-z0-9_*-]+\.(c|h|t|am|py|md|order|tab|sh))$'
}
for page in "${documents[@]}"; do
	folder=$(dirname "$page") missing=
	while read -r word; do
		exists "$word" "$folder" || missing="$missing $word"
	done < <(paths "$page")
	is "$page: the paths that it names exist" "$missing" ""
	missing=
	while read -r link; do
		[ -e "$folder/$link" ] || missing="$missing $link"
	done < <(grep -oE '\]\([^)#:]+\)' "$page" | sed 's/^](//; s/)$//')
	is "$page: its links lead to files" "$missing" ""
	is "$page: the functions that it names exist" "$(grep -oE '`z[a-z0-9]*_[a-z0-9_]+`' "$page" | tr -d '`' | sort -u |
		comm -23 - "$TAP_TMP/identifiers" | tr '\n' ' ')" ""
done
# a folder of more than ten files of C, and every part, has a page, which names its modules
for folder in $(grep -v '^#' test/layers.order | sed 'p; s|/.*||' | sort -u) test/lib test/fakeverbs test/unit/* test/programs/*; do
	[ -d "$folder" ] || continue
	modules=$(cd "$folder" && ls ./*.[ch] 2>/dev/null | sed 's|^\./||; s|\.[ch]$||' | sort -u)
	[ "$(cd "$folder" && ls ./*.[ch] 2>/dev/null | wc -l)" -gt 10 ] || [ "${folder%%/*}" = "$folder" ] || continue
	missing=
	for module in $modules; do
		grep -qE "(^|[^a-z_])$module([^a-z_]|\$)" "$folder/README.md" 2>/dev/null || missing="$missing $module"
	done
	[ -e "$folder/README.md" ] || missing="the page"
	is "$folder/README.md names every module" "$missing" ""
done
# --- the lines that troubleshooting quotes are printed by the programs
grep -E '^(common|libzip|zipperd|launch|zipstat)/.*\.[ch]$' "$TAP_TMP/sources" >"$TAP_TMP/programs"
quoted() { xargs "$PYTHON" -B test/lib/quoted.py "$1" <"$TAP_TMP/programs"; }
quoted docs/troubleshooting.md >"$TAP_TMP/quoted"
is "docs/troubleshooting.md: the programs print the lines that it quotes" "$? $(grep '^not ' "$TAP_TMP/quoted")" "0 "
matches "... 60 of them or more" "$TAP_TMP/quoted" '^([6-9]|1[0-9])[0-9] quoted$'
# shellcheck disable=SC2016 # as on the page
printf '| line | cause |\n| --- | --- |\n| `zipperd at <address> refuses the key of <user>` | |\n' >"$TAP_TMP/wrong.md"
is "... and another line is found out" "$(quoted "$TAP_TMP/wrong.md")" "not in the sources: zipperd at <address> refuses the key of <user>
1 quoted"
protocols=$(sed -nE 's/^#define ZCTL_PROTOCOL(_OLDEST)? ([0-9]+).*/\2/p' common/control/ctl.h | sort -n | xargs)
is "docs/upgrading.md: the protocols that zipperd serves" "$(sed -n 's/.*zipperd serves protocols \([0-9]*\) to \([0-9]*\).*/\1 \2/p' docs/upgrading.md)" "$protocols"
words=$(wc -w <ARCHITECTURE.md)
ok "ARCHITECTURE.md has at most 2,000 words ($words)" test "$words" -le 2000
is "no half of a merge is left" "$(xargs -d '\n' grep -IlE -d skip '^(<<<<<<<|>>>>>>>)( |$)' <"$TAP_TMP/tree")" ""
done_testing

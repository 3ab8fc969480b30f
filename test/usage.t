#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The command lines of all programs: --help, --version, and one style of errors; the manual pages name the same options.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"

MAN=$ZIP_TOP_SRCDIR/man
cd "$TAP_TMP" || exit 99

# The options that a --help lists, without dashes.
listed() { sed -nE 's/^ {2,6}(-.*)$/\1/p' "$1" | sed -E 's/ {2,}[^-].*//' | grep -oE -- '(^|[ ,])--?[A-Za-z][A-Za-z-]*' | sed -E 's/^[ ,]*-+//'; }
commands_of() { sed -nE 's/^  ([a-z_]+) .*/\1/p' "$1"; }
lacking() { # FILE-OF-HELP PAGE...: options that no page has
	local option
	for option in $(listed "$1"); do
		case $option in h | help | V | version) continue ;; esac
		cat "${@:2}" | grep -Eq -- "(Fl|,) -?$option( |\$)" || echo "$option"
	done
}
refused() { # NAME LINE PROGRAM ARGUMENT...: status 2, and exactly this line
	local name=$1 line=$2
	shift 2
	"$@" >out 2>err
	is "$name" "$? $(wc -c <out) $(cat err)" "2 0 $line"
}
shows_version() { "$@" --version | grep -Eqx '[a-z]+ \(.*\) [0-9].*'; }
isnt_zero() { ok "$1" test "$2" != 0; }
# shellcheck source=/dev/null
. "$ZIP_TOP_SRCDIR/etc/completion.bash"
# complete_words PROGRAM WORD...: what bash offers for the last word
complete_words() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_leiden_zipper
	printf '%s\n' "${COMPREPLY[@]}" | sort
}
# completes FILE-OF-HELP PROGRAM [COMMAND]: bash offers the options of the help, no others
completes() {
	is "$(basename "$2")${3:+ $3}: bash completes its options" "$(complete_words "${@:2}" - | sed 's/^-*//' | sort | xargs)" \
		"$(listed "$1" | sort | xargs)"
}
# words PROGRAM [COMMAND]: what holds for every command line
words() {
	local name
	name=$(basename "$1")${2:+ $2}
	"$@" --help >help 2>err
	is "$name --help" "$? $(wc -c <err) $(head -c7 help)" "0 0 usage: "
	# a path, which --prefix makes as long as it likes, stands on a line of its own
	is "$name --help has no long line" "$(awk 'length > 120 && NF > 1' help)" ""
	ok "$name --version" shows_version "$@"
	refused "$name: an option that there is not" "$name: there is no option --nonsense; try $name --help" "$@" --nonsense
	refused "$name: an option that is nearly there" "$name: there is no option --hlep; did you mean --help?" "$@" --hlep
	refused "$name: a value too many" "$name: --help takes no value" "$@" --help=x
	completes help "$@"
	"$@" --help >/dev/full 2>err
	isnt_zero "$name: help for which there is no room" $?
	is "... the line" "$(cat err)" "$name: standard output: No space left on device"
}

ZIPMAP=$ZIP_TOP_BUILDDIR/mapper/zipmap
"$ZIPMAP" --help >all
for command in $(commands_of all); do
	words "$ZIPMAP" "$command"
	page=$MAN/zipmap-$command.1
	case $command in draw | plot | convert) page=$(grep -l "zipmap $command" "$MAN"/zipmap-*.1) ;; esac
	# shellcheck disable=SC2086 # several pages
	is "zipmap $command: the manual has all options" "$(lacking help $page)" ""
done
ok "zipmap --version" shows_version "$ZIPMAP"
refused "zipmap: a command that is nearly there" "zipmap: there is no command shwo; did you mean show?" "$ZIPMAP" shwo
refused "zipmap: a command that there is not" "zipmap: there is no command xyzzy; try zipmap --help" "$ZIPMAP" xyzzy
refused "zipmap: no command" "zipmap: no command; try zipmap --help" "$ZIPMAP"
refused "zipmap: the file is missing" "zipmap show: missing argument: GRAPH; try zipmap show --help" "$ZIPMAP" show
refused "zipmap: a file too many" 'zipmap show: unexpected argument "b"; try zipmap show --help' "$ZIPMAP" show a b

ZIPBENCH=$ZIP_TOP_BUILDDIR/zipbench/zipbench
"$ZIPBENCH" --help >all
for command in $(commands_of all); do
	words "$ZIPBENCH" "$command"
	is "zipbench $command: the manual has all options" "$(lacking help "$MAN/zipbench.1")" ""
done
ok "zipbench --version" shows_version "$ZIPBENCH"
refused "zipbench: a command that is nearly there" "zipbench: there is no command tnue; did you mean tune?" "$ZIPBENCH" tnue

words "$ZIP_TOP_BUILDDIR/zipstat/zipstat"
is "zipstat: the manual has all options" "$(lacking help "$MAN/zipstat.1")" ""

words "$ZIPPERD"
is "zipperd: the manual has all options" "$(lacking help "$MAN/zipperd.8")" ""

"$ZMPIRUN" --help >help
completes help "$ZMPIRUN"
is "a command" "$(complete_words "$ZIPMAP" s | xargs)" show
is "a value of a few words" "$(complete_words "$ZIPMAP" map --zippers "" | xargs)" "all job"
: >only
chmod +x only
is "the program of zmpirun" "$(complete_words "$ZMPIRUN" -n 2 --clusters 2 ./onl | xargs)" ./only
is "a word of the program's" "$(complete_words "$ZMPIRUN" -n 2 -l true - | xargs)" ""
is "zmpirun: the manual has all options" "$(lacking help "$MAN/zmpirun.1")" ""

# --- quickstart on a system without apt: it lists what the build needs, and begins nothing
mkdir -p strange/bin
cp "$ZIP_TOP_SRCDIR/quickstart" strange/
for name in bash cat dirname id mkdir sed wc; do ln -s "$(command -v $name)" strange/bin/; done
PATH=$PWD/strange/bin MPICC='' MPIEXEC='' strange/quickstart run >out 2>err
is "quickstart without apt: status" $? 1
is "quickstart without apt: no command is not found" "$(cat err)" ""
matches "quickstart without apt: it says so" out '^quickstart: this system has no apt, '
is "quickstart without apt: what is needed" "$(grep -cE '^    (make|autoconf|pkg-config|Python 3|MPICH 4.0 to 5.0.*|uthash)$' out)" 6 || diag_file out
for name in make autoreconf automake libtoolize pkg-config python3 mpicc.mpich mpiexec.mpich cc; do
	printf '#!/bin/bash\nexit 0\n' >strange/bin/$name
	chmod +x strange/bin/$name
done
PATH=$PWD/strange/bin MPICC='' MPIEXEC='' strange/quickstart install >out 2>err
is "quickstart without apt, but with all that is needed: it goes on" "$? $(cat out err)" "0 "
done_testing

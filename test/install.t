#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# "make install": everything works without the build tree, has a manual page, and "make uninstall" removes it.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$TAP_TMP" || exit 99
# made MAKE-ARGUMENT...: runs make in the build tree, not as a part of the make that runs this test
made() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$ZIP_TOP_BUILDDIR" "$@" >made.log 2>&1 || { diag_file made.log; false; }; }
# The paths are compiled in. If they lead into the build tree (./quickstart), everything is really installed; other places are not
# ours to write.
files_in() { find "$1" ! -type d 2>/dev/null; }
prefix=$(sed -n 's/^prefix = //p' "$ZIP_TOP_BUILDDIR/Makefile")
DESTDIR=$TAP_TMP/root real=
[[ $prefix != "$ZIP_TOP_BUILDDIR"/* || -n $(files_in "$prefix") ]] || DESTDIR= real=1
root=$DESTDIR$prefix
ok "make install" made install DESTDIR="$DESTDIR"

# --- each program has its page, and each page its program; zipmap's commands have pages of their own
programs=$(find "$root/bin" "$root/sbin" -type f -printf '%f\n' | sort)
pages=$(find "$root/share/man" -name '*.[18]' -printf '%f\n' | sed 's/\..$//' | grep -v ^zipmap- | sort)
is "every program has a page, and every page a program" "$pages" "$programs"
is "the header has one" "$(ls "$root/share/man/man3") $(ls "$root/include")" "zipcast.3 zipcast.h"
is "nobody else's libz is touched" "$(find "$root" -name 'libzip.*' -o -name zip.h)" ""
is "no program looks for libraries in the build tree" "$(find "$root/bin" "$root/sbin" "$root/lib" "$root/libexec" -type f \
	-exec sh -c 'readelf -d "$1" 2>/dev/null | grep -qE "R(UN)?PATH.*/(common|libzip|zipcast)/" && echo "$1"' - {} \;)" ""

# --- the steps in zipperd(8)
made_with() { sed -n "s/^$1 = //p" "$ZIP_TOP_BUILDDIR/etc/Makefile" | sed -e "s|\${prefix}|$prefix|" -e "s|\${exec_prefix}|$prefix|"; }
sysconfdir=$(made_with sysconfdir)
page=$root/share/man/man8/zipperd.8
sed -n '/^\.Sh EXAMPLES/,/^The unit/s/^# //p' "$page" >steps
is "zipperd(8) names the folders of this build" "$(grep -o '/[^ ]*/zipper[^ ]*' steps | sort -u)" "$(sort -u <<END
$sysconfdir/zipper
$sysconfdir/zipper/
$sysconfdir/zipper/keys
$prefix/lib/systemd/system/zipperd.service
$prefix/lib/sysusers.d/zipper.conf
$prefix/sbin/zipperd
$prefix/share/doc/leiden-zipper/examples/zipperd.conf
END
)"
is "the example has the keys there" "$(grep ^key_file "$root/share/doc/leiden-zipper/examples/zipperd.conf")" \
	"key_file = $sysconfdir/zipper/keys"
ok "what it starts is there" test -f "$root/lib/systemd/system/zipperd.service"
for unit in zipperd zipstat; do
	cp "$root/lib/systemd/system/$unit.service" $unit.service
	is "$unit.service starts what is installed" "$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' $unit.service)" \
		"$(cd "$root" && ls -d bin/$unit sbin/$unit 2>/dev/null | sed "s|^|$prefix/|")"
	# "offline" reads the unit alone. The rating counts from 0, safe, to 10.
	if command -v systemd-analyze >/dev/null && systemd-analyze --help | grep -q -- --offline; then
		systemd-analyze security --offline=true --threshold=20 ./$unit.service >rated 2>&1
		is "systemd rates the exposure of $unit.service at most 2.0" $? 0 || diag_file rated
	else
		skip "systemd rates the exposure of $unit.service at most 2.0" "no systemd-analyze that reads a unit alone"
	fi
done
is "its documents are there" "$(find "$root/share/doc/leiden-zipper" -maxdepth 1 -type f -printf '%f\n' | sort)" "NEWS
README.md
SECURITY.md"
is "the users of the units are made by what is installed" "$(sed -n 's/^User=//p' zipperd.service zipstat.service)" \
	"$(awk '$1 == "u" { print $2 }' "$root/lib/sysusers.d/zipper.conf")"
# --- the steps in zipstat(1)
is "zipstat(1) names the folders of this build" "$(grep -o '/[^ ]*/zipper[^ ]*\|/[^ ]*/zipstat[^ ]*' "$root/share/man/man1/zipstat.1" | sort -u)" "$(sort -u <<END
$sysconfdir/zipper/
$sysconfdir/zipper/keys
$sysconfdir/zipper/zipperd.conf
$sysconfdir/zipper/zipstat.conf
$sysconfdir/zipper/zipstat.key
$prefix/lib/systemd/system/zipstat.service
$prefix/lib/sysusers.d/zipper.conf
$prefix/sbin/zipperd
$prefix/share/doc/leiden-zipper/examples/zipstat.conf
END
)"
if [[ -n $real && $sysconfdir == "$prefix"/* ]]; then
	grep -vE '^(systemctl|systemd-sysusers|chown)' steps >steps.sh # these would change this machine
	is "the steps lead to a configuration" "$(bash -e steps.sh 2>&1)" "$sysconfdir/zipper/zipperd.conf: ok"
	rm -r "$sysconfdir/zipper"
else
	skip "the steps lead to a configuration" "its prefix is not in the build tree or exists"
fi

# --- What is installed works, in its place and after a move as a whole. With DESTDIR it is not in its place, so it has been moved already.
works() { # WHERE ROOT
	local where=$1 root=$2 zmpirun=$2/bin/zmpirun
	limited 120 "$zmpirun" --clusters 2 -n 4 ./hello >out 2>err
	is "$where: a job" "$? $(grep -c '^hello.* of 4' out)" "0 4" || diag_file err
	limited 120 "$zmpirun" --clusters 2 -n 2 ./whose >out 2>err
	is "$where: its ranks have the library that is installed" "$(grep -v '^$' out | sort -u)" "$root/lib/leiden-zipper/libzipper.so
$root/lib/leiden-zipper/zipauth.so" || diag_file err
	limited 120 "$zmpirun" --clusters 2 -n 2 "$root/bin/zipbench" coll --ops barrier --seconds 0 --least 3 >out 2>err
	is "$where: zipbench finds its program" "$? $(wc -l <out)" "0 2" || diag_file err
	limited 120 env PATH="$root/bin:$PATH" zmpirun --clusters 2 -n 4 ./hello >out 2>err
	is "$where: a job, by PATH" "$? $(grep -c '^hello.* of 4' out)" "0 4" || diag_file err
	is "$where: modules of zipperd" "$("$root/sbin/zipperd" --print-config -o listen=a,b=tcp:127.0.0.1:0 -o key_file=x | grep ^module_dir)" \
		"module_dir = $root/lib/leiden-zipper"
	limited 120 "$zmpirun" --check --clusters 2 ./hello >out 2>err
	is "$where: a check of what a job needs" "$? $(tail -n 1 out)" "0 A job would run." || diag_file out
	printf '#include <zipcast.h>\nvoid *volatile used = (void *)zipcast_open;\nint main(void) { return used == 0; }\n' >cast.c
	# shellcheck disable=SC2046 # words
	ok "$where: a program with zipcast.h, by pkg-config" ${CC:-gcc} cast.c -o cast \
		$(PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config "${@:3}" --cflags --libs zipcast)
	LD_LIBRARY_PATH=$root/lib ok "$where: it starts" ./cast
}
if [ "${SANITIZED:-none}" = none ]; then
	unset ZIPPER_MODULE_DIR ZMPIRUN_MPIEXEC ZMPIRUN_ZIPPERD ZMPIRUN_LIBZIPPER ZMPIRUN_PROBE
	compile "$ZIP_TOP_SRCDIR/test/programs/start/hello.c" hello || bail_out "hello.c does not compile"
	cat >whose.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
/* Which of our files are in this process? */
int main(int argc, char **argv)
{
	char line[4096];
	MPI_Init(&argc, &argv);
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "libzipper.so") || strstr(line, "/zipauth") || strstr(line, "/zipverbs"))
			puts(strchr(line, '/'));
	MPI_Finalize();
	return 0;
}
END
	compile whose.c whose || bail_out "whose.c does not compile"
	moved=$(pwd -P)/elsewhere/zipper
	if [ -n "$real" ]; then
		works "in its place" "$root"
		limited 300 env PATH="$root/bin:$PATH" zipbench tune --bridge >out 2>err
		is "zipbench tune starts a job" "$? $(grep -c ^bridge out)" "0 1" || diag_file err
	fi
	mkdir elsewhere
	mv "$root" "$moved"
	if [ -e "$prefix/lib/leiden-zipper" ]; then
		skip "moved" "another one is in $prefix"
	else
		works moved "$moved" --define-prefix
		if [[ $sysconfdir == "$prefix"/* ]]; then
			conf=$moved${sysconfdir#"$prefix"}/zipper
			mkdir -p "$conf"
			printf 'listen = a,b=tcp:127.0.0.1:0\nkey_file = %s/keys\n' "$conf" >"$conf/zipperd.conf"
			"$moved/sbin/zipperd" --make-key "$(id -un)" | "$moved/sbin/zipperd" --put-keys
			is "moved: the configuration of zipperd" "$("$moved/sbin/zipperd" -t 2>&1)" "$conf/zipperd.conf: ok"
			printf '#ZIP cluster a launcher=fork\nlocalhost:3\n' >"$conf/zipper.hosts"
			limited 120 "$moved/bin/zmpirun" ./hello >out 2>err
			is "moved: the hostfile of the site" "$? $(grep -c '^hello.* of 3' out)" "0 3" || diag_file err
			rm -r "$conf"
		fi
		ln -s "$moved/bin/zmpirun" ./link
		limited 120 ./link --clusters 2 -n 4 ./hello >out 2>err
		is "moved: zmpirun by a symbolic link" "$? $(grep -c '^hello.* of 4' out)" "0 4" || diag_file err
		mkdir alone && cp "$moved/bin/zmpirun" alone/
		limited 120 alone/zmpirun --clusters 2 -n 4 ./hello >out 2>err
		is "a zmpirun without the others says what it has not found" "$? $(grep -c "$prefix/lib/leiden-zipper/libzipper.so: No such file" err)" "1 1" || diag_file err
	fi
	mv "$moved" "$root"
else
	skip "what is installed works" "it has a sanitizer"
fi

ok "make uninstall" made uninstall DESTDIR="$DESTDIR"
is "nothing is left" "$(files_in "$root")" ""
done_testing

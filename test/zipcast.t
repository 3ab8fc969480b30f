#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libzipcast.so as users see it: its symbols, a program linked with it, nodes that are processes, and a node that dies.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
. "$ZIP_TOP_SRCDIR/test/lib/cast.sh"
header=$ZIP_TOP_SRCDIR/zipcast/zipcast.h

is "it exports what its header declares" \
	"$(nm -D --defined-only "$CAST_LIB/libzipcast.so" | awk '{ print $3 }' | sort | tr '\n' ' ')" \
	"$(grep -oE '\bzipcast_[a-z_]+\(' "$header" | tr -d '(' | sort -u | tr '\n' ' ')"
if command -v c++ >/dev/null; then
	ok "its header is C++, too, of every age" c++ -std=c++98 -pedantic-errors -fsyntax-only -x c++ "$header"
else
	skip "its header is C++, too, of every age" "no C++ compiler"
fi
ok "a program is linked with it" cast_compile || { done_testing; exit; }

for algorithm in chain pipeline; do
	cast_run "tcp, $algorithm" 4 tcp:127.0.0.1:0 $algorithm 1000000 5
	cast_run "shm, $algorithm" 3 "shm:$TAP_TMP/node%d" $algorithm 300001 7
done

# --- one process is killed in the middle: the others hear its name, once
is_under_way() { [ "$(cat "$TAP_TMP"/cast[0-9]* 2>/dev/null | grep -c 'under way')" = "$1" ]; }
for listen in tcp:127.0.0.1:0 "shm:$TAP_TMP/node%d"; do
	for victim in 2 0; do
		cast_start 4 "$listen" pipeline 2000000 0
		ok "${listen%%:*}: under way" wait_for 60 is_under_way 4 || cast_show
		kill -KILL "$(cast_process $victim)"
		cast_wait
		is "${listen%%:*}, $victim killed: status" "$CAST_STATUS" "$(printf '3 3 3 3' | sed "s/3/137/$((victim + 1))")" || cast_show
		is "${listen%%:*}, $victim killed: the others hear its number" \
			"$(cat "$TAP_TMP"/cast[0-3] | grep -c "failed: node $victim ")" 3 || cast_show
		is "${listen%%:*}, $victim killed: the others suspect it" \
			"$(cat "$TAP_TMP"/cast[0-3] | grep -c "suspects member $victim\$")" 3 || cast_show
	done
done

# --- the module that an address of a device needs
cast_start 1 nowhere0:1 pipeline 1000 1
cast_wait
is "a device that is not there: status" "$CAST_STATUS" 2
matches "a device that is not there: why" "$TAP_TMP/cast0" 'cannot open: .*(no RDMA device nowhere0|no verbs on this host|there is no .*/zipverbs\.so)' || cast_show

# --- a module of another installation
echo 'const struct { const char *release; } zverbs_module = { "0.0.0" };' |
	${CC:-gcc} -shared -fPIC -x c - -o "$TAP_TMP/zipverbs.so"
ZIPPER_MODULE_DIR=$TAP_TMP cast_start 1 nowhere0:1 pipeline 1000 1
cast_wait
is "a module of another release: status" "$CAST_STATUS" 2
matches "a module of another release: why" "$TAP_TMP/cast0" 'cannot open: .*/zipverbs.so is of another release' || cast_show
done_testing

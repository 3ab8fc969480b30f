#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Includes point downwards only: common/ includes none of the other folders, and these never each other. Every header
# compiles alone. No file of programs/ is forgotten.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$ZIP_TOP_SRCDIR" || exit 99
top=(common zipcast libzip zipperd launch mapper zipstat)

for folder in "${top[@]}"; do
	[ -d "$folder" ] || continue
	bad=
	while IFS=: read -r file name; do
		# found beside the includer, else in common/, else not ours
		[ -e "$(dirname "$file")/$name" ] || [ -e "common/$name" ] || [ -e "$folder/$name" ] ||
			case $name in native.h | config.h) true ;; *) false ;; esac && continue
		for other in "${top[@]}"; do
			[ "$other" = "$folder" ] && continue
			[ "$other" = common ] && continue
			[ -e "$other/$name" ] && bad="$bad $file includes $name of $other;"
		done
		case $name in ../*) bad="$bad $file includes $name;" ;; esac
	done < <(grep -rHoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+"' --include='*.[ch]' "$folder" |
		sed -E 's/:.*"([^"]+)"/:\1/')
	is "$folder includes only itself and what is below" "$bad" ""
done
is "common includes no mpi.h" "$(grep -rlE '#[[:space:]]*include[[:space:]]+<mpi' common zipcast zipperd launch zipstat | head -n3)" ""

# headers alone
flags=$("$MPICC" -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')
for header in common/*.h common/verbs/*.h zipcast/*.h libzip/*.h zipperd/*.h launch/*.h mapper/*.h zipstat/*.h; do
	[ -e "$header" ] || continue
	if grep -q '<infiniband/' "$header" && ! echo '#include <infiniband/verbs.h>' | ${CC:-gcc} -E -x c - >/dev/null 2>&1; then
		skip "$header compiles alone" "no libibverbs here"
		continue
	fi
	printf '#include "%s"\n' "$(basename "$header")" >"$TAP_TMP/one.c"
	# shellcheck disable=SC2086
	ok "$header compiles alone" "${CC:-gcc}" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -Wno-unused-function \
		-I"$(dirname "$header")" -Icommon -I"$ZIP_TOP_BUILDDIR/libzip" -I"$ZIP_TOP_BUILDDIR" $flags "$TAP_TMP/one.c"
done

for file in test/programs/*.c test/programs/*.f test/programs/*.f90; do
	[ -e "$file" ] || continue
	ok "$file is listed in a Makefile fragment" grep -q "programs/$(basename "$file")" test/*.am
done
for file in $(git ls-files 2>/dev/null '*.[ch]' '*.am' '*.sh' '*.t' | grep -v '^\.'); do
	[ -e "$file" ] && ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' && echo "$file"
done >"$TAP_TMP/nolicence"
is "every file names its licence" "$(cat "$TAP_TMP/nolicence")" ""
done_testing

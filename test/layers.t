#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Includes point downwards only, in the order of layers.order. Every header compiles alone. No file of programs/ is forgotten.
. "${ZIP_TOP_SRCDIR:?}/test/lib/tap.sh"
cd "$ZIP_TOP_SRCDIR" || exit 99
mapfile -t folders < <(grep -v '^#' test/layers.order)

# how deep a folder lies in layers.order
declare -A floor
for i in "${!folders[@]}"; do floor[${folders[i]}]=$i; done
may_include() { # FOLDER HEADER
	local from=$1 to=${2%/*}
	case $2 in config.h | libzip/shim/native.h | libzip/abi/ompi_weak.h) return ;; esac # made by the build
	[ -e "$2" ] && [ -n "${floor[$to]}" ] || return
	[ "${from%%/*}" = "${to%%/*}" ] && { [ "${floor[$to]}" -ge "${floor[$from]}" ]; return; }
	[ "${to%%/*}" = common ] || [ "${from%%/*} $to" = "zipbench zipcast" ]
}
is "every folder of C files has its floor" "$(find "${folders[@]%%/*}" -name '*.[ch]' -printf '%h\n' | sort -u)" \
	"$(printf '%s\n' "${folders[@]}" | sort)"
for folder in "${folders[@]}"; do
	bad=
	while IFS=: read -r file name; do
		may_include "$folder" "$name" || bad="$bad ${file##*/} includes $name;"
	done < <(grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+"' "$folder"/*.[ch] | sed -E 's/:.*"([^"]+)"/:\1/')
	is "$folder includes only itself and what is below" "$bad" ""
done
is "common includes no mpi.h" "$(grep -rlE '#[[:space:]]*include[[:space:]]+<mpi' common zipcast zipperd launch zipstat | head -n3)" ""
# cmocka 2 warns of these, and --enable-werror makes errors of that
is "units assert ranges by test/unit/within.h" "$(grep -rlE '\bassert_(not_)?in_range\(' test/unit zipbench bench)" ""
for folder in "${folders[@]}"; do
	files=("$folder"/*.[ch])
	[ ${#files[@]} -le 45 ] || echo "$folder: ${#files[@]}"
done >"$TAP_TMP/crowded"
is "no folder has more than 45 C files" "$(cat "$TAP_TMP/crowded")" ""

# Headers alone. A header that its own source includes before all others has been compiled alone with that source, if this build
# has its object.
declare -A first built
while read -r object; do
	folder=${object%/*} object=${object##*/}
	built[${folder#./}/${object#*-}]=yes
done < <(cd "$ZIP_TOP_BUILDDIR" && find . -name '*.o' | sed 's|/\.libs/|/|; s|\.o$||')
while IFS=: read -r file header; do
	[ "${file%.c}.h" != "$header" ] || [ -z "${built[${file%.c}]}" ] || first[$header]=yes
done < <(find "${folders[@]}" -maxdepth 1 -name '*.c' -exec awk '/^#include/ { print FILENAME ":" substr($2, 2, length($2) - 2); nextfile }' {} +)
flags=$("$MPICC" -show | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')
for folder in "${folders[@]}"; do
	for header in "$folder"/*.h; do
		[ -e "$header" ] && [ -z "${first[$header]}" ] || continue
		if grep -q '<infiniband/' "$header" && ! echo '#include <infiniband/verbs.h>' | ${CC:-gcc} -E -x c - >/dev/null 2>&1; then
			skip "$header compiles alone" "no libibverbs here"
			continue
		fi
		family=$flags
		if [[ $header == libzip/abi/ompi* ]]; then
			[ -e "$ZIP_TOP_BUILDDIR/libzip/ompi/libzip/abi/ompi_weak.h" ] || { skip "$header compiles alone" "no Open MPI here"; continue; }
			family="-DZIP_ABI_OMPI -DOMPI_BUILDING=1 -I$ZIP_TOP_BUILDDIR/libzip/ompi $("$OMPICC" --showme:incdirs | sed 's/[^ ]*/-I&/g')"
		elif [[ $header == libzip/abi/standard* ]]; then
			family="-DZIP_ABI_STANDARD -I$ZIP_TOP_BUILDDIR/libzip/standard"
			[ -e "$ZIP_TOP_BUILDDIR/libzip/standard/mpi.h" ] || { skip "$header compiles alone" "no MPI standard ABI here"; continue; }
		fi
		echo "#include \"$header\"" >"$TAP_TMP/one.c"
		# shellcheck disable=SC2086
		ok "$header compiles alone" "${CC:-gcc}" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -Wno-unused-function \
			-I. -I"$ZIP_TOP_BUILDDIR" $family "$TAP_TMP/one.c"
	done
done

for file in test/programs/*/*.{c,f,f90}; do
	[ -e "$file" ] || continue
	ok "$file is listed in a Makefile fragment" grep -q "${file#test/}" test/*.am
done
for file in $(git ls-files 2>/dev/null '*.[ch]' '*.am' '*.sh' '*.t' | grep -v '^\.'); do
	[ ! -e "$file" ] || echo "$file"
done >"$TAP_TMP/files"
xargs awk 'function judge() { if (file && !named) print file; file = FILENAME; named = 0 }
	FNR == 1 { judge() } FNR <= 3 && /SPDX-License-Identifier: BSD-3-Clause/ { named = 1 } END { judge() }' <"$TAP_TMP/files" >"$TAP_TMP/nolicence"
is "every file names its licence" "$(cat "$TAP_TMP/nolicence")" ""
done_testing

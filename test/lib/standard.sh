# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tap.sh if ZIP_STANDARD is set: twin programs over the MPI standard ABI. ZIP_STANDARD is mpich or openmpi, whose library all
# clusters have, or both: the native job is MPICH's then, and the clusters have MPICH and Open MPI in turn, for one binary.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# The libraries of that ABI on this machine, as MAKER FILE
standard_libraries() {
	local folder file
	for folder in "$(dirname "$(cc -print-file-name=libmpi_abi.so)")" ${ZIP_STANDARD_LIBS//:/ }; do
		for file in "$folder"/libmpi_abi*.so.*; do
			[ -f "$file" ] && [ ! -L "$file" ] || continue
			case $(readelf -d "$file" 2>/dev/null) in
			*'[libopen_mpi.so'* | *'[libopen-pal.so'*) [ -z "$OMPIRUN" ] || echo "openmpi $file" ;;
			*) echo "mpich $file" ;;
			esac
		done
	done
}
# The words of ZIP_STANDARD that this machine can do
standard_worlds() {
	local have
	have=$(standard_libraries)
	case $have in *mpich\ *openmpi\ * | *openmpi\ *mpich\ *) echo mpich openmpi both ;; *) echo "${have%% *}" ;; esac
}
# A folder for each library, in which it has the name that programs ask for
standard_folders() { # FOLDER
	local maker file name
	standard_libraries | while read -r maker file; do
		name=$(readelf -d "$file" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
		mkdir -p "$1/$maker" && ln -sf "$file" "$1/$maker/$name"
	done
}
standard=$TAP_TMP/standard
standard_folders "$standard"

compile() {
	case $1 in
	*.c) cc -O1 -g -w -pthread -I "$ZIP_TOP_BUILDDIR/libzip/standard" "$1" -o "$2" "$(find "$standard" -name 'libmpi_abi*' | head -n 1)" -lm ;;
	*) return 77 ;;
	esac
}
native() {
	case $ZIP_STANDARD in
	openmpi) LD_LIBRARY_PATH=$standard/openmpi limited "$1" "$OMPIRUN" --oversubscribe --bind-to none -x LD_LIBRARY_PATH -n "$2" "${@:3}" </dev/null ;;
	*) LD_LIBRARY_PATH=$standard/mpich limited "$1" "$MPIEXEC" -n "$2" "${@:3}" </dev/null ;;
	esac
}
merged() {
	local seconds=$1 layout=$2 sizes size words=() makers=(mpich openmpi) n=0
	shift 2
	if [ "$ZIP_STANDARD" != both ]; then
		LD_LIBRARY_PATH=$standard/$ZIP_STANDARD limited "$seconds" "$ZMPIRUN" --clusters "$layout" "$@" </dev/null
		return
	fi
	IFS=+ read -ra sizes <<<"$layout"
	for size in "${sizes[@]}"; do
		[ $n = 0 ] || words+=(:)
		words+=(-n "$size" -env LD_LIBRARY_PATH "$standard/${makers[n++ % 2]}" "$@")
	done
	limited "$seconds" "$ZMPIRUN" --clusters "${layout//+/,}" "${words[@]}" </dev/null
}

# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tap.sh if ZIP_OMPI is set: twin programs over Open MPI. The native job is one of Open MPI; with ZIP_OMPI=all all clusters
# run it, with ZIP_OMPI=some MPICH and Open MPI in turn.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# osc/rdma of Open MPI 4.1.4 often fails on MPI_COMM_SELF here, natively, too: MPI_ERR_WIN. Version 5 has no other component for dynamic
# windows.
case $("$OMPIRUN" --version) in *") 4."*) export OMPI_MCA_osc=^rdma ;; esac
OMPIFC=${OMPIFC:-$(dirname "$OMPICC")/mpifort.openmpi}

mpich_compile() {
	case $1 in
	*.c) "$MPICC" -O1 -w -pthread "$1" -o "$2" -lm ;;
	*) [ -n "$MPIFC" ] || return 77; "$MPIFC" -O1 -w -J "$(dirname "$2")" "$1" -o "$2" ;;
	esac
}
# compile SOURCE OUTPUT: OUTPUT is for Open MPI, OUTPUT.mpich for MPICH
compile() {
	case $1 in
	*.c) "$OMPICC" -O1 -g -w -pthread "$1" -o "$2" -lm ;;
	*) [ -x "$OMPIFC" ] || return 77; "$OMPIFC" -O1 -g -w -J "$(dirname "$2")" "$1" -o "$2" ;;
	esac || return
	[ "$ZIP_OMPI" = all ] || mpich_compile "$1" "$2.mpich"
}
native() {
	limited "$1" "$OMPIRUN" --oversubscribe --bind-to none -n "$2" "${@:3}" </dev/null
}
merged() {
	local seconds=$1 layout=$2 program=$3 sizes size words=() families=('' .mpich) n=0
	shift 3
	if [ "$ZIP_OMPI" = all ]; then
		limited "$seconds" "$ZMPIRUN" --clusters "$layout" "$program" "$@" </dev/null
		return
	fi
	IFS=+ read -ra sizes <<<"$layout"
	for size in "${sizes[@]}"; do
		[ $n = 0 ] || words+=(:)
		words+=(-n "$size" "$program${families[n++ % 2]}" "$@")
	done
	limited "$seconds" "$ZMPIRUN" --clusters "${layout//+/,}" "${words[@]}" </dev/null
}

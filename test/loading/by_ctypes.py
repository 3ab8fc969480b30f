# SPDX-License-Identifier: BSD-3-Clause
"""usage: by_ctypes.py LIBRARY [deep]     MPI from Python, as packages without a compiled part use it. Handles are MPICH's."""
import ctypes
import os
import sys

mode = os.RTLD_NOW | (os.RTLD_DEEPBIND if "deep" in sys.argv[2:] else 0)
mpi = ctypes.CDLL(sys.argv[1], mode=mode)
WORLD, INT, SUM = 0x44000000, 0x4C000405, 0x58000003
rank, size, total = ctypes.c_int(-1), ctypes.c_int(-1), ctypes.c_int(-1)
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
mpi.MPI_Comm_size(WORLD, ctypes.byref(size))
mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(total), 1, INT, SUM, WORLD)
os.write(1, f"rank {rank.value}: of {size.value}, sum {total.value}\n".encode())
mpi.MPI_Finalize()

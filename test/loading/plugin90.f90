! SPDX-License-Identifier: BSD-3-Clause
! A library in Fortran: MPI's Fortran library is loaded with it.
integer(c_int) function run() bind(c)
	use, intrinsic :: iso_c_binding
	implicit none
	include 'mpif.h'
	integer :: rank, ranks, total, ierr

	call MPI_Init(ierr)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
	call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
	print '(a,i0,a,i0,a,i0)', 'rank ', rank, ': of ', ranks, ', sum ', total
	call MPI_Finalize(ierr)
	run = 0
end function

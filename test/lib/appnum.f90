! SPDX-License-Identifier: BSD-3-Clause
! For appnum.t: the attributes MPI_APPNUM and MPI_UNIVERSE_SIZE from Fortran, by the functions of MPI-1 and MPI-2.
program appnum
  use mpi
  implicit none
  integer :: rank, error, old_value
  integer(kind=MPI_ADDRESS_KIND) :: new_value
  integer :: values(4)
  logical :: found
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  values = -1
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, new_value, found, error)
  if (found) values(1) = int(new_value)
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_APPNUM, old_value, found, error)
  if (found) values(2) = old_value
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, new_value, found, error)
  if (found) values(3) = int(new_value)
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, old_value, found, error)
  if (found) values(4) = old_value
  write (*, '(A,I0,A,I0,A,I0,A,I0,A,I0)') 'rank ', rank, ': program ', values(1), ' ', values(2), ', universe ', &
    values(3), ' ', values(4)
  call MPI_Finalize(error)
end program

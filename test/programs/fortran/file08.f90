! SPDX-License-Identifier: BSD-3-Clause
! twin:
! use mpi_f08: a file of all ranks, with a view, both kinds of pointers, and an error.
program file08
  use mpi_f08
  implicit none
  type(MPI_File) :: file
  type(MPI_Datatype) :: every
  type(MPI_Request) :: request
  type(MPI_Group) :: group
  type(MPI_Status) :: status
  integer :: rank, nprocs, i, n, code, class, numbers(10), back(10)
  integer(MPI_OFFSET_KIND) :: bytes, zero = 0

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs)
  numbers = (/ (rank + nprocs * (i - 1), i = 1, 10) /)
  call MPI_File_open(MPI_COMM_WORLD, 'file08.dat', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
       MPI_INFO_NULL, file)
  call MPI_Type_vector(10, 1, nprocs, MPI_INTEGER, every)
  call MPI_Type_commit(every)
  call MPI_File_set_view(file, int(4 * rank, MPI_OFFSET_KIND), MPI_INTEGER, every, 'native', MPI_INFO_NULL)
  call MPI_File_write_all(file, numbers, 10, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, n)
  call MPI_File_sync(file)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_get_size(file, bytes)
  print *, 'rank', rank, 'wrote', n, 'of', bytes
  call MPI_File_set_view(file, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
  call MPI_File_iread_at(file, int(10 * rank, MPI_OFFSET_KIND), back, 10, MPI_INTEGER, request)
  call MPI_Wait(request, status)
  print *, 'rank', rank, 'reads', back
  call MPI_File_read_ordered(file, back, 3, MPI_INTEGER, status)
  print *, 'rank', rank, 'in order', back(1:3)
  call MPI_File_get_group(file, group)
  call MPI_Group_size(group, n)
  print *, 'rank', rank, 'of', n
  call MPI_Group_free(group)
  call MPI_Type_free(every)
  call MPI_File_close(file)
  call MPI_File_open(MPI_COMM_WORLD, 'file08.dat', MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
  call MPI_Error_class(code, class)
  print *, 'rank', rank, class == MPI_ERR_NO_SUCH_FILE
  call MPI_Finalize()
end program file08

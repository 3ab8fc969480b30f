! SPDX-License-Identifier: BSD-3-Clause
! Error handlers from Fortran: that of the communicator for a receive; for a wait that of the world, from MPICH 4.2 on that of the
! communicator, too. The class is that in the handler, as MPICH 5 returns success after it.
module handlers
  use mpi
  implicit none
  integer :: of_world = 0, of_copy = 0, class = -1, ignored
contains
  subroutine handle_world(comm, code)
    integer :: comm, code
    of_world = of_world + 1
    call MPI_Error_class(code, class, ignored)
  end subroutine
  subroutine handle_copy(comm, code)
    integer :: comm, code
    of_copy = of_copy + 1
    call MPI_Error_class(code, class, ignored)
  end subroutine
end module

program errors90
  use mpi
  use handlers
  implicit none
  integer :: ierr, rank, nprocs, from, copy, world_handler, copy_handler, got, request, room(1)
  integer :: status(MPI_STATUS_SIZE), data(4)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
  call MPI_Comm_create_errhandler(handle_world, world_handler, ierr)
  call MPI_Comm_create_errhandler(handle_copy, copy_handler, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, world_handler, ierr)
  call MPI_Comm_set_errhandler(copy, copy_handler, ierr)
  call MPI_Errhandler_free(copy_handler, ierr)
  data = rank
  do from = 0, nprocs - 2
     if (rank == from) then
        call MPI_Send(data, 4, MPI_INTEGER, nprocs - 1, 1, copy, ierr)
        call MPI_Send(data, 4, MPI_INTEGER, nprocs - 1, 1, copy, ierr)
     else if (rank == nprocs - 1) then
        class = -1
        call MPI_Recv(room, 1, MPI_INTEGER, from, 1, copy, status, ierr)
        print *, 'receive from', from, class == MPI_ERR_TRUNCATE, of_world, of_copy
        class = -1
        call MPI_Irecv(room, 1, MPI_INTEGER, from, 1, copy, request, ierr)
        call MPI_Wait(request, status, ierr)
        print *, 'wait for', from, class == MPI_ERR_TRUNCATE, of_world, of_copy
     end if
  end do
  call MPI_Comm_get_errhandler(MPI_COMM_WORLD, got, ierr)
  print *, 'rank', rank, got == world_handler
  call MPI_Errhandler_free(got, ierr)
  call MPI_Errhandler_free(world_handler, ierr)
  call MPI_Comm_free(copy, ierr)
  call MPI_Finalize(ierr)
end program

! SPDX-License-Identifier: BSD-3-Clause
! twin: timeout=60
! use mpi: persistent and matched messages, wildcards, vector collectives, nonblocking collectives.
program fortran90
  use mpi
  implicit none
  integer :: ierr, rank, nprocs, i, right, left, message, count, dup, request, n
  integer :: status(MPI_STATUS_SIZE), requests(2), statuses(MPI_STATUS_SIZE, 2), outcount
  integer, allocatable :: counts(:), displs(:), mine(:), all(:), table(:), turned(:), indices(:)
  real(8) :: box(3), sums(3)
  logical :: flag, inter
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=20) :: text

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  right = mod(rank + 1, nprocs)
  left = mod(rank + nprocs - 1, nprocs)
  allocate (counts(nprocs), displs(nprocs), mine(rank + 1), table(nprocs), turned(nprocs), indices(2))

  ! persistent requests, started three times
  call MPI_Recv_init(box, 3, MPI_REAL8, left, 1, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send_init(sums, 3, MPI_REAL8, right, 1, MPI_COMM_WORLD, requests(2), ierr)
  do i = 1, 3
     sums = rank * 10 + i
     call MPI_Startall(2, requests, ierr)
     call MPI_Waitall(2, requests, statuses, ierr)
     if (any(nint(box) /= left * 10 + i)) print *, 'rank', rank, 'wrong', box
  end do
  print *, 'rank', rank, 'persistent', nint(box)
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)

  ! matched probe
  if (rank == 0) then
     do i = 1, nprocs - 1
        call MPI_Mprobe(i, MPI_ANY_TAG, MPI_COMM_WORLD, message, status, ierr)
        call MPI_Get_count(status, MPI_CHARACTER, count, ierr)
        text = ' '
        call MPI_Mrecv(text, count, MPI_CHARACTER, message, status, ierr)
        print *, 'matched ', trim(text), status(MPI_TAG), message == MPI_MESSAGE_NULL
     end do
  else
     write (text, '(a,i0)') 'from ', rank
     call MPI_Send(text, len_trim(text), MPI_CHARACTER, 0, 50 + rank, MPI_COMM_WORLD, ierr)
  end if

  ! some of a few, with MPI_STATUSES_IGNORE
  call MPI_Irecv(n, 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(rank, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(2), ierr)
  i = 0
  do while (i < 2)
     call MPI_Waitsome(2, requests, outcount, indices, MPI_STATUSES_IGNORE, ierr)
     i = i + outcount
  end do
  print *, 'rank', rank, 'some', n, all_null(requests)

  ! vector collectives
  mine = rank
  counts = [(i, i=1, nprocs)]
  displs(1) = 0
  do i = 2, nprocs
     displs(i) = displs(i - 1) + counts(i - 1)
  end do
  allocate (all(sum(counts)))
  call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  print *, 'rank', rank, 'allgatherv', all
  table = [(100 * rank + i, i=0, nprocs - 1)]
  call MPI_Alltoall(table, 1, MPI_INTEGER, turned, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  print *, 'rank', rank, 'alltoall', turned
  call MPI_Scan(rank, n, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  print *, 'rank', rank, 'scan', n
  call MPI_Iallreduce(rank, n, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
  flag = .false.
  do while (.not. flag)
     call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierr)
  end do
  print *, 'rank', rank, 'iallreduce', n

  ! a duplicate with a name; nobody gets a message for the other communicator
  call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
  call MPI_Comm_set_name(dup, 'second world', ierr)
  call MPI_Comm_get_name(dup, name, n, ierr)
  call MPI_Comm_compare(dup, MPI_COMM_WORLD, i, ierr)
  call MPI_Comm_test_inter(dup, inter, ierr)
  print *, 'rank', rank, trim(name), i == MPI_CONGRUENT, inter
  call MPI_Isend(1, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(2, 1, MPI_INTEGER, right, 3, dup, requests(2), ierr)
  call MPI_Recv(n, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, dup, status, ierr)
  call MPI_Recv(i, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
  call MPI_Waitall(2, requests, statuses, ierr)
  print *, 'rank', rank, 'contexts', n, i, status(MPI_SOURCE) == left
  call MPI_Comm_free(dup, ierr)
  call MPI_Finalize(ierr)

contains
  logical function all_null(list)
    integer, intent(in) :: list(:)
    all_null = .true.
    if (any(list /= MPI_REQUEST_NULL)) all_null = .false.
  end function all_null
end program fortran90

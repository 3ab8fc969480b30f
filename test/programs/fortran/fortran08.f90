! SPDX-License-Identifier: BSD-3-Clause
! twin: timeout=60
! use mpi_f08: typed handles, subarrays as buffers, callbacks, optional error codes. This interface calls PMPI_* directly.
module callbacks
  use mpi_f08
  implicit none
contains
  subroutine longest(a, b, n, kind)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: a, b
    integer :: n
    type(MPI_Datatype) :: kind
    integer, pointer :: x(:), y(:)
    call c_f_pointer(a, x, [n])
    call c_f_pointer(b, y, [n])
    if (kind == MPI_INTEGER) y = max(x, y)
  end subroutine longest
end module callbacks

program fortran08
  use mpi_f08
  use callbacks
  implicit none
  integer :: rank, nprocs, left, right, i, n, count, order, code, class, provided
  integer :: grid(6, 6), row(3), ranks(2)
  integer, allocatable :: all(:)
  type(MPI_Status) :: status
  type(MPI_Status) :: statuses(2)
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: half, pair
  type(MPI_Group) :: world, some, rest
  type(MPI_Op) :: op
  type(MPI_Datatype) :: block
  type(MPI_Message) :: message
  logical :: flag, member
  character(len=MPI_MAX_ERROR_STRING) :: text

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs)
  print *, 'rank', rank, 'of', nprocs, provided >= MPI_THREAD_FUNNELED
  right = mod(rank + 1, nprocs)
  left = mod(rank + nprocs - 1, nprocs)
  allocate (all(nprocs))

  ! blocking and nonblocking, statuses
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 5, n, 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, status)
  print *, 'rank', rank, 'ring', n, status%MPI_SOURCE, status%MPI_TAG
  call MPI_Type_create_subarray(2, [6, 6], [2, 3], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, block)
  call MPI_Type_commit(block)
  grid = reshape([(i + 1000 * rank, i=1, 36)], [6, 6])
  call MPI_Irecv(grid, 1, block, left, 6, MPI_COMM_WORLD, requests(1))
  call MPI_Issend(grid(1, 1), 6, MPI_INTEGER, right, 6, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call MPI_Get_count(statuses(1), block, count)
  print *, 'rank', rank, 'block', sum(grid(2:3, 3:5)), count, requests(1) == MPI_REQUEST_NULL
  call MPI_Type_free(block)

  ! wildcard and matched probe
  if (rank == nprocs - 1) then
     n = 0
     do i = 1, nprocs - 1
        call MPI_Mprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, message, status)
        call MPI_Mrecv(row, 3, MPI_INTEGER, message, MPI_STATUS_IGNORE)
        if (any(row /= status%MPI_SOURCE)) print *, 'rank', rank, 'wrong', row, status%MPI_SOURCE
        n = n + row(1)
     end do
     print *, 'rank', rank, 'probed', n
  else
     row = rank
     call MPI_Bsend_or_send(row)
  end if
  call MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, flag, status)
  print *, 'rank', rank, 'nothing there', flag

  ! collectives
  call MPI_Allgather(rank * rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD)
  print *, 'rank', rank, 'squares', all
  call MPI_Op_create(longest, .true., op)
  call MPI_Allreduce(mod(7 * rank + 3, 11), n, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  call MPI_Op_free(op)
  print *, 'rank', rank, 'longest', n
  n = -1
  if (rank == 0) n = 99
  call MPI_Ibcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1))
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  print *, 'rank', rank, 'ibcast', n
  call MPI_Gather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 1, MPI_COMM_WORLD)
  if (rank == 1) print *, 'rank 1 gathered', all
  call MPI_Barrier(MPI_COMM_WORLD)

  ! groups, communicators
  call MPI_Comm_group(MPI_COMM_WORLD, world)
  ranks = [nprocs - 1, 0]
  call MPI_Group_incl(world, 2, ranks, some)
  call MPI_Group_difference(world, some, rest)
  call MPI_Group_size(rest, n)
  call MPI_Group_compare(some, rest, i)
  print *, 'rank', rank, 'rest', n, i == MPI_UNEQUAL
  call MPI_Group_rank(some, i)
  member = i /= MPI_UNDEFINED
  if (member) then
     call MPI_Comm_create_group(MPI_COMM_WORLD, some, 11, pair)
     call MPI_Comm_rank(pair, order)
     call MPI_Sendrecv_replace(order, 1, MPI_INTEGER, 1 - order, 1, 1 - order, 1, pair, MPI_STATUS_IGNORE)
     print *, 'rank', rank, 'pair', order
     call MPI_Comm_free(pair)
  end if
  call MPI_Group_free(some)
  call MPI_Group_free(rest)
  call MPI_Group_free(world)
  call MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, half)
  call MPI_Comm_size(half, n)
  call MPI_Reduce(rank, i, 1, MPI_INTEGER, MPI_SUM, 0, half)
  call MPI_Comm_rank(half, order)
  if (order == 0) print *, 'rank', rank, 'half', n, i
  call MPI_Comm_free(half)

  ! errors that are returned
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Send(n, 1, MPI_INTEGER, nprocs + 3, 1, MPI_COMM_WORLD, code)
  call MPI_Error_class(code, class)
  call MPI_Error_string(code, text, n)
  print *, 'rank', rank, 'error', class == MPI_ERR_RANK, n > 0
  call MPI_Finalize()

contains
  subroutine MPI_Bsend_or_send(values)
    integer, intent(in) :: values(3)
    integer, allocatable :: buffer(:)
    integer :: size
    allocate (buffer(3 + MPI_BSEND_OVERHEAD))
    call MPI_Buffer_attach(buffer, 4 * (3 + MPI_BSEND_OVERHEAD))
    call MPI_Bsend(values, 3, MPI_INTEGER, nprocs - 1, 7, MPI_COMM_WORLD)
    call detach(size)
  end subroutine MPI_Bsend_or_send
  subroutine detach(size)
    use, intrinsic :: iso_c_binding, only: c_ptr
    integer, intent(out) :: size
    type(c_ptr) :: address
    call MPI_Buffer_detach(address, size)
  end subroutine detach
end program fortran08

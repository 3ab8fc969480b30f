! SPDX-License-Identifier: BSD-3-Clause
! Windows by the mpi_f08 module: allocated, of an array, and dynamic; fences, locks, atomic operations, attributes, errors.
program win08
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: rank, ranks, next, left, errors, total
  integer(kind=MPI_ADDRESS_KIND), parameter :: nothing = 0, cell = 4

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)
  errors = 0
  call allocated()
  call of_an_array()
  call dynamic()
  call atomic()
  call of_kinds()
  call wrong()
  call MPI_Reduce(errors, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0 .and. total == 0) print '(a)', 'No errors'
  call MPI_Finalize()

contains

  subroutine check(what, got, wanted)
    character(len=*), intent(in) :: what
    integer, intent(in) :: got, wanted
    if (got == wanted) return
    errors = errors + 1
    print '(a,i0,3a,i0,a,i0)', 'rank ', rank, ': wrong: ', what, ' is ', got, ', not ', wanted
  end subroutine check

  subroutine allocated()
    type(MPI_Win) :: win
    type(c_ptr) :: base
    integer, pointer :: memory(:)
    integer :: out(4), in(4), i
    logical :: flag
    integer(kind=MPI_ADDRESS_KIND) :: value

    call MPI_Win_allocate(64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
    call c_f_pointer(base, memory, [16])
    memory = -1
    out = [(10 * rank + i, i = 1, 4)]
    in = -1
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, win)
    call MPI_Put(out, 4, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call MPI_Get(in, 4, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
    do i = 1, 4
      call check('what was put', memory(2 + i), 10 * left + i)
      call check('what was got', in(i), 10 * rank + i)
    end do
    call check('what was not', memory(2), -1)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag)
    call check('size', int(value), 64)
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag)
    call check('flavor', int(value), MPI_WIN_FLAVOR_ALLOCATE)
    call MPI_Win_free(win)
  end subroutine allocated

  subroutine of_an_array()
    type(MPI_Win) :: win
    type(MPI_Group) :: world, before, after
    type(MPI_Datatype) :: column
    integer, asynchronous :: matrix(4, 4)
    integer, asynchronous :: row(4)
    integer :: i, result
    integer(kind=MPI_ADDRESS_KIND) :: base, address
    logical :: flag

    matrix = 0
    row = [(100 * rank + i, i = 1, 4)]
    call MPI_Win_create(matrix, 64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, base, flag)
    call MPI_Get_address(matrix, address)
    if (iand(address, 15_MPI_ADDRESS_KIND) == 0 .and. base /= address) call check('base', 0, 1) ! others MPICH 4.0.2 rounds down
    call MPI_Type_vector(4, 1, 4, MPI_INTEGER, column)
    call MPI_Type_commit(column)
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    call MPI_Group_incl(world, 1, [left], before)
    call MPI_Group_incl(world, 1, [next], after)
    call MPI_Win_post(before, 0, win)
    call MPI_Win_start(after, 0, win)
    call MPI_Put(row, 4, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, 1, column, win)
    call MPI_Win_complete(win)
    call MPI_Win_wait(win)
    do i = 1, 4
      call check('element', matrix(2, i), 100 * left + i)
      call check('its neighbour', matrix(1, i), 0)
    end do
    call MPI_Group_free(before)
    call MPI_Win_get_group(win, before)
    call MPI_Group_compare(before, world, result)
    call check('group', result, MPI_IDENT)
    call MPI_Group_free(before)
    call MPI_Group_free(after)
    call MPI_Group_free(world)
    call MPI_Type_free(column)
    call MPI_Win_free(win)
  end subroutine of_an_array

  subroutine dynamic()
    type(MPI_Win) :: win
    integer, asynchronous, allocatable :: memory(:)
    integer(kind=MPI_ADDRESS_KIND), allocatable :: starts(:)
    integer(kind=MPI_ADDRESS_KIND) :: mine
    integer :: value

    allocate(memory(8), starts(0:ranks - 1))
    memory = -1
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_attach(win, memory, 32_MPI_ADDRESS_KIND)
    call MPI_Get_address(memory, mine)
    call MPI_Allgather(mine, 1, MPI_AINT, starts, 1, MPI_AINT, MPI_COMM_WORLD)
    value = 7 * rank
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win)
    call MPI_Put(value, 1, MPI_INTEGER, next, MPI_Aint_add(starts(next), 3 * cell), 1, MPI_INTEGER, win)
    call MPI_Win_unlock(next, win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win)
    call check('the fourth', memory(4), 7 * left)
    call MPI_Win_unlock(rank, win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_detach(win, memory)
    call MPI_Win_free(win)
  end subroutine dynamic

  subroutine atomic()
    type(MPI_Win) :: win
    type(MPI_Request) :: request
    integer, asynchronous :: counter(16)
    integer, asynchronous :: one, seen, before, zero
    integer :: i, r

    counter = 0
    one = 1
    zero = 0
    call MPI_Win_create(counter, 64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock_all(0, win)
    before = -1
    do i = 1, 5
      do r = 0, ranks - 1
        call MPI_Fetch_and_op(one, seen, MPI_INTEGER, r, nothing, MPI_SUM, win)
        call MPI_Win_flush(r, win)
        if (r == 0) then
          if (seen <= before) call check('order', seen, before + 1)
          before = seen
        end if
        call MPI_Raccumulate(rank, 1, MPI_INTEGER, r, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_MAX, win, request)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
      end do
    end do
    one = rank + 1
    call MPI_Compare_and_swap(one, zero, seen, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, win)
    call MPI_Win_flush_all(win)
    call check('what was compared', seen, 0)
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win)
    call check('sum', counter(1), 5 * ranks)
    call check('maximum', counter(2), ranks - 1)
    call check('swapped', counter(3), left + 1)
    call MPI_Win_unlock(rank, win)
    call MPI_Win_free(win)
  end subroutine atomic

  ! Types by digits, which have no names.
  subroutine of_kinds()
    integer, parameter :: real_kind = selected_real_kind(15, 300), int_kind = selected_int_kind(9)
    type(MPI_Win) :: win
    type(MPI_Datatype) :: reals, pairs, ints
    real(kind=real_kind), asynchronous :: memory(8), mine(4)
    integer(kind=int_kind), asynchronous :: whole
    integer :: r, i

    call MPI_Type_create_f90_real(15, 300, reals)
    call MPI_Type_create_f90_integer(9, ints)
    call MPI_Type_vector(4, 1, 2, reals, pairs)
    call MPI_Type_commit(pairs)
    memory = 0
    mine = [(real(rank + i, real_kind), i = 1, 4)]
    whole = rank
    call MPI_Win_create(memory, 64_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    do r = 0, ranks - 1
      call MPI_Accumulate(mine, 4, reals, r, nothing, 1, pairs, MPI_SUM, win)
    end do
    call MPI_Win_fence(0, win)
    do i = 1, 4
      call check('sum of reals', int(memory(2 * i - 1)), ranks * (ranks - 1) / 2 + ranks * i)
      call check('between them', int(memory(2 * i)), 0)
    end do
    call MPI_Win_fence(0, win)
    call MPI_Put(whole, 1, ints, next, 1_MPI_ADDRESS_KIND, 1, ints, win)
    call MPI_Win_fence(0, win)
    call check('integer', int(transfer(memory(2), whole)), left)
    call MPI_Type_free(pairs)
    call MPI_Win_free(win)
  end subroutine of_kinds

  subroutine wrong()
    type(MPI_Win) :: win
    integer, asynchronous :: memory(4)
    integer :: code, class

    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    call MPI_Win_fence(0, win)
    call MPI_Put(memory, 1, MPI_INTEGER, ranks, nothing, 1, MPI_INTEGER, win, code)
    call MPI_Error_class(code, class)
    call check('class', class, MPI_ERR_RANK)
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
  end subroutine wrong
end program win08

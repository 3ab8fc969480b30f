! SPDX-License-Identifier: BSD-3-Clause
! twin: timeout=60
! mpif.h: fixed form, integer handles, statuses as integer arrays.
      program fortran77
      implicit none
      include 'mpif.h'
      integer ierr, rank, nprocs, left, right, i, world, part, colour
      integer status(MPI_STATUS_SIZE), requests(2)
      integer statuses(MPI_STATUS_SIZE, 2)
      integer token, got, total, ranks(3), mapped(3), n, class, count
      integer column, length, other, code
      double precision work(4, 4), sums(4)
      logical flag
      integer key, pair
      integer (kind=MPI_ADDRESS_KIND) value, back
      character (len=MPI_MAX_ERROR_STRING) text
      external double_it
      integer op

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nprocs, ierr)

!     a ring, blocking in both orders
      left = mod(rank + nprocs - 1, nprocs)
      right = mod(rank + 1, nprocs)
      token = 1000 + rank
      call MPI_SENDRECV(token, 1, MPI_INTEGER, right, 7, got, 1,          &
     &     MPI_INTEGER, left, 7, MPI_COMM_WORLD, status, ierr)
      print *, 'rank', rank, 'ring', got, status(MPI_SOURCE),             &
     &     status(MPI_TAG)

!     nonblocking with a strided type: columns of a matrix, sent as rows
      do i = 1, 4
         work(:, i) = 100d0 * rank + i
      end do
      call MPI_TYPE_VECTOR(4, 1, 4, MPI_DOUBLE_PRECISION, column, ierr)
      call MPI_TYPE_COMMIT(column, ierr)
      call MPI_IRECV(sums, 4, MPI_DOUBLE_PRECISION, left, 8,              &
     &     MPI_COMM_WORLD, requests(1), ierr)
      call MPI_ISEND(work(2, 1), 1, column, right, 8, MPI_COMM_WORLD,     &
     &     requests(2), ierr)
      call MPI_WAITALL(2, requests, statuses, ierr)
      call MPI_GET_COUNT(statuses(1, 1), MPI_DOUBLE_PRECISION, count,     &
     &     ierr)
      print *, 'rank', rank, 'row', int(sums), count,                     &
     &     requests(1) .eq. MPI_REQUEST_NULL
      call MPI_TYPE_FREE(column, ierr)

!     anybody's message
      if (rank .eq. 0) then
         total = 0
         do i = 1, nprocs - 1
            call MPI_PROBE(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, status,     &
     &           ierr)
            other = status(MPI_SOURCE)
            call MPI_RECV(got, 1, MPI_INTEGER, other, 9,                  &
     &           MPI_COMM_WORLD, status, ierr)
            if (got .ne. other * other) print *, 'rank 0: wrong', got
            total = total + got
         end do
         print *, 'rank 0 collected', total
      else
         call MPI_SSEND(rank * rank, 1, MPI_INTEGER, 0, 9,                &
     &        MPI_COMM_WORLD, ierr)
      end if

!     collectives, MPI_IN_PLACE and an operation of our own
      token = rank + 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, token, 1, MPI_INTEGER, MPI_SUM,    &
     &     MPI_COMM_WORLD, ierr)
      call MPI_OP_CREATE(double_it, .true., op, ierr)
      got = rank + 1
      call MPI_REDUCE(got, total, 1, MPI_INTEGER, op, nprocs - 1,         &
     &     MPI_COMM_WORLD, ierr)
      if (rank .eq. nprocs - 1) print *, 'rank', rank, 'product', total
      call MPI_OP_FREE(op, ierr)
      print *, 'rank', rank, 'sum', token
      got = 0
      if (rank .eq. 1) got = 4711
      call MPI_BCAST(got, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
      print *, 'rank', rank, 'bcast', got

!     groups and communicators, attributes kept by a duplicate
      call MPI_COMM_GROUP(MPI_COMM_WORLD, world, ierr)
      ranks(1) = nprocs - 1
      ranks(2) = 0
      call MPI_GROUP_INCL(world, 2, ranks, part, ierr)
      call MPI_GROUP_TRANSLATE_RANKS(part, 2, (/ 0, 1 /), world,          &
     &     mapped, ierr)
      call MPI_GROUP_RANK(part, n, ierr)
      print *, 'rank', rank, 'group', mapped(1), mapped(2),               &
     &     n .eq. MPI_UNDEFINED
      call MPI_COMM_CREATE_KEYVAL(MPI_COMM_DUP_FN,                        &
     &     MPI_COMM_NULL_DELETE_FN, key, value, ierr)
      value = 42 + rank
      call MPI_COMM_SET_ATTR(MPI_COMM_WORLD, key, value, ierr)
      call MPI_COMM_DUP(MPI_COMM_WORLD, other, ierr)
      call MPI_COMM_GET_ATTR(other, key, back, flag, ierr)
      print *, 'rank', rank, 'attribute', flag, back
      call MPI_COMM_FREE(other, ierr)
      colour = mod(rank, 2)
      call MPI_COMM_SPLIT(MPI_COMM_WORLD, colour, -rank, other, ierr)
      call MPI_COMM_RANK(other, n, ierr)
      call MPI_ALLREDUCE(rank, total, 1, MPI_INTEGER, MPI_SUM, other,     &
     &     ierr)
      print *, 'rank', rank, 'split', n, total
      call MPI_COMM_FREE(other, ierr)
      call MPI_COMM_CREATE(MPI_COMM_WORLD, part, pair, ierr)
      if (pair .ne. MPI_COMM_NULL) then
         call MPI_COMM_RANK(pair, n, ierr)
         print *, 'rank', rank, 'in the pair', n
         call MPI_BARRIER(pair, ierr)
         call MPI_COMM_FREE(pair, ierr)
      end if
      call MPI_GROUP_FREE(part, ierr)
      call MPI_GROUP_FREE(world, ierr)
      print *, 'rank', rank, 'freed', world .eq. MPI_GROUP_NULL

!     errors that are returned
      call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN,     &
     &     ierr)
      call MPI_SEND(token, 1, MPI_INTEGER, nprocs, 1, MPI_COMM_WORLD,     &
     &     code)
      call MPI_ERROR_CLASS(code, class, ierr)
      call MPI_ERROR_STRING(code, text, length, ierr)
      print *, 'rank', rank, 'error', class .eq. MPI_ERR_RANK,            &
     &     length .gt. 0

      call MPI_FINALIZE(ierr)
      end

      subroutine double_it(a, b, n, kind)
      implicit none
      integer n, kind, i
      integer a(n), b(n)
      do i = 1, n
         b(i) = a(i) * b(i)
      end do
      end

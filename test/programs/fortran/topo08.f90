! SPDX-License-Identifier: BSD-3-Clause
! twin:
! use mpi_f08: a grid and a graph.
program topo08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: grid, graph
  type(MPI_Request) :: request
  integer :: rank, nprocs, dims(1), at(1), left, right, near(2), mine(2), index(4), edges(6), n
  logical :: periods(1)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs)
  dims = nprocs
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, (/ .false. /), .false., grid)
  call MPI_Cart_get(grid, 1, dims, periods, at)
  call MPI_Cart_shift(grid, 0, 1, left, right)
  print *, 'rank', rank, 'line', dims, periods, at, left == MPI_PROC_NULL, right == MPI_PROC_NULL
  near = -1
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, near, 1, MPI_INTEGER, grid)
  print *, 'rank', rank, 'near', near
  near = -1
  mine = (/ rank * 2, rank * 2 + 1 /)
  call MPI_Ineighbor_alltoall(mine, 1, MPI_INTEGER, near, 1, MPI_INTEGER, grid, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  print *, 'rank', rank, 'blocks', near
  call MPI_Comm_free(grid)

  index = (/ 3, 4, 5, 6 /)
  edges = (/ 1, 2, 3, 0, 0, 0 /)
  call MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, .false., graph)
  call MPI_Graph_neighbors_count(graph, rank, n)
  print *, 'rank', rank, 'star', n
  call MPI_Comm_free(graph)
  call MPI_Finalize()
end program topo08

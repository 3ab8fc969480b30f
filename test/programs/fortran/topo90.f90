! SPDX-License-Identifier: BSD-3-Clause
! twin: tcp=yes
! use mpi: grids, graphs with and without weights, neighbours' collectives.
program topo90
  use mpi
  implicit none
  integer :: ierr, rank, nprocs, grid, row, graph, at(2), dims(2), up, down, kind, n, indegree, outdegree, request
  integer :: from(2), to(2), from_weights(2), to_weights(2), near(4), twice(8)
  integer, allocatable :: sums(:)
  logical :: periods(2), keep(2), weighted

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  dims = 0
  call MPI_Dims_create(nprocs, 2, dims, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (/ .true., .false. /), .true., grid, ierr)
  call MPI_Cart_get(grid, 2, dims, periods, at, ierr)
  call MPI_Cart_shift(grid, 0, 1, up, down, ierr)
  print *, 'rank', rank, 'grid', dims, periods, at, up, down
  call MPI_Cart_shift(grid, 1, 1, up, down, ierr)
  print *, 'rank', rank, 'along', up == MPI_PROC_NULL, down == MPI_PROC_NULL
  keep = (/ .false., .true. /)
  call MPI_Cart_sub(grid, keep, row, ierr)
  call MPI_Allreduce(rank, n, 1, MPI_INTEGER, MPI_SUM, row, ierr)
  call MPI_Topo_test(row, kind, ierr)
  print *, 'rank', rank, 'row', n, kind == MPI_CART

  near = -1
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, near, 1, MPI_INTEGER, grid, ierr)
  print *, 'rank', rank, 'near', near
  twice = (/ 1, 2, 3, 4, 5, 6, 7, 8 /) + 10 * rank
  allocate (sums(8))
  sums = -1
  call MPI_Ineighbor_alltoall(twice, 2, MPI_INTEGER, sums, 2, MPI_INTEGER, grid, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  print *, 'rank', rank, 'twice', sums
  call MPI_Comm_free(row, ierr)
  call MPI_Comm_free(grid, ierr)

  from = (/ mod(rank + nprocs - 1, nprocs), rank /)
  to = (/ mod(rank + 1, nprocs), rank /)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, &
       MPI_INFO_NULL, .false., graph, ierr)
  call MPI_Dist_graph_neighbors_count(graph, indegree, outdegree, weighted, ierr)
  print *, 'rank', rank, 'ring', indegree, outdegree, weighted
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, near, 1, MPI_INTEGER, graph, ierr)
  print *, 'rank', rank, 'ring', near(1:2)
  call MPI_Comm_free(graph, ierr)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, (/ rank /), (/ 1 /), to, (/ 7 + rank /), MPI_INFO_NULL, .false., &
       graph, ierr)
  call MPI_Dist_graph_neighbors_count(graph, indegree, outdegree, weighted, ierr)
  call MPI_Dist_graph_neighbors(graph, 1, from, from_weights, 1, to, to_weights, ierr)
  print *, 'rank', rank, 'weighted', indegree, outdegree, weighted, from(1), from_weights(1), to(1), to_weights(1)
  call MPI_Comm_free(graph, ierr)
  call MPI_Finalize(ierr)
end program topo90

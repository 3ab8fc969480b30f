/* SPDX-License-Identifier: BSD-3-Clause */
/* As comm_idups.c, with one thread. twin: layouts=2+2,1+3,1+1+2 */
#define LEVEL MPI_THREAD_SINGLE
#include "comm_idups.c"

/* SPDX-License-Identifier: BSD-3-Clause */
/* As inter_coll.c, but nonblocking and persistent, and several at a time, with six ranks: so that one
 * intercommunicator is inside a cluster. Not natively: MPICH 4.0.2 gives wrong results (MPI_Ibcast from another root
 * than 0). twin: native=no ranks=6 layouts=2+4,1+1+4 timeout=120 */
#define FORMS
#include "inter_coll.c"

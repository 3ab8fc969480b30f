/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As coll_all_forms.c, between the groups of intercommunicators. Not natively: MPICH 4.0.2 gives wrong results in
 * nonblocking and persistent forms, and aborts in some. The argument is a seed.
 * twin: native=no ranks=6 layouts=2+4,3+3,1+1+4,2+2+2 timeout=120 external32=yes
 */
#include "inter_forms.h"

int main(int argc, char **argv)
{
	return try_from(0, argc, argv);
}

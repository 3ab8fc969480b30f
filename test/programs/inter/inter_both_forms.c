/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As inter_all_forms.c, where the ranks of both groups are interleaved over the clusters, which takes eight of them.
 * twin: native=no ranks=8 layouts=4+4,3+5 timeout=120
 */
#include "inter_forms.h"

int main(int argc, char **argv)
{
	return try_from(7, argc, argv);
}

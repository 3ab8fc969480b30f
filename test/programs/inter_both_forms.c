/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As inter_all_forms.c, where the ranks of both groups are interleaved over the clusters, which takes eight of them.
 * twin: native=no ranks=8 layouts=4+4,3+5 timeout=120
 */
#include "inter_forms.h"

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	uint32_t seed = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	make_layouts();
	make_inters();
	make_ops();
	for (int i = 7; i < INTERS; i++)
		if (use_inter(i))
			try_inter(i, seed * 100 + (uint32_t)i);
	free_ops();
	free_inters();
	free_layouts();
	return end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments and environment reach every rank as they were written. twin: args=one,--two=2,$x,"q" */
#include "../check.h"

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	for (int i = 1; i < argc; i++)
		printf("rank %d: argument %d is <%s>\n", rank, i, argv[i]);
	fprintf(stderr, "rank %d writes to stderr\n", rank);
	return end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* See fatal.h. */
#include "zipbench/mmpi/fatal.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fatal(const char *fmt, ...)
{
	char line[1024] = "mmpi: "; /* written in one piece, as other ranks write, too */
	size_t begin = strlen(line);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line + begin, sizeof(line) - begin - 1, fmt, ap);
	va_end(ap);
	fputs(strcat(line, "\n"), stderr);
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels: a launcher puts one in front of each line of a rank, if it is asked to. The number in a label is the rank's
 * in the job of this launcher, which is one cluster. */
#ifndef ZIP_LAUNCH_LABEL_H
#define ZIP_LAUNCH_LABEL_H

#include <stdbool.h>
#include <stddef.h>

enum zlabel {
	ZLABEL_HYDRA,	   /* "[3] " */
	ZLABEL_SRUN,	   /* " 3: ", with as many blanks as make all labels equally long */
	ZLABEL_OMPI,	   /* "[1,3]<stdout>:", mpirun of Open MPI 4 */
	ZLABEL_OMPI_BLANK, /* the same with a blank at its end, Open MPI 5 */
};

/* The length of the label at the front of a line, or 0: there is none. *lrank: its number, which may be
 * of no rank: the line may be a rank's own. */
size_t zlabel_scan(enum zlabel, const char *line, size_t len, long *lrank);
/* May the unfinished line end within its label? */
bool zlabel_may_go_on(enum zlabel, const char *line, size_t len);
/* Skips a label of Hydra or Open MPI, if the line begins with one. *len becomes the length of the rest. */
const char *zlabel_skip(const char *line, size_t *len);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a launcher puts in front of each line of a rank where it is asked to. The number in it is the rank's in the job
 * of this launcher, which is one cluster. */
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

/* The length of the label at the front of a line, or 0: there is none. *lrank: its rank, of which nobody has said that
 * there is one. */
size_t zlabel_scan(enum zlabel, const char *line, size_t len, long *lrank);
/* May the unfinished line end within its label? */
bool zlabel_may_go_on(enum zlabel, const char *line, size_t len);
/* Skips a label of Hydra or Open MPI, if the line begins with one. *len becomes the length of the rest. */
const char *zlabel_skip(const char *line, size_t *len);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads programs as text: zipmap-time(1), PROGRAM FILES. */
#ifndef ZIP_MAPPER_PROGRAM_TEXT_H
#define ZIP_MAPPER_PROGRAM_TEXT_H

#include "mapper/program/program.h"

/* Is told the number of ranks before the operations are read. 0, or a negative errno with the reason. */
typedef int program_ranks_fn(void *arg, uint32_t ranks, struct zerr *);

/* check may be NULL. 0 or a negative errno with "path:line: reason". Free with program_free in any case. */
int program_text_read(struct program *, const char *path, program_ranks_fn *check, void *arg, struct zerr *);

#endif

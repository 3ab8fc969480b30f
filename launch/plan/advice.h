/* SPDX-License-Identifier: BSD-3-Clause */
/* What to write in place of an option that mpiexec (Hydra), mpirun of Open MPI or srun has, and zmpirun has not. Any
 * thread. */
#ifndef ZIP_LAUNCH_ADVICE_H
#define ZIP_LAUNCH_ADVICE_H

struct zadvice {
	const char *names; /* without dashes, separated by blanks */
	const char *owner; /* the program that has it */
	const char *text;  /* what to write here, or that it can be left out; no capital, no full stop */
};

/* The advice for this option, without dashes and value; NULL: none of these programs has it. */
const struct zadvice *zadvice_find(const char *name);

#endif

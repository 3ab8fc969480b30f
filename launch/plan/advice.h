/* SPDX-License-Identifier: BSD-3-Clause */
/* Advice on options that zmpirun does not have, but mpiexec (Hydra), Open MPI's mpirun or srun has: what to write here.
 * Any thread. */
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

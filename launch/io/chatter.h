/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What mpiexec itself prints among the output of the ranks: the exit codes that we ask for (-print-all-exitcodes), and
 * its banners about signals and killed ranks, for which zmpirun has one line of its own. Taken out line by line.
 * Hydra of MPICH 4.0 prints all of it to stdout.
 */
#ifndef ZIP_LAUNCH_CHATTER_H
#define ZIP_LAUNCH_CHATTER_H

#include <stdbool.h>
#include <stddef.h>

struct zchatter {
	enum { ZCHATTER_NONE, ZCHATTER_BLANK, ZCHATTER_RULE, ZCHATTER_BANNER, ZCHATTER_CODES } state;
	bool blank; /* in ZCHATTER_RULE: an empty line stands before the rule */
	bool have_codes;
	int status; /* highest exit status of a rank; a rank killed by a signal counts with the number of the signal, as
		     * mpiexec does it. Ranks killed by SIGKILL are not in it */
	int signal; /* that killed a rank, or 0; not SIGKILL */
	int nkilled; /* ranks killed by SIGKILL: perhaps by mpiexec itself, because another one died */
};

/*
 * Looks at one line (with its newline). Returns how many bytes of it, from the front, the program has printed; the rest
 * is mpiexec's. *before: lines held back that the program has printed after all, and that go first; "" mostly.
 */
size_t zchatter_filter(struct zchatter *, const char *line, size_t len, const char **before);
/* Lines held back until the next one shows whose they are: the program's, as nothing more comes. */
const char *zchatter_release(struct zchatter *);
/* When a job has failed, every rank, mpiexec and proxy complains in its own way about what zmpirun says in one line. Is
 * this line (of stderr, with or without label) one of those complaints? */
bool zchatter_is_echo(const char *line, size_t len);
/* Such a complaint that tells of MPI_Abort: the job is about to end, and there will be a line about that. */
bool zchatter_is_abort(const char *line, size_t len);
/* May this unfinished line become mpiexec's? Then it must not be shown yet. */
bool zchatter_may_be(const struct zchatter *, const char *text, size_t len);

#endif

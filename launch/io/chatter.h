/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines that mpiexec itself prints among the output of the ranks: the exit codes that we ask for
 * (-print-all-exitcodes), and banners about signals and killed ranks, for which zmpirun has one line of its own. They
 * are taken out line by line. Hydra of MPICH 4.0 prints all of them to stdout. */
#ifndef ZIP_LAUNCH_CHATTER_H
#define ZIP_LAUNCH_CHATTER_H

#include <stdbool.h>
#include <stddef.h>

struct zchatter {
	enum { ZCHATTER_NONE, ZCHATTER_BLANK, ZCHATTER_RULE, ZCHATTER_BANNER, ZCHATTER_CODES } state;
	bool blank; /* in ZCHATTER_RULE: an empty line stands before the rule */
	bool have_codes;
	/* highest exit status of a rank. As in mpiexec, a rank killed by a signal counts with the number of the signal;
	 * ranks killed by SIGKILL are left out */
	int status;
	int signal;  /* signal that killed a rank, or 0; never SIGKILL */
	int nkilled; /* ranks killed by SIGKILL: perhaps by mpiexec itself, because another rank died */
};

/* Looks at one line, with its newline. Returns how many bytes at its front the program has printed; the rest is
 * mpiexec's. *before: lines that were held back but turn out to be the program's, and go first; mostly "". */
size_t zchatter_filter(struct zchatter *, const char *line, size_t len, const char **before);
/* Gives up the lines that are held back until the next line shows whose they are: no further line comes, so they are
 * the program's. */
const char *zchatter_release(struct zchatter *);
/* When a job has failed, every rank, mpiexec and proxy complains in its own way about the failure that zmpirun tells in
 * one line. Is this line (of stderr, with or without label) one of these complaints? */
bool zchatter_is_echo(const char *line, size_t len);
/* Is this line a complaint that tells of MPI_Abort? Then the job is about to end, and zmpirun will have a line about
 * it. */
bool zchatter_is_abort(const char *line, size_t len);
/* Does a proxy tell in this line (of stderr, with or without label) that it cannot start the program, or that its
 * working directory is missing? Then said has that in words of ours, cut to fit. */
bool zchatter_is_unstarted(const char *line, size_t len, char *said, size_t cap);
/* Is this line of stderr, after one for which zchatter_is_unstarted is true, the end of another such line? Lines of two
 * ranks can mix. */
bool zchatter_is_unstarted_piece(const char *line, size_t len);
/* Is this unfinished line of stderr the beginning of a line of mpiexec or a proxy? It must be whole before it is shown.
 */
bool zchatter_may_be_launchers(const char *text, size_t len);
/* Does this line tell that a program that starts a proxy, as ssh, has failed? Hydra since MPICH 4.2 ends then; that of
 * 4.0 says nothing and waits (launch/start/reach.h). */
bool zchatter_is_unreached(const char *line, size_t len);
/* Is this line the first word, or a later one (broken: the first has come), of an mpiexec or proxy that breaks down
 * because a connection is lost, or because a rank reads its standard input too slowly? It then ends at once. */
bool zchatter_is_breakdown(const char *line, size_t len, bool broken);
/* Does this line of a proxy say that a rank reads its standard input too slowly? */
bool zchatter_is_slow_reader(const char *line, size_t len);
/* May this unfinished line become a line of mpiexec? Then it must not be shown yet. */
bool zchatter_may_be(const struct zchatter *, const char *text, size_t len);

#endif

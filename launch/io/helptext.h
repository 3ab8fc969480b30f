/* SPDX-License-Identifier: BSD-3-Clause */
/* The help texts of Open MPI's mpirun among the error output of the ranks. Each stands between two rules. Those that
 * say that a rank has ended or aborted are taken out: zmpirun has one line about that. All others are shown, as they
 * say why mpirun cannot start the ranks. A text that begins behind an unfinished line of a rank is shown, too. */
#ifndef ZIP_LAUNCH_HELPTEXT_H
#define ZIP_LAUNCH_HELPTEXT_H

#include <stdbool.h>
#include <stddef.h>

struct zhelptext {
	enum {
		ZHELPTEXT_NONE,
		ZHELPTEXT_RULE,	  /* a rule is held back */
		ZHELPTEXT_INSIDE, /* lines are taken out up to the next rule */
		ZHELPTEXT_BEHIND  /* behind that one */
	} state;
	unsigned lines; /* in ZHELPTEXT_INSIDE: of this text, behind the first one */
	bool again;	/* the last line was one about other ranks that abort */
};

/* Looks at a line, or at the rest of the output without a newline. Returns how many bytes at its front are mpirun's: 0,
 * a zero byte, or all. *before: a rule that was held back and goes first; mostly "". */
size_t zhelptext_take(struct zhelptext *, const char *line, size_t len, const char **before);
/* Gives up the rule that is held back: no further line comes. "" if there is none. */
const char *zhelptext_release(struct zhelptext *);

#endif

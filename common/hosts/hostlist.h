/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of host names as Slurm writes them: node[01-04,7],login. Start-up only; one thread. */
#ifndef ZIP_COMMON_HOSTS_HOSTLIST_H
#define ZIP_COMMON_HOSTS_HOSTLIST_H

#include "common/base/err.h"

#define ZHOSTLIST_MAX (1 << 16) /* names in one list: more are a typing error */

struct zhostlist {
	char **names; /* [n], in the order of the text */
	int n;
};

/* Cuts the next element off the list, in place: commas separate elements, but not inside brackets. NULL: no more. */
char *zhostlist_next(char **rest);
/*
 * Adds the names of one element: NAME, or NAME[RANGES]REST, with brackets several times if need be. RANGES are numbers
 * and FIRST-LAST, with commas between them; a number has at least as many digits as its FIRST, so 08-11 gives 08, 09,
 * 10, 11. The names themselves are not checked. Returns 0, or a negative errno with text; the list is to be freed in
 * any case.
 */
int zhostlist_add(struct zhostlist *, const char *element, struct zerr *);
/* Adds the names of all elements of a list; commas or blanks separate them. Returns as zhostlist_add. */
int zhostlist_add_all(struct zhostlist *, const char *text, struct zerr *);
void zhostlist_free(struct zhostlist *);

#endif

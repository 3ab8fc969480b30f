/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of the zipper hostfile: how they are cut, counted, checked and kept. Private to hostfile.c, cluster.c,
 * zipper.c and node.c. Start-up only; one thread.
 */
#ifndef ZIP_COMMON_HOSTS_WORD_H
#define ZIP_COMMON_HOSTS_WORD_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/control/ctl.h"

#define ZWORD_BLANKS " \t\r\n\v\f"
#define ZWORD_COUNT_MAX ZCTL_RANKS_MAX /* of slots, ranks, cores: more is a typing error */

/* Words in place, as strtok_r(3) cuts them: of the text, then of the rest. NULL: no more. */
char *zword_first(char *text, char **rest);
char *zword_next(char **rest);
/* A number from 1 to ZWORD_COUNT_MAX and nothing else. 0 or -EINVAL, then count is as it was; what: for the message. */
int zword_parse_count(int *count, const char *what, const char *text, struct zerr *);
/* Names of clusters and fabrics; they go into comma-separated lists and control messages. 0 or -EINVAL. */
int zword_check_name(const char *what, const char *name, struct zerr *);
int zword_check_host(const char *host, struct zerr *);
/* NAME=VALUE, split in place. 0 or -EINVAL. */
int zword_split_option(char *word, char **value, struct zerr *);
/* One more element, zeroed, at the end of the array that the pointer at field points to (its type does not matter).
 * NULL: no memory, nothing changed. */
void *zword_grow(void *field, int *count, size_t size);
/* -ENOMEM, with its text. */
int zword_no_memory(struct zerr *);

#endif

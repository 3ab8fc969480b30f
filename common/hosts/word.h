/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of the zipper hostfile: cutting, counting, checking and keeping them. Private to hostfile.c, cluster.c,
 * zipper.c and node.c. Start-up only; one thread. */
#ifndef ZIP_COMMON_HOSTS_WORD_H
#define ZIP_COMMON_HOSTS_WORD_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/control/ctl.h"

#define ZWORD_BLANKS " \t\r\n\v\f"
#define ZWORD_COUNT_MAX ZCTL_RANKS_MAX /* of slots, ranks, cores: a larger number is a typing error */

/* Cut words out in place, as strtok_r(3) does: first of the text, then of the rest. NULL: no more words. */
char *zword_first(char *text, char **rest);
char *zword_next(char **rest);
/* Reads a number from 1 to ZWORD_COUNT_MAX and nothing else. Returns 0 or -EINVAL; then count is unchanged. what: for
 * the message. */
int zword_parse_count(int *count, const char *what, const char *text, struct zerr *);
/* Checks a name of a cluster or fabric. Such names go into comma-separated lists and control messages. Returns 0 or
 * -EINVAL. */
int zword_check_name(const char *what, const char *name, struct zerr *);
int zword_check_host(const char *host, struct zerr *);
/* Splits NAME=VALUE in place. Returns 0 or -EINVAL. */
int zword_split_option(char *word, char **value, struct zerr *);
/* Adds one zeroed element at the end of the array that the pointer at field points to, whatever its type. NULL: out of
 * memory, and nothing has changed. */
void *zword_grow(void *field, int *count, size_t size);
/* Returns -ENOMEM, with its text. */
int zword_no_memory(struct zerr *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of operations, first in first out, through zop.next. An operation stands in one list at most. Under the shim's
 * lock. */
#ifndef ZIP_LIBZIP_OPLIST_H
#define ZIP_LIBZIP_OPLIST_H

struct zop;

struct zoplist {
	struct zop *head, *tail;
};

/* Appends an operation that stands in no list. */
void zoplist_push(struct zoplist *, struct zop *);
/* Takes the first operation out. NULL: the list is empty. */
struct zop *zoplist_pop(struct zoplist *);
/* Takes out an operation of this list. */
void zoplist_del(struct zoplist *, struct zop *);

#endif

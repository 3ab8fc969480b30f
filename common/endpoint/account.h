/* SPDX-License-Identifier: BSD-3-Clause */
/* The resources that a set of endpoints takes: objects, the hardware's UAR pages and uUARs, memory. Start-up only. */
#ifndef ZIP_COMMON_ENDPOINT_ACCOUNT_H
#define ZIP_COMMON_ENDPOINT_ACCOUNT_H

#include <stdio.h>

#include "common/endpoint/endpoint.h"
#include "common/endpoint/ep_set.h"

/* How a queue pair shares the way to the hardware: the levels of the endpoints paper, Figure 4(b). Two queue pairs of
 * one thread count as two. */
enum zaccount_level {
	ZACCOUNT_PAGE_ALONE,
	ZACCOUNT_PAGE_SHARED,
	ZACCOUNT_UUAR_SHARED,
	ZACCOUNT_QP_SHARED,
	ZACCOUNT_LEVELS
};

struct zaccount {
	uint64_t objects[ZEP_KINDS];
	uint64_t used_pages, used_uuars; /* that have a queue pair which a thread uses */
	uint64_t pages, uuars;		 /* allotted, used or not */
	uint64_t level[ZACCOUNT_LEVELS]; /* queue pairs that threads use */
	uint64_t bytes;
	bool knows_used, knows_allotted, knows_bytes; /* the device tells these numbers */
};

/* Adds a set to an account, for example of several processes. The account begins with zaccount_init. Returns 0 or
 * -ENOMEM. */
int zaccount_add(struct zaccount *, const struct zep_set *);
void zaccount_init(struct zaccount *);
/* The uUARs that are allotted and not used; 0 where the device does not tell. */
uint64_t zaccount_wasted(const struct zaccount *);

/* Prints the line for `name`, as a table line or as the fields of a CSV line; _head prints the line above them. `whole`
 * is the account whose uUARs are 100 % (NULL: the column is missing, or its field empty). An unknown number is "-", or
 * empty. */
void zaccount_print_head(FILE *, bool csv);
void zaccount_print(FILE *, bool csv, const char *name, const struct zaccount *, const struct zaccount *whole);

#endif

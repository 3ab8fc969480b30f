/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of a file, numbered in the order in which they come, and found again by a hash table. One thread. */
#ifndef ZIP_MAPPER_NAMES_H
#define ZIP_MAPPER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#define NAMES_NONE UINT32_MAX
#define NAMES_MAX (1u << 24)

/* Zeroed, it is empty. */
struct names {
	char **name; /* [n] */
	uint32_t n;
	bool fold;	/* "Node1" and "node1" are the same name; to be set before the first one is added */
	uint32_t *slot; /* [slots]: numbers, or NAMES_NONE */
	uint32_t slots; /* a power of two, more than n */
};

/* Adds a copy of a name, which gets the number names.n. 0; -EEXIST if it is there already; -ENOMEM; -E2BIG with
 * NAMES_MAX names. number, which may be NULL, becomes the number of the name; it is not set with -ENOMEM and -E2BIG. */
int names_add(struct names *, const char *name, uint32_t *number);
/* The number of a name, or NAMES_NONE. */
uint32_t names_find(const struct names *, const char *name);
void names_free(struct names *);

#endif

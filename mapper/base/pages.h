/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory in large pages, where the system has them, for tables that are read in random order: with small pages most
 * accesses miss the translation buffer. Any thread may call. */
#ifndef ZIP_MAPPER_PAGES_H
#define ZIP_MAPPER_PAGES_H

#include <stddef.h>

/* Zeroed memory; NULL: there is not enough. The thread that touches a page first has it zeroed. */
void *pages_alloc(size_t bytes);
/* Gives back what pages_alloc() returned for that many bytes. NULL is fine. */
void pages_free(void *, size_t bytes);

#endif

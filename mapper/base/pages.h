/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory in large pages, where the system has them, for tables that are read in random order. With small pages most
 * accesses would miss the translation buffer. Any thread may call. */
#ifndef ZIP_MAPPER_PAGES_H
#define ZIP_MAPPER_PAGES_H

#include <stddef.h>

/* Returns zeroed memory, or NULL if there is not enough. A page is zeroed by the thread that touches it first. */
void *pages_alloc(size_t bytes);
/* Gives back what pages_alloc() returned for that many bytes. NULL is fine. */
void pages_free(void *, size_t bytes);

#endif

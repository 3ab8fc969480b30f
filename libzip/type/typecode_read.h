/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes (typecode.h) as a datatype. Any bytes may come. */
#ifndef ZIP_LIBZIP_TYPECODE_READ_H
#define ZIP_LIBZIP_TYPECODE_READ_H

#include "libzip/type/typecode_args.h"

/* Reads a description: the last node, not committed; frees the others. */
bool ztypecode_read(struct ztypecode_node *, const uint8_t *code, size_t len);

#endif

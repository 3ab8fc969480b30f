/* SPDX-License-Identifier: BSD-3-Clause */
/* Native datatypes from the arguments of their constructors. */
#ifndef ZIP_LIBZIP_TYPECODE_MAKE_H
#define ZIP_LIBZIP_TYPECODE_MAKE_H

#include "libzip/type/typecode_args.h"

/* Builds a native datatype, not committed. Errors that can be seen beforehand are not left to native MPI, which might
 * compute wrong. False: the arguments make no sense, or there is no such datatype here. */
bool ztypecode_make(struct ztypecode_node *, const struct ztypecode_args *, const struct ztypecode_node *nodes);

#endif

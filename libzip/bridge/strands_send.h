/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending a very large message in strands, see strands.h. Under the shim's lock. */
#ifndef ZIP_LIBZIP_STRANDS_SEND_H
#define ZIP_LIBZIP_STRANDS_SEND_H

#include <stdbool.h>

#include "libzip/stream/op.h"

/* Does a message of these bytes to that rank go in strands? */
bool zstrands_send_divides(const struct zremote *, enum zcomm_context, const struct zdata *, enum zsend_mode);
/* Sends it, as zbridge_isend. */
int zstrands_send(const struct zop_args *, const struct zdata *, struct zreq **);

#endif

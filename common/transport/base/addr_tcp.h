/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses tcp:HOST[:PORT] and tcp:[IPV6][:PORT]. */
#ifndef ZIP_COMMON_TRANSPORT_BASE_ADDR_TCP_H
#define ZIP_COMMON_TRANSPORT_BASE_ADDR_TCP_H

#include "common/transport/base/addr_kind.h"

/* Reads HOST[:PORT] or [IPV6][:PORT] into an address, which becomes a TCP address. text is the whole text, for
 * messages. Returns 0 or -EINVAL with the reason. */
int zaddr_tcp_parse_host(struct zaddr *, const char *rest, const char *text, struct zerr *);
extern const struct zaddr_ops zaddr_tcp_ops;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses shm[:PATH or :@NAME]. */
#ifndef ZIP_COMMON_TRANSPORT_BASE_ADDR_SHM_H
#define ZIP_COMMON_TRANSPORT_BASE_ADDR_SHM_H

#include "common/transport/base/addr_kind.h"

extern const struct zaddr_ops zaddr_shm_ops;

#endif

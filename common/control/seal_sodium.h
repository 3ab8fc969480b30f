/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealed records by libsodium, for auth.c, which hands them out. Any thread. */
#ifndef ZIP_COMMON_CONTROL_SEAL_SODIUM_H
#define ZIP_COMMON_CONTROL_SEAL_SODIUM_H

#include "common/control/seal.h"

extern const struct zseal_ops zseal_sodium;

#endif

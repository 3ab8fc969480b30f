/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of messages under --validate: each tells the message and the place in it. */
#ifndef ZIPBENCH_P2P_P2P_DATA_H
#define ZIPBENCH_P2P_P2P_DATA_H

#include <stddef.h>
#include <stdint.h>

/* message: its number; consecutive ones differ in each byte. */
void p2p_data_fill(uint8_t *, size_t bytes, uint32_t message);
/* The number of bytes that are wrong. */
size_t p2p_data_check(const uint8_t *, size_t bytes, uint32_t message);

#endif

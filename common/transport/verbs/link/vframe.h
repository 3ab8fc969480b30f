/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames: messages of the two ends of a link to each other over its TCP connection, beside the messages that travel
 * there until the queue pairs are up. A frame is a message of kind ZWIRE_CTRL with VFRAME_COMM, which no other message
 * has.
 *
 *   OFFER  the connecting end, first of all: its queue pairs and address
 *   ANSWER the accepting end, when the link is settled: likewise
 *   READY  the connecting end, when it has ANSWER and something to send: its queue pairs are up
 *   SWITCH before the first message that goes over a queue pair: no more messages come over TCP
 *   CLOSE  count sends went over the queue pair, and all have been acknowledged: there will be no more
 *
 * The payload has VFRAME_BYTES, little-endian, at fixed offsets:
 *
 *   offset size field
 *        0    1 type
 *        1    1 version   VFRAME_VERSION
 *        2    1 flags     1: RoCE, not InfiniBand; 2: packets between the two need a global route header (GRH);
 *                         4: RoCE version 1
 *        3    1 mtu       enum ibv_mtu
 *        4    2 lid
 *        6    2 reads     one-sided reads that may be under way, at most
 *        8    4 qpn of the sender's send half
 *       12    4 qpn of its receive half
 *       16    4 first packet sequence number of the send half's queue pair
 *       20    4 likewise of the receive half's
 *       24    4 bytes of one send, at most
 *       28    4 count
 *       32   16 gid
 *       48   78 port that the sender of OFFER wants to reach ("mlx4_0:1"), filled up with zeros
 *      126    2 pkey      InfiniBand: partition key, with the bit for full membership
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_FRAME_H
#define ZIP_COMMON_TRANSPORT_VERBS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define VFRAME_VERSION 2
#define VFRAME_BYTES 128
#define VFRAME_COMM UINT64_C(0x7362726576) /* "verbs" */
#define VFRAME_PORT_BYTES 78

enum vframe_type { VFRAME_OFFER = 1, VFRAME_ANSWER, VFRAME_READY, VFRAME_SWITCH, VFRAME_CLOSE };

struct vframe {
	enum vframe_type type;
	bool ethernet, grh, v1;
	uint8_t mtu;
	uint16_t lid, reads, pkey;
	uint32_t tx_qpn, rx_qpn, tx_psn, rx_psn;
	uint32_t send_bytes, count;
	uint8_t gid[16];
	char port[VFRAME_PORT_BYTES];
};

void vframe_encode(uint8_t env[ZWIRE_ENV_BYTES], uint8_t payload[VFRAME_BYTES], const struct vframe *);
bool vframe_is(const struct zwire_env *);
/* Returns 0 or -EPROTO. */
int vframe_decode(struct vframe *, const struct zwire_env *, const uint8_t *payload);

#endif

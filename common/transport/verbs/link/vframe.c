/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding of frames, see vframe.h. */
#include "common/transport/verbs/link/vframe.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#define QPN_MAX 0xffffffu

enum { FLAG_ETHERNET = 1, FLAG_GRH = 2, FLAG_V1 = 4, FLAGS = FLAG_ETHERNET | FLAG_GRH | FLAG_V1 };

static void put(uint8_t *at, uint32_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t get(const uint8_t *at, int bytes)
{
	uint32_t v = 0;
	for (int i = 0; i < bytes; i++)
		v |= (uint32_t)at[i] << 8 * i;
	return v;
}

void vframe_encode(uint8_t env[ZWIRE_ENV_BYTES], uint8_t p[VFRAME_BYTES], const struct vframe *f)
{
	zwire_encode(env, &(struct zwire_env){.kind = ZWIRE_CTRL,
				  .src = ZWIRE_NOBODY,
				  .dst = ZWIRE_NOBODY,
				  .comm = VFRAME_COMM,
				  .len = VFRAME_BYTES});
	memset(p, 0, VFRAME_BYTES);
	p[0] = (uint8_t)f->type;
	p[1] = VFRAME_VERSION;
	p[2] = (uint8_t)((f->ethernet ? FLAG_ETHERNET : 0) | (f->grh ? FLAG_GRH : 0) | (f->v1 ? FLAG_V1 : 0));
	p[3] = f->mtu;
	put(p + 4, f->lid, 2);
	put(p + 6, f->reads, 2);
	put(p + 8, f->tx_qpn, 4);
	put(p + 12, f->rx_qpn, 4);
	put(p + 16, f->tx_psn, 4);
	put(p + 20, f->rx_psn, 4);
	put(p + 24, f->send_bytes, 4);
	put(p + 28, f->count, 4);
	memcpy(p + 32, f->gid, sizeof(f->gid));
	memcpy(p + 48, f->port, sizeof(f->port));
	put(p + 126, f->pkey, 2);
}

bool vframe_is(const struct zwire_env *env)
{
	return env->kind == ZWIRE_CTRL && env->comm == VFRAME_COMM;
}

static bool is_setup_sane(const struct vframe *f)
{
	return f->mtu >= IBV_MTU_256 && f->mtu <= IBV_MTU_4096 && f->tx_qpn <= QPN_MAX && f->rx_qpn <= QPN_MAX &&
	       f->tx_psn <= QPN_MAX && f->rx_psn <= QPN_MAX && f->send_bytes >= 2 * ZWIRE_ENV_BYTES;
}

int vframe_decode(struct vframe *f, const struct zwire_env *env, const uint8_t *p)
{
	if (env->len != VFRAME_BYTES || p[1] != VFRAME_VERSION || p[0] < VFRAME_OFFER || p[0] > VFRAME_CLOSE ||
		p[2] & ~FLAGS)
		return -EPROTO;
	*f = (struct vframe){.type = (enum vframe_type)p[0],
		.ethernet = p[2] & FLAG_ETHERNET,
		.grh = p[2] & FLAG_GRH,
		.v1 = p[2] & FLAG_V1,
		.mtu = p[3],
		.lid = (uint16_t)get(p + 4, 2),
		.reads = (uint16_t)get(p + 6, 2),
		.pkey = (uint16_t)get(p + 126, 2),
		.tx_qpn = get(p + 8, 4),
		.rx_qpn = get(p + 12, 4),
		.tx_psn = get(p + 16, 4),
		.rx_psn = get(p + 20, 4),
		.send_bytes = get(p + 24, 4),
		.count = get(p + 28, 4)};
	memcpy(f->gid, p + 32, sizeof(f->gid));
	memcpy(f->port, p + 48, sizeof(f->port));
	if (f->port[VFRAME_PORT_BYTES - 1] != '\0')
		return -EPROTO;
	bool setup = f->type == VFRAME_OFFER || f->type == VFRAME_ANSWER;
	return setup && !is_setup_sane(f) ? -EPROTO : 0;
}

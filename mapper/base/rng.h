/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers as a function of a position: the same for a seed whatever thread asks, in whatever order. */
#ifndef ZIP_MAPPER_RNG_H
#define ZIP_MAPPER_RNG_H

#include <stdint.h>

/* What a number is for: part of its position, so that no two uses share a stream. */
enum rng_stream {
	RNG_PLACEMENT = 1,
	RNG_PATTERN,
	RNG_PATH,
	RNG_PACKET,
	RNG_MAP,
	RNG_TEST,
};

/* A bijection of 64 bits in which every input bit changes every output bit with probability near one half (two
 * rounds of xor-shift and multiply with the constants of the SplitMix64 output function). */
static inline uint64_t rng_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static inline uint64_t rng_at(uint64_t seed, enum rng_stream stream, uint64_t a, uint64_t b)
{
	uint64_t x = rng_mix(seed + (uint64_t)stream * UINT64_C(0x9e3779b97f4a7c15));

	return rng_mix(rng_mix(x + a) + b * UINT64_C(0x9e3779b97f4a7c15));
}

/* 0..n-1 from 32 random bits; the bias is below n / 2^32. */
static inline uint32_t rng_below(uint32_t bits, uint32_t n)
{
	return (uint32_t)((uint64_t)bits * n >> 32);
}

#endif

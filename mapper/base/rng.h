/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers as a function of a seed, a use and a position (rng_at). So all threads get the same numbers, in any
 * order. */
#ifndef ZIP_MAPPER_RNG_H
#define ZIP_MAPPER_RNG_H

#include <stdint.h>

/* The use of a number. It is part of the number's position, so that no two uses share a stream. */
enum rng_stream {
	RNG_PLACEMENT = 1,
	RNG_PATTERN,
	RNG_PATH,
	RNG_PACKET,
	RNG_MAP,
	RNG_TEST,
};

/* A bijection of 64 bits. Every input bit changes every output bit with a probability near one half. Two rounds of
 * xor-shift and multiply, with the constants of SplitMix64's output function. */
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

/* Makes a number in 0..n-1 from 32 random bits. The bias is below n / 2^32. */
static inline uint32_t rng_below(uint32_t bits, uint32_t n)
{
	return (uint32_t)((uint64_t)bits * n >> 32);
}

#endif

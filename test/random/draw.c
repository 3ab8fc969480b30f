/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers from a seed, by SplitMix64 (Steele, Lea and Flood 2014). See draw.h. */
#include "draw.h"

struct draw draw_from(uint64_t seed, uint64_t salt)
{
	struct draw d = {seed};
	d.state = draw_next(&d) ^ (salt * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u);
	draw_next(&d);
	return d;
}

uint64_t draw_next(struct draw *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

int draw_below(struct draw *d, int n)
{
	return (int)((draw_next(d) >> 16) % (uint64_t)n);
}

int draw_between(struct draw *d, int low, int high)
{
	return low + draw_below(d, high - low + 1);
}

bool draw_chance(struct draw *d, int percent)
{
	return draw_below(d, 100) < percent;
}

void draw_shuffle(struct draw *d, int *numbers, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int j = draw_below(d, i + 1), kept = numbers[i];
		numbers[i] = numbers[j];
		numbers[j] = kept;
	}
}

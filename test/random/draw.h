/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers that depend on a seed alone: every rank draws the same ones from the same seed. */
#ifndef ZIP_RANDOM_DRAW_H
#define ZIP_RANDOM_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct draw {
	uint64_t state;
};

/* Makes a generator. Different salts give unrelated numbers from one seed. */
struct draw draw_from(uint64_t seed, uint64_t salt);
uint64_t draw_next(struct draw *d);
/* Returns a number from 0 to n - 1; n is at least 1. */
int draw_below(struct draw *d, int n);
/* Returns a number from low to high. */
int draw_between(struct draw *d, int low, int high);
/* Returns true in so many percent of the draws. */
bool draw_chance(struct draw *d, int percent);
/* Puts n numbers in a random order. */
void draw_shuffle(struct draw *d, int *numbers, int n);

#endif

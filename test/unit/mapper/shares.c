/* SPDX-License-Identifier: BSD-3-Clause */
/* Max-min fair rates: cases worked out by hand, and random flows that come and go, against a filling of all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "mapper/base/rng.h"
#include "mapper/replay/shares_settle.h"

#define LINKS 12
#define FLOWS 60
#define PATH 4

static void changed(void *arg, void *owner)
{
	(void)owner;
	++*(unsigned *)arg;
}

static uint32_t add(struct shares *s, double weight, uint32_t n, const uint32_t *link)
{
	uint32_t flow;

	assert_int_equal(shares_add(s, link, n, weight, NULL, &flow), 0);
	return flow;
}

static void settle(struct shares *s)
{
	unsigned n = 0;

	assert_int_equal(shares_settle(s, changed, &n), 0);
}

static void assert_rate(const struct shares *s, uint32_t flow, double rate)
{
	if (fabs(shares_rate(s, flow) - rate) > 1e-6 * (1 + rate))
		fail_msg("flow %u: %.9g, not %.9g", flow, shares_rate(s, flow), rate);
}

/* A long flow over both links of a line, and a short one over each: of 1 and 2, the first link limits two flows to 1/2,
 * and the third flow gets the rest of the second link, 3/2. */
static void line(void **state)
{
	static const double capacity[] = {1, 2};
	static const uint32_t both[] = {0, 1}, first[] = {0}, second[] = {1};
	struct shares *s;
	uint32_t a, b, c, d;

	(void)state;
	assert_int_equal(shares_create(&s, capacity, 2), 0);
	a = add(s, 1, 2, both);
	b = add(s, 1, 1, first);
	c = add(s, 1, 1, second);
	settle(s);
	assert_rate(s, a, 0.5);
	assert_rate(s, b, 0.5);
	assert_rate(s, c, 1.5);
	assert_int_equal(shares_limit(s, a), 0);
	assert_int_equal(shares_limit(s, c), 1);
	/* a new flow over both would have 1/2 at most, one over the second link 3/2 */
	d = add(s, 1, 2, both);
	assert_true(fabs(shares_ceiling(s, d) - 0.5) < 1e-9);
	shares_remove(s, d);
	d = add(s, 1, 1, second);
	assert_true(fabs(shares_ceiling(s, d) - 1.5) < 1e-9);
	shares_remove(s, d);
	shares_remove(s, b);
	settle(s);
	assert_rate(s, a, 1);
	assert_rate(s, c, 1);
	shares_remove(s, c);
	settle(s);
	assert_rate(s, a, 1);
	shares_destroy(s);
}

/* Three links of 3 in a row, a flow over all of them, one over the first, two over the second, none alone over the
 * third: 1, 2, 1 and 1. With three times the weight the long flow gets 9/5, and the two 3/5 each. */
static void weights(void **state)
{
	static const double capacity[] = {3, 3, 3};
	static const uint32_t all[] = {0, 1, 2}, first[] = {0}, second[] = {1};
	struct shares *s;
	uint32_t a, b, c, d;

	(void)state;
	assert_int_equal(shares_create(&s, capacity, 3), 0);
	a = add(s, 1, 3, all);
	b = add(s, 1, 1, first);
	c = add(s, 1, 1, second);
	d = add(s, 1, 1, second);
	settle(s);
	assert_rate(s, a, 1);
	assert_rate(s, b, 2);
	assert_rate(s, c, 1);
	assert_rate(s, d, 1);
	shares_remove(s, a);
	a = add(s, 3, 3, all);
	settle(s);
	assert_rate(s, a, 1.8);
	assert_rate(s, b, 1.2);
	assert_rate(s, c, 0.6);
	assert_rate(s, d, 0.6);
	shares_destroy(s);
}

/* A flow that crosses a link twice needs it twice. */
static void twice(void **state)
{
	static const double capacity[] = {6};
	static const uint32_t loop[] = {0, 0}, once[] = {0};
	struct shares *s;
	uint32_t a, b;

	(void)state;
	assert_int_equal(shares_create(&s, capacity, 1), 0);
	a = add(s, 1, 2, loop);
	b = add(s, 1, 1, once);
	settle(s);
	assert_rate(s, a, 2);
	assert_rate(s, b, 2);
	shares_destroy(s);
}

/* --- random flows --- */

struct known {
	uint32_t flow, n, link[PATH];
	double weight, rate;
	int filled, there;
};

/* Fills all flows together, link by link. */
static void fill(struct known *k, const double *capacity)
{
	double left[LINKS];

	memcpy(left, capacity, sizeof(left));
	for (int i = 0; i < FLOWS; i++)
		k[i].filled = !k[i].there;
	for (;;) {
		double least = INFINITY, weight[LINKS] = {0};
		int full = -1;

		for (int i = 0; i < FLOWS; i++)
			for (uint32_t j = 0; j < k[i].n && !k[i].filled; j++)
				weight[k[i].link[j]] += k[i].weight;
		for (int l = 0; l < LINKS; l++)
			if (weight[l] > 0 && left[l] / weight[l] < least) {
				least = left[l] / weight[l];
				full = l;
			}
		if (full < 0)
			return;
		for (int i = 0; i < FLOWS; i++) {
			int on = 0;

			for (uint32_t j = 0; j < k[i].n && !k[i].filled; j++)
				on |= k[i].link[j] == (uint32_t)full;
			if (!on)
				continue;
			k[i].filled = 1;
			k[i].rate = least * k[i].weight;
			for (uint32_t j = 0; j < k[i].n; j++)
				left[k[i].link[j]] -= k[i].rate;
		}
	}
}

/* Flow i is on links i and i + 1; the even links limit pairs of flows, 1, 2, 3, ... each, and the odd ones have a
 * little left. When a flow that shared the first link goes, each flow changes the next one: more rounds than
 * shares_settle.c takes for flows that are found one by one. */
static void chain(void **state)
{
	struct known k[FLOWS] = {{0}};
	double capacity[LINKS];
	struct shares *s;

	(void)state;
	for (int l = 0; l < LINKS; l++)
		capacity[l] = l % 2 ? l + 2.1 : l + 2;
	assert_int_equal(shares_create(&s, capacity, LINKS), 0);
	for (uint32_t i = 0; i < LINKS; i++) {
		k[i] = (struct known){.n = i ? 2 : 1, .link = {i ? i - 1 : 0, i}, .weight = 1, .there = 1};
		k[i].flow = add(s, 1, k[i].n, k[i].link);
	}
	for (int step = 0; step < 2; step++) {
		settle(s);
		fill(k, capacity);
		for (int i = 0; i < LINKS; i++)
			if (k[i].there)
				assert_rate(s, k[i].flow, k[i].rate);
		if (!step)
			shares_remove(s, k[0].flow);
		k[0].there = 0;
	}
	shares_destroy(s);
}

static void random_flows(void **state)
{
	double capacity[LINKS];
	uint64_t draw = 0;

	(void)state;
#define DRAW(n) rng_below((uint32_t)rng_at(1, RNG_TEST, draw++, 0), n)
	for (int round = 0; round < 40; round++) {
		struct known k[FLOWS] = {{0}};
		struct shares *s;

		for (int l = 0; l < LINKS; l++)
			capacity[l] = round % 2 ? 1 + DRAW(3) : 1 + DRAW(1000) / 100.0;
		assert_int_equal(shares_create(&s, capacity, LINKS), 0);
		for (int step = 0; step < 200; step++) {
			for (uint32_t changes = 1 + DRAW(3); changes; changes--) {
				struct known *f = &k[DRAW(1 + (uint32_t)step % FLOWS)];

				if (f->there) {
					shares_remove(s, f->flow);
					f->there = 0;
					continue;
				}
				f->n = 1 + DRAW(PATH);
				for (uint32_t j = 0; j < f->n; j++)
					f->link[j] = DRAW(LINKS);
				f->weight = round % 3 ? 1 : 1.0 / (1 + DRAW(4));
				f->flow = add(s, f->weight, f->n, f->link);
				f->there = 1;
			}
			settle(s);
			fill(k, capacity);
			for (int i = 0; i < FLOWS; i++)
				if (k[i].there)
					assert_rate(s, k[i].flow, k[i].rate);
		}
		shares_destroy(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line),
		cmocka_unit_test(weights),
		cmocka_unit_test(twice),
		cmocka_unit_test(chain),
		cmocka_unit_test(random_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

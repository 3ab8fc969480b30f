/* SPDX-License-Identifier: BSD-3-Clause */
/* Times by phase and kind. See record_time.h. */
#include "libzip/record/record_time.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "libzip/progress/progress.h"

struct phase {
	uint32_t number;
	struct {
		uint64_t calls, ns; /* atomic: several threads add */
	} of[ZGRAPH_SPANS];
	struct phase *next; /* ascending by number */
};

static struct phase *phases, *here; /* here: atomic; NULL: nothing is recorded */
static size_t nphases;
static int64_t phase_began;

/* Depth of this thread's recorded calls. */
static __thread int depth __attribute__((tls_model("initial-exec")));

static void add(struct phase *p, enum zgraph_span span, int64_t ns)
{
	__atomic_add_fetch(&p->of[span].calls, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&p->of[span].ns, ns > 0 ? (uint64_t)ns : 0, __ATOMIC_RELAXED);
}

/* A wait for other clusters. The progress thread waits in no call of the program. */
static void note_wait(int64_t began)
{
	struct phase *p = depth > 0 ? __atomic_load_n(&here, __ATOMIC_ACQUIRE) : NULL;

	if (p)
		add(p, ZGRAPH_SPAN_BRIDGE, zclock_ns() - began);
}

/* The phase of this number, made with its first use. NULL: 0, too many, or no memory. */
static struct phase *find(uint32_t number)
{
	struct phase **at = &phases;

	while (*at && (*at)->number < number)
		at = &(*at)->next;
	if (number == 0 || (*at && (*at)->number == number))
		return number ? *at : NULL;
	struct phase *p = nphases < ZRECORD_PHASES_MAX ? calloc(1, sizeof(*p)) : NULL;
	if (!p)
		return NULL;
	p->number = number;
	p->next = *at;
	*at = p;
	nphases++;
	return p;
}

void zrecord_time_phase(uint32_t number)
{
	const int64_t now = zclock_ns();

	if (here) {
		here->of[ZGRAPH_SPAN_RUN].calls = 1;
		here->of[ZGRAPH_SPAN_RUN].ns += (uint64_t)(now - phase_began);
	}
	phase_began = now;
	__atomic_store_n(&here, find(number), __ATOMIC_RELEASE);
}

void zrecord_time_begin(uint32_t number)
{
	zrecord_time_phase(number);
	zprogress_waited = note_wait;
}

void zrecord_time_end(void)
{
	zrecord_time_phase(0);
	zprogress_waited = NULL;
}

int64_t zrecord_time_call_begin(void)
{
	return depth++ == 0 ? zclock_ns() : 0;
}

void zrecord_time_call_end(enum zgraph_span span, int64_t began)
{
	struct phase *p = --depth == 0 ? __atomic_load_n(&here, __ATOMIC_ACQUIRE) : NULL;

	if (p)
		add(p, span, zclock_ns() - began);
}

int zrecord_time_list(struct zgraph_time **out, size_t *n)
{
	*n = 0;
	*out = malloc((nphases * ZGRAPH_SPANS + 1) * sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (const struct phase *p = phases; p; p = p->next)
		for (int k = 0; k < ZGRAPH_SPANS; k++)
			if (p->of[k].calls)
				(*out)[(*n)++] = (struct zgraph_time){.phase = p->number,
					.span = (enum zgraph_span)k,
					.calls = p->of[k].calls,
					.ns = p->of[k].ns};
	return 0;
}

void zrecord_time_free(void)
{
	while (phases) {
		struct phase *p = phases;
		phases = p->next;
		free(p);
	}
	nphases = 0;
}

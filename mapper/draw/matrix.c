/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums a graph to cells. See matrix.h. */
#include "mapper/draw/matrix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int matrix_make(struct matrix *m, const struct zgraph *g, unsigned bins, bool messages)
{
	m->block = (g->ranks + bins - 1) / bins;
	m->n = (g->ranks + m->block - 1) / m->block;
	m->cell = calloc((size_t)m->n * m->n, sizeof(*m->cell));
	if (!m->cell)
		return -ENOMEM;
	for (uint32_t r = 0; r < g->ranks; r++)
		for (uint64_t i = g->off[r]; i < g->off[r + 1]; i++)
			m->cell[(size_t)(r / m->block) * m->n + g->peer[i] / m->block] +=
				(double)(messages ? g->messages[i] : g->bytes[i]);
	m->least = HUGE_VAL;
	m->most = 0;
	for (size_t i = 0; i < (size_t)m->n * m->n; i++) {
		m->most = m->cell[i] > m->most ? m->cell[i] : m->most;
		m->least = m->cell[i] > 0 && m->cell[i] < m->least ? m->cell[i] : m->least;
	}
	return 0;
}

void matrix_free(struct matrix *m)
{
	free(m->cell);
	m->cell = NULL;
}

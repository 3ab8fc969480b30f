/* SPDX-License-Identifier: BSD-3-Clause */
/* Completes requests in all ways that MPI has. See waiting.h. */
#include "waiting.h"

#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "model.h"
#include "trace.h"

void waiting_add(struct waiting *w, MPI_Request request, void (*done)(void *context, MPI_Status *status), void *context)
{
	if (w->n == w->room) {
		w->room = w->room ? 2 * w->room : 8;
		w->request = realloc(w->request, w->room * sizeof *w->request);
		w->end = realloc(w->end, w->room * sizeof *w->end);
	}
	w->request[w->n] = request;
	w->end[w->n++] = (struct waiting_end){done, context};
}

void waiting_move(struct waiting *to, struct waiting *from)
{
	for (int i = 0; i < from->n; i++)
		waiting_add(to, from->request[i], from->end[i].done, from->end[i].context);
	from->n = 0;
}

/* one after the other, in a random order */
static void singly(struct waiting *w, MPI_Status *status, struct draw *d)
{
	int order[w->n], flag;
	for (int i = 0; i < w->n; i++)
		order[i] = i;
	draw_shuffle(d, order, w->n);
	for (int i = 0; i < w->n; i++) {
		MPI_Request *r = &w->request[order[i]];
		MPI_Status *s = &status[order[i]], seen;
		switch (draw_below(d, 3)) {
		case 0:
			break;
		case 1:
			for (flag = 0; !flag;)
				TRY(MPI_Test(r, &flag, s));
			continue; /* the request is gone, or inactive */
		default:
			for (flag = 0; !flag;)
				TRY(MPI_Request_get_status(*r, &flag, &seen));
		}
		TRY(MPI_Wait(r, s));
	}
}

static void any(struct waiting *w, MPI_Status *status, struct draw *d)
{
	for (int left = w->n; left > 0;) {
		int index = MPI_UNDEFINED, flag = 1;
		MPI_Status s;
		if (draw_chance(d, 50))
			TRY(MPI_Waitany(w->n, w->request, &index, &s));
		else
			TRY(MPI_Testany(w->n, w->request, &index, &flag, &s));
		if (!flag)
			continue;
		if (index == MPI_UNDEFINED)
			break;
		status[index] = s;
		left--;
	}
}

static void some(struct waiting *w, MPI_Status *status, struct draw *d)
{
	int index[w->n];
	MPI_Status s[w->n];
	for (int left = w->n; left > 0;) {
		int found = 0;
		if (draw_chance(d, 50))
			TRY(MPI_Waitsome(w->n, w->request, &found, index, s));
		else
			TRY(MPI_Testsome(w->n, w->request, &found, index, s));
		if (found == MPI_UNDEFINED)
			break;
		for (int i = 0; i < found; i++)
			status[index[i]] = s[i];
		left -= found;
	}
}

static void complete(struct waiting *w, MPI_Status *status, struct draw *d)
{
	switch (draw_below(d, w->no_testall ? 3 : 6)) {
	case 0:
		singly(w, status, d);
		break;
	case 1:
		any(w, status, d);
		break;
	case 2:
		some(w, status, d);
		break;
	case 3:
		/* MPICH 4.2.1 reports errors where there are none when threads do this. */
		if (model_all_native()) {
			TRY(MPI_Waitall(w->n, w->request, status));
			break;
		}
		for (int flag = 0; !flag;)
			TRY(MPI_Testall(w->n, w->request, &flag, status));
		break;
	default:
		TRY(MPI_Waitall(w->n, w->request, status));
	}
}

void waiting_complete(struct waiting *w, uint64_t seed)
{
	struct draw d = draw_from(seed, 0x7a17);
	MPI_Status *status = calloc(w->n + 1, sizeof *status);
	if (w->n)
		complete(w, status, &d);
	for (int i = 0; i < w->n; i++)
		w->end[i].done(w->end[i].context, &status[i]);
	free(status);
	free(w->request);
	free(w->end);
	memset(w, 0, sizeof *w);
}

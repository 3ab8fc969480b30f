/* SPDX-License-Identifier: BSD-3-Clause */
/* All collectives in all forms between the groups of the intercommunicators of inter_comms.h, against a model. */
#ifndef ZIP_TEST_INTER_FORMS_H
#define ZIP_TEST_INTER_FORMS_H

#include "../coll/all_calls.h"
#include "inter_comms.h"

/* Is it inside one cluster, and so MPICH's own? Those of all ranks are not, and neither are those without one. */
static int may_be_native(int i)
{
	return i == 5;
}

static void describe(struct place *p)
{
	memset(p, 0, sizeof *p);
	p->comm = inter;
	p->inter = 1;
	p->me = me;
	p->np = np;
	p->id = rank;
	p->nin = p->nout = nremote;
	memcpy(p->in, remote_world, sizeof p->in);
	memcpy(p->out, remote_world, sizeof p->out);
}

static void try_inter(int i, uint32_t state)
{
	struct place p;
	describe(&p);
	int sizes[2] = {side == 0 ? np : nremote, side == 0 ? nremote : np};
	for (enum kind kind = BARRIER; kind < SCAN; kind++)
		for (int form = 0; form < FORMS; form++)
			for (int large = 0; large < 2; large++) {
				struct trial t[3];
				int n = form == BLOCKING ? 1 : 3;
				if (form != BLOCKING && may_be_native(i))
					continue;
				for (int k = 0; k < n; k++) {
					enum kind which = k == 0 ? kind : (enum kind)(next_random(&state) % SCAN);
					draw(&t[k], which, &p, side, sizes, &state);
					t[k].form = form;
					t[k].large = large;
				}
				try_trials(t, n, 2, &p, inter_names[i]);
			}
	printf("rank %d: %s: done\n", rank, inter_names[i]);
}

/* The program: on the intercommunicators from that one on. Its argument is a seed. */
static inline int try_from(int first, int argc, char **argv)
{
	begin(&argc, &argv);
	uint32_t seed = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	make_layouts();
	make_inters();
	make_ops();
	for (int i = first; i < INTERS; i++)
		if (use_inter(i))
			try_inter(i, seed * 100 + (uint32_t)i);
	free_ops();
	free_inters();
	free_layouts();
	return end();
}

#endif

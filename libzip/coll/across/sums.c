/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions between the groups of an intercommunicator. */
#include "libzip/coll/across/sums.h"

static int depth_out(const struct zgiving *x)
{
	return zgroupsum_depth(zgiving_segments(x));
}

static int depth_in(const struct ztaking *x)
{
	return zgroupsum_depth(ztaking_segments(x));
}

static int add_round(struct zsched *s, struct zgiving **out, int nout, struct ztaking **in, int nin, int round)
{
	int rc = MPI_SUCCESS;
	for (int i = 0; i < nin && rc == MPI_SUCCESS; i++)
		rc = ztaking_receive(s, in[i], round - 1);
	for (int i = 0; i < nout && rc == MPI_SUCCESS; i++)
		rc = zgiving_send(s, out[i], round - 1);
	for (int i = 0; i < nout && rc == MPI_SUCCESS; i++)
		rc = zgiving_reduce(s, out[i], round);
	for (int i = 0; i < nin && rc == MPI_SUCCESS; i++)
		rc = ztaking_spread(s, in[i], round - 1 - depth_in(in[i]));
	/* the messages for which this is the last round */
	for (int i = 0; i < nout && rc == MPI_SUCCESS; i++)
		rc = zgiving_land(s, out[i], round - depth_out(out[i]));
	for (int i = 0; i < nin && rc == MPI_SUCCESS; i++)
		rc = ztaking_land(s, in[i], round - depth_in(in[i]));
	return rc;
}

/* Group i of the segments is reduced in round i, crosses in the next rounds, and is combined and spread in the round
 * behind them. */
int zsums_run(struct zsched *s, struct zgiving **out, int nout, struct ztaking **in, int nin)
{
	int rounds = 0, rc = MPI_SUCCESS;
	for (int i = 0; i < nout; i++) {
		int n = zgiving_segments(out[i])->groups + depth_out(out[i]);
		rounds = n > rounds ? n : rounds;
	}
	for (int i = 0; i < nin; i++) {
		int n = ztaking_segments(in[i])->groups + 1 + depth_in(in[i]);
		rounds = n > rounds ? n : rounds;
	}
	for (int round = 0; round < rounds && rc == MPI_SUCCESS; round++) {
		rc = add_round(s, out, nout, in, nin, round);
		zsched_round(s);
	}
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the MPI of each part. See mpi.h. */
#include "launch/plan/mpi.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "launch/plan/plan.h"

const char *zmpi_name(enum zmpi mpi)
{
	return mpi == ZMPI_OPEN ? "Open MPI" : "MPICH";
}

bool zmpi_is_built(enum zmpi mpi)
{
	return mpi != ZMPI_OPEN || OMPIRUN[0] != '\0';
}

bool zmpi_has_standard(void)
{
	return STANDARD_ABI;
}

/* `len` bytes of text. */
static int parse(struct zplan_part *part, const char *where, const char *text, size_t len, struct zerr *err)
{
	static const struct {
		const char *name;
		enum zmpi mpi;
		bool standard;
	} names[] = {{"mpich", ZMPI_MPICH, false}, {"openmpi", ZMPI_OPEN, false}, {"mpich-abi", ZMPI_MPICH, true},
		{"openmpi-abi", ZMPI_OPEN, true}};
	size_t i = 0;

	while (i < sizeof(names) / sizeof(names[0]) &&
		(strlen(names[i].name) != len || strncmp(names[i].name, text, len) != 0))
		i++;
	if (i == sizeof(names) / sizeof(names[0]))
		return zerr_set(err, -EINVAL, "%s: '%.*s' is none of mpich, openmpi, mpich-abi, openmpi-abi", where,
			len < 32 ? (int)len : 32, text);
	part->mpi = names[i].mpi;
	part->standard = names[i].standard;
	if (part->standard && !zmpi_has_standard())
		return zerr_set(err, -EOPNOTSUPP, "%s: zmpirun was built without the MPI standard ABI", where);
	if (!zmpi_is_built(part->mpi))
		return zerr_set(err, -EOPNOTSUPP, "%s: zmpirun was built without %s", where, zmpi_name(part->mpi));
	return 0;
}

/* Takes the name in --mpi for part number i: one name holds for all. */
static int take_option(struct zplan_part *part, int i, int nparts, const char *list, struct zerr *err)
{
	const char *at = list;

	if (strchr(list, ',')) {
		for (int k = 0; k < i && at; k++)
			at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
		if (!at || (i == nparts - 1 && strchr(at, ',')))
			return zerr_set(err, -EINVAL, "--mpi: the list must have a name for each of the %d clusters",
				nparts);
	}
	return parse(part, "--mpi", at, strcspn(at, ","), err);
}

static int take_programs(struct zplan_part *part, const struct zoptions *o, struct zerr *err)
{
	const char *said_by = part->mpi == ZMPI_UNKNOWN ? NULL : o->mpi ? "--mpi" : "the hostfile";

	for (int lrank = 0, end; lrank < part->nranks; lrank = end) {
		const struct zsection *section = &o->sections[zplan_find_section(part, o, lrank, &end)];
		if (section->mpi == ZMPI_UNKNOWN)
			continue;
		if (part->mpi != ZMPI_UNKNOWN && part->mpi != section->mpi)
			return zerr_set(err, -EINVAL,
				"%.200s uses %s, and %.200s %s: the ranks of one cluster (%s) use one MPI",
				section->argv[0], zmpi_name(section->mpi), said_by, zmpi_name(part->mpi), part->name);
		if (part->mpi == ZMPI_UNKNOWN)
			said_by = section->argv[0];
		part->mpi = section->mpi;
	}
	return 0;
}

/* Refuses options of mpiexec that mpirun of Open MPI does not have. */
static int check_options(const struct zplan_part *part, const struct zoptions *o, struct zerr *err)
{
	const struct {
		bool given;
		const char *what;
	} lacking[] = {{o->outfile, "-outfile-pattern"}, {o->errfile, "-errfile-pattern"}, {o->universe > 0, "-usize"},
		{o->check, "--check"}, {part->group, "an allocation of Slurm (with -launcher ssh there is none)"}};

	for (size_t i = 0; i < sizeof(lacking) / sizeof(lacking[0]); i++)
		if (lacking[i].given)
			return zerr_set(err, -EOPNOTSUPP, "the ranks of %s use Open MPI, for which there is no %s",
				part->name, lacking[i].what);
	for (int h = 0; h < part->nhosts; h++)
		if (part->hosts[h].binding)
			return zerr_set(err, -EOPNOTSUPP,
				"the ranks of %s use Open MPI, for which the map may name no cores", part->name);
	return 0;
}

/* --check looks at the libraries of MPICH. */
static int check_standard(const struct zplan_part *part, const struct zoptions *o, struct zerr *err)
{
	bool standard = part->standard;

	for (int lrank = 0, end; lrank < part->nranks; lrank = end)
		standard |= o->sections[zplan_find_section(part, o, lrank, &end)].standard;
	return standard && o->check
		       ? zerr_set(err, -EOPNOTSUPP,
				 "the ranks of %s use the MPI standard ABI, for which there is no --check", part->name)
		       : 0;
}

int zmpi_choose(struct zplan *plan, const struct zoptions *o, struct zerr *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < plan->nparts; i++) {
		struct zplan_part *part = &plan->parts[i];
		if (o->mpi)
			rc = take_option(part, i, plan->nparts, o->mpi, err);
		else if (part->cluster && part->cluster->mpi)
			rc = parse(part, "the hostfile: mpi", part->cluster->mpi, strlen(part->cluster->mpi), err);
		if (rc == 0)
			rc = take_programs(part, o, err);
		if (rc == 0)
			rc = check_standard(part, o, err);
		if (rc == 0 && part->mpi == ZMPI_OPEN)
			rc = check_options(part, o, err);
	}
	return rc;
}

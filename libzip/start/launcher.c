/* SPDX-License-Identifier: BSD-3-Clause */
/* What launchers put into the environment of a rank. See launcher.h. */
#include "libzip/start/launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/control/ctl_name.h"

struct row {
	const char *rank; /* NULL: the launcher does not tell */
	const char *size; /* of the native MPI_COMM_WORLD; NULL: the launcher does not tell */
	const char *host; /* the launcher's name for this host; NULL: none, so it calls hosts by their own names */
};

/* The first row that fits counts. Hydra and PALS come before Slurm: inside a Slurm job they start ranks that inherit
 * Slurm's variables from the script. A script and a shell have no SLURM_STEP_NUM_TASKS. */
static const struct row rows[] = {
	{.rank = "PMI_RANK", .size = "PMI_SIZE", .host = "PMI_HOSTNAME"},		      /* Hydra from 4.3 on */
	{.rank = "PMI_RANK", .size = "PMI_SIZE", .host = "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"}, /* Hydra before 4.3 */
	{.rank = "PMI_RANK", .size = "PMI_SIZE", .host = "MPICH_INTERFACE_HOSTNAME"}, /* Hydra 1.x, that of Intel MPI */
	{.rank = "PMIX_RANK", .host = "PMIX_HOSTNAME"}, {.rank = "PALS_RANKID"},
	{.rank = "SLURM_PROCID", .size = "SLURM_STEP_NUM_TASKS", .host = "SLURMD_NODENAME"},
	{.rank = "PMI_RANK", .size = "PMI_SIZE"}, /* PMI and PMI2 of others */
};
#define NROWS (sizeof(rows) / sizeof(rows[0]))
/* A user sets this one where the launcher tells nothing. */
static const char by_hand[] = "MPIR_CVAR_CH3_INTERFACE_HOSTNAME";

/* Does the variable have this value? */
static bool tells(const char *variable, int value)
{
	const char *text = getenv(variable);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	const long told = strtol(text, &end, 10);
	return *end == '\0' && errno == 0 && told == value;
}

static const char *host_in(const char *variable)
{
	const char *name = getenv(variable);

	return name && zctl_name_ok(name) ? name : NULL;
}

static bool fits(const struct row *row, int rank, int size)
{
	return tells(row->rank, rank) && (!row->size || tells(row->size, size)) && (!row->host || host_in(row->host));
}

static const struct row *find(int rank, int size)
{
	for (size_t i = 0; i < NROWS; i++)
		if (fits(&rows[i], rank, size))
			return &rows[i];
	return NULL;
}

bool zlauncher_has_started_us(int rank, int size)
{
	return find(rank, size) != NULL;
}

/* The first row that the environment has counts, as above. */
static const struct {
	const char *number, *count; /* count NULL: the launcher does not tell */
} local_rows[] = {
	{"MPI_LOCALRANKID", "MPI_LOCALNRANKS"}, /* Hydra */
	{"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},
	{"SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"},
};

static int number_in(const char *variable)
{
	const char *text = variable ? getenv(variable) : NULL;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return -1;
	const long told = strtol(text, &end, 10);
	return *end == '\0' && told <= ZCTL_RANKS_MAX ? (int)told : -1;
}

void zlauncher_local(int *number, int *count)
{
	size_t i = 0;

	while (i < sizeof(local_rows) / sizeof(local_rows[0]) - 1 && number_in(local_rows[i].number) < 0)
		i++;
	*number = number_in(local_rows[i].number);
	*count = number_in(local_rows[i].count);
}

void zlauncher_host(char host[ZCTL_NAME_MAX + 1], int rank, int size)
{
	const struct row *row = find(rank, size);
	const char *name = host_in(row && row->host ? row->host : by_hand);

	if (name)
		strcpy(host, name);
	else if (gethostname(host, ZCTL_NAME_MAX) != 0 || host[0] == '\0')
		strcpy(host, "unknown");
	host[ZCTL_NAME_MAX] = '\0';
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The host of a rank by the environments of several launchers. The variables are those that each launcher sets; the
 * environments of Hydra were read from its ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libzip/start/launcher.h"

#define RANK 3
#define SIZE 8
#define OWN NULL /* expected: the name of gethostname(2) */

/* Checks the name that this environment gives to rank 3 of 8. */
static void check(const char *want, const char *const environment[])
{
	char host[ZCTL_NAME_MAX + 1], own[ZCTL_NAME_MAX + 1];

	assert_int_equal(clearenv(), 0);
	for (; *environment; environment++)
		assert_int_equal(putenv((char *)*environment), 0);
	assert_int_equal(gethostname(own, sizeof(own)), 0);
	zlauncher_host(host, RANK, SIZE);
	assert_string_equal(host, want ? want : own);
}
#define CHECK(want, ...) check(want, (const char *const[]){__VA_ARGS__, NULL})

#define PMI "PMI_FD=9", "PMI_RANK=3", "PMI_SIZE=8", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2"
#define SLURM_STEP "SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=8", "SLURM_NTASKS=8", "SLURM_LOCALID=1", "SLURM_NODEID=1"
/* a batch script of sbatch, on the first of its nodes */
#define SLURM_SCRIPT "SLURM_PROCID=0", "SLURM_NTASKS=8", "SLURM_LOCALID=0", "SLURMD_NODENAME=first"

static void test_hydra(void **state)
{
	(void)state;
	CHECK("n1", PMI, "PMI_HOSTNAME=n1");
	CHECK("n1", PMI, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=n1");
	CHECK("n1", PMI, "MPICH_INTERFACE_HOSTNAME=n1");
	CHECK(OWN, PMI, "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE=lo"); /* with -iface Hydra 4.0 tells no name */
	CHECK("n1", PMI, "PMI_HOSTNAME=n1", SLURM_SCRIPT);
	CHECK("n1", PMI, "PMI_HOSTNAME=n1", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=outer");
}

static void test_slurm(void **state)
{
	(void)state;
	CHECK("n1", SLURM_STEP, "SLURMD_NODENAME=n1");
	CHECK("n1", PMI, SLURM_STEP, "SLURMD_NODENAME=n1"); /* --mpi=pmi2 */
	CHECK("n2", "PMIX_RANK=3", "PMIX_NAMESPACE=slurm.pmix.7.0", "PMIX_HOSTNAME=n2", SLURM_STEP,
		"SLURMD_NODENAME=n2");
	CHECK("n2", "PMIX_RANK=3", "PMIX_NAMESPACE=slurm.pmix.7.0", SLURM_STEP,
		"SLURMD_NODENAME=n2"); /* an older PMIx */
}

static void test_others(void **state)
{
	(void)state;
	CHECK("n1", "PMIX_RANK=3", "PMIX_HOSTNAME=n1");
	CHECK(OWN, PMI, "PMI_LOCAL_RANK=1", "PALS_RANKID=3", "PALS_NODEID=1", "PALS_LOCAL_RANKID=1");
	CHECK(OWN, "PALS_RANKID=3", "PALS_NODEID=1", SLURM_STEP, "SLURMD_NODENAME=outer");
	CHECK(OWN, PMI);
	CHECK(OWN, "HOME=/");
}

/* Variables that were meant for another process do not count. */
static void test_inherited(void **state)
{
	(void)state;
	CHECK(OWN, PMI, SLURM_SCRIPT);
	CHECK(OWN, SLURM_SCRIPT);
	CHECK(OWN, "PMI_RANK=0", "PMI_SIZE=1", "PMI_HOSTNAME=outer");
	CHECK(OWN, "PMI_RANK=3", "PMI_SIZE=4", "PMI_HOSTNAME=outer");
	CHECK("n1", "PMI_RANK=0", "PMI_SIZE=1", "PMI_HOSTNAME=outer", SLURM_STEP, "SLURMD_NODENAME=n1");
	CHECK(OWN, "PMIX_RANK=7", "PMIX_HOSTNAME=outer");
	CHECK(OWN, "SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=1", "SLURMD_NODENAME=outer");
}

/* A user tells the name where the launcher does not. */
static void test_by_hand(void **state)
{
	(void)state;
	CHECK("mine", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=mine");
	CHECK("mine", "PMI_RANK=3", "PMI_SIZE=8", "PALS_RANKID=3", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=mine");
	CHECK("mine", SLURM_SCRIPT, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=mine");
}

/* Values that are no numbers, and names that cannot stand in a hostfile. */
static void test_bad(void **state)
{
	(void)state;
	char name[ZCTL_NAME_MAX + 32] = "PMI_HOSTNAME=";

	CHECK(OWN, "PMI_RANK=3x", "PMI_SIZE=8", "PMI_HOSTNAME=n1");
	CHECK(OWN, "PMI_RANK=", "PMI_SIZE=8", "PMI_HOSTNAME=n1");
	CHECK(OWN, "PMI_RANK= 3", "PMI_SIZE=8", "PMI_HOSTNAME=n1");
	CHECK(OWN, "PMI_RANK=4294967299", "PMI_SIZE=8", "PMI_HOSTNAME=n1");
	CHECK(OWN, "PMI_RANK=99999999999999999999", "PMI_SIZE=8", "PMI_HOSTNAME=n1");
	CHECK(OWN, PMI, "PMI_HOSTNAME=");
	CHECK(OWN, PMI, "PMI_HOSTNAME=two words");
	memset(name + strlen(name), 'n', ZCTL_NAME_MAX);
	CHECK(name + strlen("PMI_HOSTNAME="), PMI, name);
	strcat(name, "n");
	CHECK(OWN, PMI, name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hydra),
		cmocka_unit_test(test_slurm),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_inherited),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_bad),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP); /* the tests clear the variable that says so */
	return cmocka_run_group_tests(tests, NULL, NULL);
}

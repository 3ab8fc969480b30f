/* SPDX-License-Identifier: BSD-3-Clause */
/* Program files that are refused, and those that pass: by what they are linked with, by where their ranks run, and as
 * they are found. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/plan/program.h"
#include "test/unit/launch/elf_fixture.h"

#define ABI ": libzipper.so is for MPICH and libraries with its binary interface (libmpich.so.12, libmpi.so.12)"

/* One host of cluster a is this machine; those of b are elsewhere. */
static const char hosts_text[] =
	"#ZIP cluster a\nlocalhost:1\na2:1\n#ZIP cluster b\nb1:2\n#ZIP zipper z a=tcp:h1 b=tcp:h2\n";

static enum zmpi chosen[ZCTL_PARTS_MAX]; /* of each part, by the last call of refusal */

/* The reason why the programs of this command line are refused; "": they are not. */
static const char *refusal(const char *line, bool bridged)
{
	static struct zerr err;
	struct zoptions o;
	struct zhostfile hosts;
	struct zplan plan;
	char text[512], *argv[32] = {"zmpirun"}, *rest;
	int argc = 1;

	snprintf(text, sizeof(text), "%s", line);
	for (char *p = strtok_r(text, " ", &rest); p; p = strtok_r(NULL, " ", &rest))
		argv[argc++] = p;
	memset(&err, 0, sizeof(err));
	if (zoptions_parse(&o, argc, argv, &err) != 0)
		fail_msg("%s: %s", line, err.text);
	FILE *in = fmemopen((void *)(uintptr_t)hosts_text, strlen(hosts_text), "r");
	assert_int_equal(zhostfile_parse(&hosts, in, "h", &err), 0);
	fclose(in);
	if (zplan_make(&plan, &o, o.hostfile ? &hosts : NULL, &err) != 0)
		fail_msg("%s: %s", line, err.text);
	int rc = zprogram_check(&plan, &o, bridged, &err);
	if (rc == 0)
		rc = zmpi_choose(&plan, &o, &err);
	assert_int_equal(rc < 0, err.text[0] != '\0');
	for (int i = 0; i < plan.nparts; i++)
		chosen[i] = plan.parts[i].mpi;
	zplan_free(&plan);
	zhostfile_free(&hosts);
	zoptions_free(&o);
	return err.text;
}
#define REFUSED(line, why) assert_string_equal(refusal(line, true), why)
#define PASSES(line) REFUSED(line, "")

static void write_script(const char *path, const char *text, mode_t mode)
{
	elf_write(text, strlen(text), path);
	assert_int_equal(chmod(path, mode), 0);
}

static const struct {
	const char *library, *symbol, *refusal;
} linked[] = {
	{"libmpich.so.12", "MPI_Init", ""},
	{"libmpi.so.12", "MPI_Init", ""},
	{"libmpifort.so.12", "mpi_init_", ""},
	{"libmpicxx.so.12", "MPI_Init", ""},
	{"libmpi_cray.so.12", "MPI_Init", ""},
	{"libmpi_gnu_91.so.12", "MPI_Init", ""},
	{"libmpi.so", "MPI_Init", ""}, /* whose it is shows when it is loaded */
	{"libhdf5.so.103", "MPI_Init", ""},
	{"libopen-file.so.0", "open", ""},
	{"libmpi.so.0", "MPI_Init", "./x uses Open MPI (libmpi.so.0)" ABI},
	{"/opt/openmpi/lib/libmpi.so.20", "MPI_Init", "./x uses Open MPI (libmpi.so.20)" ABI},
	{"libmpi.so.1", "MPI_Init", "./x uses Open MPI (libmpi.so.1)" ABI},
	{"libmpi.so.12", "ompi_mpi_comm_world", "./x uses Open MPI (libmpi.so.12)" ABI},
	{"libmpi_mpifh.so.20", "mpi_init_", "./x uses Open MPI (libmpi_mpifh.so.20)" ABI},
	{"libmpi_usempif08.so.11", "mpi_init_", "./x uses Open MPI (libmpi_usempif08.so.11)" ABI},
	{"libmpi_cxx.so.1", "MPI_Init", "./x uses Open MPI (libmpi_cxx.so.1)" ABI},
	{"libmpifort_abi.so.0", "mpi_init_", "./x uses the MPI standard ABI (libmpifort_abi.so.0)" ABI},
	{"libmpi_ibm.so.3", "MPI_Init", "./x uses IBM Spectrum MPI (libmpi_ibm.so.3)" ABI},
	{"libmpich.so.10", "MPI_Init", "./x uses an MPICH with another binary interface (libmpich.so.10)" ABI},
	{"libmpi.so.4", "MPI_Init", "./x uses another MPI (libmpi.so.4)" ABI},
};

static void test_linked(void **state)
{
	(void)state;
	struct elf e;

	for (size_t i = 0; i < sizeof(linked) / sizeof(linked[0]); i++) {
		elf_make(&e, (const char *const[]){"libm.so.6", linked[i].library, "libc.so.6", NULL},
			(const char *const[]){linked[i].symbol, NULL});
		elf_write(&e, sizeof(e), "x");
		REFUSED("--clusters 2 -n 2 ./x", linked[i].refusal);
		REFUSED("-f h -n 4 ./x", linked[i].refusal);
		REFUSED("--clusters 2 -n 1 sh : -n 1 ./x", linked[i].refusal);
		assert_string_equal(refusal("--clusters 2 -n 2 ./x", false), "");
	}
}

static void test_kinds(void **state)
{
	(void)state;
	struct elf e, other;

	elf_make(&e, NULL, NULL);
#define MADE(change, why)                                                                                              \
	other = e;                                                                                                     \
	change;                                                                                                        \
	elf_write(&other, sizeof(other), "x");                                                                         \
	REFUSED("--clusters 2 -n 2 ./x", why);                                                                         \
	assert_string_equal(refusal("--clusters 2 -n 2 ./x", false), "")
	MADE((void)0, "");
	MADE(elf_drop(&other.interpreter),
		"./x is statically linked: libzipper.so cannot be loaded into it (link it dynamically)");
	MADE(other.header.e_machine = EM_S390,
		"./x is for another kind of machine: libzipper.so cannot be loaded into it");
	MADE(other.header.e_phnum = 0, "./x is damaged: its headers do not fit its size");
	MADE(other.header.e_type = ET_REL, "./x is no program, but an object file");
	MADE((elf_drop(&other.interpreter), elf_name(&other, "libx.so.1")), "./x is no program, but a shared library");
	MADE((elf_drop(&other.interpreter), elf_name(&other, "ld-linux.so.2")), "");
	MADE(strcpy(other.linker, "/nowhere/ld.so"),
		"./x: its dynamic linker /nowhere/ld.so: No such file or directory");
}

static void test_standard(void **state)
{
	(void)state;
	struct elf e;

	elf_make(&e, (const char *const[]){"libmpi_abi.so.1", NULL}, NULL);
	elf_write(&e, sizeof(e), "x");
	if (!zmpi_has_standard()) {
		REFUSED("--clusters 2 -n 2 ./x", "./x uses the MPI standard ABI (libmpi_abi.so.1)" ABI);
		REFUSED("--clusters 2 --mpi mpich-abi -n 2 sh",
			"--mpi: zmpirun was built without the MPI standard ABI");
		return;
	}
	PASSES("--clusters 2 -n 2 ./x"); /* its dynamic linker finds no library */
	REFUSED("--clusters 2 --check ./x", "the ranks of c1 use the MPI standard ABI, for which there is no --check");
	elf_make(&e, (const char *const[]){"libmpi_abi.so.1", "libmpich.so.12", NULL}, NULL);
	elf_write(&e, sizeof(e), "x");
	REFUSED("--clusters 2 -n 2 ./x", "./x uses both the MPI standard ABI and libmpich.so.12");
}

/* On one cluster libzipper.so is loaded only to record. */
static void test_recorded(void **state)
{
	(void)state;
	struct elf e;

	elf_make(&e, NULL, NULL);
	elf_drop(&e.interpreter);
	elf_write(&e, sizeof(e), "x");
	REFUSED("--clusters 1 -n 2 ./x",
		"./x is statically linked: libzipper.so cannot be loaded into it (link it dynamically); on one cluster "
		"only a recorded run needs libzipper.so: leave out ZIPPER_PROFILE (or --profile)");
	assert_string_equal(refusal("--clusters 1 -n 2 ./x", false), "");
	REFUSED("--clusters 1 -n 2 ./none", "./none: No such file or directory");
}

/* Rights that the user does not have. */
static void test_rights(void **state)
{
	(void)state;
	struct elf e;

	elf_make(&e, NULL, NULL);
	elf_write(&e, sizeof(e), "x");
	assert_int_equal(chmod("x", 04755), 0);
	REFUSED("--clusters 2 ./x", "./x is setuid: the dynamic linker does not load libzipper.so into it");
	assert_string_equal(refusal("--clusters 2 ./x", false), "");
	assert_int_equal(chmod("x", 02755), 0);
	REFUSED("--clusters 2 ./x", "./x is setgid: the dynamic linker does not load libzipper.so into it");
	write_script("x", "#!/bin/sh\n", 04755); /* which the kernel does not heed for scripts */
	PASSES("--clusters 2 ./x");
}

static void test_scripts(void **state)
{
	(void)state;
	static const struct {
		const char *text, *refusal;
	} scripts[] = {
		{"#!/bin/sh\necho\n", ""},
		{"#! /bin/sh -e\necho\n", ""},
		{"#!/bin/sh", ""},
		{"echo for sh\n", ""},
		{"#", ""},
		{"#!\n", "./x names no interpreter in its first line"},
		{"#! \t\n/bin/sh\n", "./x names no interpreter in its first line"},
		{"", "./x is empty"},
		{"#!/nowhere/sh -e\n", "./x: its interpreter /nowhere/sh: No such file or directory"},
		{"#!/tmp\n", "./x: its interpreter /tmp: it is not executable"},
		{"#!/bin/sh\r\necho\r\n",
			"./x: its interpreter /bin/sh?: No such file or directory (its lines end as those of Windows)"},
	};

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		write_script("x", scripts[i].text, 0755);
		REFUSED("--clusters 2 ./x", scripts[i].refusal);
		assert_string_equal(refusal("--clusters 2 ./x", false), scripts[i].refusal);
	}
}

/* The kernel reads 256 bytes of the first line. */
static void test_long_line(void **state)
{
	(void)state;
	char text[1024] = "#!";

	memset(text + 2, 'i', 900);
	write_script("x", text, 0755);
	const char *why = refusal("--clusters 2 ./x", true);
	assert_int_equal(strncmp(why, "./x: its interpreter iiii", 25), 0);
	assert_non_null(strstr(why, "i: No such file or directory"));
}

static void test_found(void **state)
{
	(void)state;
	mkdir("d", 0755);
	mkdir("e", 0755);
	unlink("x");
	write_script("d/inside", "#!/bin/sh\n", 0755);
	write_script("d/twice", "#!/bin/sh\n", 0644);
	write_script("e/twice", "#!/nowhere\n", 0755);
	write_script("plain", "#!/bin/sh\n", 0644);

	REFUSED("--clusters 2 ./x", "./x: No such file or directory");
	REFUSED("--clusters 2 d/inside/x", "d/inside/x: Not a directory");
	REFUSED("--clusters 2 ./d", "./d is a directory");
	REFUSED("--clusters 2 ./plain", "./plain is not executable");
	REFUSED("--clusters 2 /dev/null", "/dev/null is no regular file");
	/* along PATH: a name without a slash is not sought here */
	PASSES("--clusters 2 sh");
	REFUSED("--clusters 2 inside", "inside: no such program in PATH");
	REFUSED("--clusters 2 d", "d: no such program in PATH");
	PASSES("--clusters 2 -genv PATH /nowhere:d inside");
	PASSES("--clusters 2 -genv PATH=/nowhere -env PATH d inside");
	REFUSED("--clusters 2 -genv PATH d -env PATH=/nowhere inside", "inside: no such program in PATH");
	REFUSED("--clusters 2 -n 1 -env PATH d inside : -n 1 inside", "inside: no such program in PATH");
	REFUSED("--clusters 2 -genv PATH d:e twice",
		"twice (e/twice): its interpreter /nowhere: No such file or directory");
	REFUSED("--clusters 2 -genv PATH d twice", "twice (d/twice) is not executable");
	/* from the working directory */
	PASSES("--clusters 2 -wdir d ./inside");
	PASSES("--clusters 2 -wdir e ../d/inside");
	PASSES("--clusters 2 -wdir d -genv PATH /nowhere: inside"); /* an empty name in PATH is that folder */
	REFUSED("--clusters 2 -wdir d d/inside", "d/inside: No such file or directory");
	REFUSED("--clusters 2 -env -wdir d ./inside", "./inside: No such file or directory");
	REFUSED("--clusters 2 -wdir /nowhere ./x", "-wdir /nowhere: No such file or directory");
	REFUSED("--clusters 2 -wdir plain ./x", "-wdir plain: Not a directory");
}

/* A file that other hosts alone need may be there and not here. */
static void test_elsewhere(void **state)
{
	(void)state;
	struct elf e;

	unlink("x");
	REFUSED("-f h -n 4 ./x", "./x: No such file or directory");
	REFUSED("-f h -n 2 ./x : -n 2 sh", "./x: No such file or directory");
	PASSES("-f h -n 2 sh : -n 2 ./x");
	PASSES("-f h -n 2 sh : -n 2 no-such-program");
	PASSES("-f h -n 2 sh : -n 2 -wdir /nowhere ./x");
	write_script("x", "#!/nowhere/sh\n", 0755);
	PASSES("-f h -n 2 sh : -n 2 ./x");
	elf_make(&e, NULL, NULL);
	e.header.e_machine = EM_S390;
	elf_write(&e, sizeof(e), "x");
	PASSES("-f h -n 2 sh : -n 2 ./x");
	/* but what it is linked with will hardly differ */
	elf_make(&e, (const char *const[]){"libmpi.so.20", NULL}, NULL);
	elf_write(&e, sizeof(e), "x");
	REFUSED("-f h -n 2 sh : -n 2 ./x", "./x uses Open MPI (libmpi.so.20)" ABI);
}

/* Programs of Open MPI run where zmpirun was built with it. */
static void test_open_mpi(void **state)
{
	(void)state;
	struct elf e;

	elf_make(&e, (const char *const[]){"libmpich.so.12", NULL}, NULL);
	elf_write(&e, sizeof(e), "m");
	elf_make(&e, (const char *const[]){"libmpi_mpifh.so.40", "libmpi.so.40", NULL}, NULL);
	elf_write(&e, sizeof(e), "x");
	if (!zmpi_is_built(ZMPI_OPEN)) {
		REFUSED("--clusters 2 -n 2 ./x", "./x uses Open MPI (libmpi_mpifh.so.40)" ABI);
		REFUSED("--clusters 2 --mpi openmpi -n 2 sh", "--mpi: zmpirun was built without Open MPI");
		return;
	}
	PASSES("--clusters 2 -n 2 ./x");
	assert_true(chosen[0] == ZMPI_OPEN && chosen[1] == ZMPI_OPEN);
	PASSES("--clusters 1,2 -n 1 ./m : -n 2 ./x");
	assert_true(chosen[0] == ZMPI_MPICH && chosen[1] == ZMPI_OPEN);
	PASSES("--clusters 2 --mpi mpich,openmpi -n 2 sh");
	assert_true(chosen[0] == ZMPI_MPICH && chosen[1] == ZMPI_OPEN);
	REFUSED("--clusters 2 -n 1 ./m : -n 3 ./x",
		"./x uses Open MPI, and ./m MPICH: the ranks of one cluster (c1) use one MPI");
	REFUSED("--clusters 2 --mpi mpich -n 2 ./x",
		"./x uses Open MPI, and --mpi MPICH: the ranks of one cluster (c1) use one MPI");
	REFUSED("--clusters 2 --mpi openmpi,mpich,mpich -n 2 sh",
		"--mpi: the list must have a name for each of the 2 clusters");
	REFUSED("--clusters 2 -usize 8 -n 2 ./x", "the ranks of c1 use Open MPI, for which there is no -usize");
	elf_make(&e, (const char *const[]){"libmpi.so.40", "libmpich.so.12", NULL}, NULL);
	elf_write(&e, sizeof(e), "x");
	REFUSED("--clusters 2 -n 2 ./x", "./x uses both Open MPI and MPICH");
}

static int enter_folder(void **state)
{
	static char folder[] = "/tmp/zip-program.XXXXXX";

	*state = folder;
	return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", (const char *)*state);
	return chdir("/") || system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linked),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_open_mpi),
		cmocka_unit_test(test_standard),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_elsewhere),
	};

	return cmocka_run_group_tests(tests, enter_folder, remove_folder);
}

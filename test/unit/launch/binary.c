/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers of binaries: this program itself, small binaries of every kind, and damaged ones: cut at every place, and
 * with every field set to bad values. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/base/binary.h"
#include "test/unit/launch/elf_fixture.h"

static const char *const libraries[] = {"libc.so.6", "/opt/mpi/lib/libmpi.so.12", NULL};
static const char *const symbols[] = {"MPI_Init", "ompi_mpi_comm_world", NULL};

static void read_bytes(struct zbinary *b, const void *bytes, size_t len)
{
	int fd = memfd_create("binary", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	assert_int_equal(zbinary_read(b, fd), 0);
	close(fd);
}

static enum zbinary_kind kind_of(const void *bytes, size_t len)
{
	struct zbinary b;

	read_bytes(&b, bytes, len);
	const enum zbinary_kind kind = b.kind;
	if (kind == ZBINARY_DYNAMIC)
		for (size_t i = 0; i < b.nneeded; i++)
			assert_true(strlen(zbinary_library(&b, i)) <= b.nstrings);
	zbinary_free(&b);
	return kind;
}

static void test_self(void **state)
{
	(void)state;
	struct zbinary b;
	bool libc = false;
	int fd = open("/proc/self/exe", O_RDONLY);

	assert_int_equal(zbinary_read(&b, fd), 0);
	close(fd);
	assert_int_equal(b.kind, ZBINARY_DYNAMIC);
	assert_int_equal(access(b.linker, X_OK), 0);
	for (size_t i = 0; i < b.nneeded; i++)
		libc |= strncmp(zbinary_library(&b, i), "libc.so", 7) == 0;
	assert_true(libc);
	assert_true(zbinary_has_name(&b, "memfd_create"));
	assert_false(zbinary_has_name(&b, "memfd_creat"));
	assert_false(zbinary_has_name(&b, "ompi_mpi_comm_world"));
	zbinary_free(&b);
}

static void test_made(void **state)
{
	(void)state;
	struct elf e;
	struct zbinary b;

	elf_make(&e, libraries, symbols);
	read_bytes(&b, &e, sizeof(e));
	assert_int_equal(b.kind, ZBINARY_DYNAMIC);
	assert_string_equal(b.linker, "/proc/self/exe");
	assert_int_equal(b.nneeded, 2);
	assert_string_equal(zbinary_library(&b, 0), "libc.so.6");
	assert_string_equal(zbinary_library(&b, 1), "libmpi.so.12");
	assert_true(zbinary_has_name(&b, "ompi_mpi_comm_world"));
	assert_false(zbinary_has_name(&b, "ompi_mpi_comm"));
	zbinary_free(&b);
}

static void test_kinds(void **state)
{
	(void)state;
	struct elf e, other;

	assert_int_equal(kind_of("", 0), ZBINARY_NONE);
	assert_int_equal(kind_of("#!", 2), ZBINARY_NONE);
	assert_int_equal(kind_of("#!/bin/sh\n", 10), ZBINARY_NONE);
	assert_int_equal(kind_of(ELFMAG, SELFMAG), ZBINARY_DAMAGED);
	elf_make(&e, libraries, symbols);
#define KIND(change, kind)                                                                                             \
	other = e;                                                                                                     \
	change;                                                                                                        \
	assert_int_equal(kind_of(&other, sizeof(other)), kind)
	KIND((void)0, ZBINARY_DYNAMIC);
	KIND(other.header.e_type = ET_EXEC, ZBINARY_DYNAMIC);
	KIND(other.header.e_ident[EI_CLASS] = ELFCLASS32 + ELFCLASS64 - other.header.e_ident[EI_CLASS], ZBINARY_NARROW);
	KIND(other.header.e_ident[EI_CLASS] = 0, ZBINARY_DAMAGED);
	KIND(other.header.e_ident[EI_DATA] = ELFDATA2LSB + ELFDATA2MSB - other.header.e_ident[EI_DATA],
		ZBINARY_FOREIGN);
	KIND(other.header.e_machine = EM_S390, ZBINARY_FOREIGN);
	KIND(other.header.e_type = ET_REL, ZBINARY_OBJECT);
	KIND(other.header.e_type = ET_CORE, ZBINARY_OBJECT);
	KIND(elf_drop(&other.interpreter), ZBINARY_STATIC); /* static-pie */
	KIND((elf_drop(&other.interpreter), elf_drop(&other.dynamic)), ZBINARY_STATIC);
	KIND(elf_drop(&other.dynamic), ZBINARY_DYNAMIC);
	KIND((elf_drop(&other.interpreter), elf_name(&other, "libx.so.1")), ZBINARY_LIBRARY);
	KIND((elf_drop(&other.interpreter), elf_name(&other, "ld-linux-x86-64.so.2")), ZBINARY_LOADER);
	KIND((elf_drop(&other.interpreter), elf_name(&other, "ld64.so.2")), ZBINARY_LOADER);
	KIND(elf_name(&other, "libc.so.6"), ZBINARY_DYNAMIC); /* a library that is a program, too */
	KIND(elf_drop(&other.load), ZBINARY_DAMAGED);
	KIND(other.header.e_phnum = 0, ZBINARY_DAMAGED);
	KIND(other.header.e_phentsize = 1, ZBINARY_DAMAGED);
	KIND(other.interpreter.p_filesz = 1, ZBINARY_DAMAGED);
	KIND(other.interpreter.p_filesz--, ZBINARY_DAMAGED); /* no zero at its end */
	KIND(other.entry[1].d_un.d_val = 4, ZBINARY_DAMAGED);
	KIND(other.entry[2].d_un.d_val = ELF_STRINGS, ZBINARY_DAMAGED);
}

/* A file that was cut is damaged wherever the cut is, as its load segment ends with the file; nothing is read behind
 * it. */
static void test_cut(void **state)
{
	(void)state;
	struct elf e;

	elf_make(&e, libraries, symbols);
	const size_t end = offsetof(struct elf, strings) + e.entry[1].d_un.d_val;
	for (size_t len = SELFMAG; len < end; len++)
		assert_int_equal(kind_of(&e, len), ZBINARY_DAMAGED);
	assert_int_equal(kind_of(&e, end), ZBINARY_DYNAMIC);
}

/* Every field of one to eight bytes takes every bad value. All must come to an end, with one of the kinds. */
static void test_fields(void **state)
{
	(void)state;
	static const uint64_t values[] = {0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, INT64_MAX,
		UINT64_MAX, UINT64_MAX - 4096, sizeof(struct elf), sizeof(struct elf) - 1, sizeof(struct elf) + 1};
	struct elf e;
	unsigned seen = 0;

	for (size_t at = SELFMAG; at < offsetof(struct elf, strings); at++)
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
			for (size_t size = 1; size <= 8; size *= 2) {
				elf_make(&e, libraries, symbols);
				memcpy((char *)&e + at, &values[i], size); /* of a machine with the low byte first */
				seen |= 1u << kind_of(&e, sizeof(e));
			}
	assert_true(seen & 1u << ZBINARY_DAMAGED);
	assert_true(seen & 1u << ZBINARY_DYNAMIC);
	assert_true(seen & 1u << ZBINARY_STATIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of all objects of this process, read by libzip/loader/object.h, against the dynamic linker's answers. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libzip/loader/chain.h"
#include "libzip/loader/names.h"
#include "libzip/loader/object.h"

static struct {
	int objects, symbols, missing;
} seen;

/* Both kinds of hash table find the same, where the object has both. */
static void check_symbol(const struct zobject *o, void *handle, const char *name)
{
	struct zobject other = *o;
	void *found = zobject_address(o, name);

	if (!found) { /* a local symbol, or one of an old version */
		seen.missing++;
		return;
	}
	seen.symbols++;
	if (o->gnu_hash && o->hash) {
		other.gnu_hash = NULL;
		assert_ptr_equal(zobject_address(&other, name), found);
	}
	/* what is found by the handle may be of a library that the object needs only if the object has none itself */
	assert_non_null(dlsym(handle, name));
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct zobject o;

	(void)size;
	(void)arg;
	if (!zobject_of_phdr(&o, info) || !*o.path || strstr(o.path, "vdso") || strstr(o.path, "/ld-"))
		return 0;
	void *handle = dlopen(o.path, RTLD_LAZY | RTLD_NOLOAD);
	assert_non_null(handle);
	seen.objects++;
	const size_t n = zobject_count(&o);
	for (size_t i = 1; i < n; i++) {
		const int type = o.symbols[i].st_info & 0xf;
		if (o.symbols[i].st_shndx != SHN_UNDEF && o.symbols[i].st_shndx != SHN_ABS &&
			(type == STT_FUNC || type == STT_OBJECT))
			check_symbol(&o, handle, zobject_name(&o, &o.symbols[i]));
	}
	assert_null(zobject_find(&o, "no_such_symbol_anywhere"));
	dlclose(handle);
	return 0;
}

static void test_find(void **state)
{
	(void)state;
	dl_iterate_phdr(look_at, NULL);
	assert_true(seen.objects >= 2);
	assert_true(seen.symbols > 1000);
}

static void test_address(void **state)
{
	(void)state;
	struct zobject o, found;
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	assert_non_null(libc);
	assert_true(zchain_read(&o, libc)); /* glibc's handles are of this type */
	assert_string_equal(o.soname, "libc.so.6");
	const char *const names[] = {"printf", "dlopen", "stderr", "environ", "pthread_create"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (zobject_find(&o, names[i])) /* older ones have some in other libraries */
			assert_ptr_equal(zobject_address(&o, names[i]), dlsym(libc, names[i]));
	assert_ptr_equal(zchain_next(zchain_self(), "printf", &found), dlsym(RTLD_NEXT, "printf"));
	assert_null(zchain_next(zchain_self(), "no_such_symbol_anywhere", NULL));
}

static void test_hidden(void **state)
{
	(void)state;
	struct zobject o;
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	assert_true(zchain_read(&o, libc));
	const size_t which = (size_t)(zobject_find(&o, "printf") - o.symbols),
		     bytes = zobject_count(&o) * sizeof(*o.symbols);
	ElfW(Sym) *copy = malloc(bytes);
	assert_non_null(copy);
	memcpy(copy, o.symbols, bytes);
	o.symbols = copy;
	const int seen_by[] = {STV_DEFAULT, STV_PROTECTED};
	for (size_t i = 0; i < 2; i++) {
		copy[which].st_other = (unsigned char)seen_by[i];
		assert_ptr_equal(zobject_find(&o, "printf"), &copy[which]);
		assert_false(zobject_is_hidden(&copy[which]));
	}
	const int hidden_by[] = {STV_HIDDEN, STV_INTERNAL};
	for (size_t i = 0; i < 2; i++) {
		copy[which].st_other = (unsigned char)hidden_by[i];
		assert_null(zobject_find(&o, "printf"));
		assert_true(zobject_is_hidden(&copy[which]));
	}
	assert_non_null(zobject_find(&o, "puts"));
	free(copy);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(znames_n > 600);
	for (size_t i = 1; i < znames_n; i++)
		assert_true(strcmp(znames_known[i - 1], znames_known[i]) < 0);
	for (size_t i = 0; i < znames_n; i++) {
		char profiling[100];
		snprintf(profiling, sizeof(profiling), "P%s", znames_known[i]);
		assert_true(znames_like_mpi(znames_known[i]) && znames_like_mpi(profiling));
		assert_false(znames_is_strange(znames_known[i]) || znames_is_strange(profiling));
	}
	assert_true(znames_is_strange("MPIX_Future") && znames_is_strange("PMPI_Future"));
	assert_false(znames_is_strange("MPIR_Internal") || znames_is_strange("MPL_x") || znames_is_strange("P"));
	assert_false(znames_like_mpi(NULL) || znames_like_mpi("") || znames_like_mpi("P") || znames_like_mpi("malloc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions of one collective: blocking, nonblocking and persistent, each with int and with large counts. They
 * differ only in types and in the function (zcoll_run, zcoll_start, zcoll_init) that takes the call, hence one macro.
 *
 *   Name, Iname   Bcast, Ibcast
 *   PARAMS        function-like macro (COUNT, DISPL) with the parameters, the last of which is MPI_Comm comm
 *   ARGS          in parentheses: the arguments for the native function, without those that the form adds
 *   FILL          in parentheses: initialisers of struct zcoll
 *
 * On a local communicator the blocking call uses the nonblocking native function and our own wait loop, always and not
 * only while something bridged is outstanding. For the two native functions do not match each other between processes
 * (MPI-4.0 section 6.12), and what is outstanding differs between processes.
 */
#ifndef ZIP_LIBZIP_FORMS_H
#define ZIP_LIBZIP_FORMS_H

#include "libzip/coll/base/coll.h"
#include "libzip/coll/base/coll_local.h"
#include "libzip/coll/call/coll_init.h"
#include "libzip/p2p/completion.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/running.h"
#include "libzip/world/foreign.h"

#define ZCOLL_UNWRAP(...) __VA_ARGS__

#define ZCOLL_FORM(Name, Iname, suffix, PARAMS, ARGS, FILL)                                                            \
	int zip_##Name##suffix(PARAMS)                                                                                 \
	{                                                                                                              \
		const struct zcoll a = {.name = "MPI_" #Name, ZCOLL_UNWRAP FILL};                                      \
		struct zcomm *c = zcomm_find(comm);                                                                    \
		MPI_Request r;                                                                                         \
		int rc;                                                                                                \
		if (c)                                                                                                 \
			return zcoll_run(c, &a);                                                                       \
		if (zcoll_local_may_block(comm))                                                                       \
			return zn.Name##suffix(ZCOLL_UNWRAP ARGS);                                                     \
		if (zforeign_in(comm)) {                                                                               \
			zshim_block_begin();                                                                           \
			rc = zn.Name##suffix(ZCOLL_UNWRAP ARGS);                                                       \
			zshim_block_end();                                                                             \
			return rc;                                                                                     \
		}                                                                                                      \
		if (a.local && a.local(&a, comm, &rc))                                                                 \
			return rc;                                                                                     \
		struct zcoll_local local;                                                                              \
		zcoll_local_begin(&local);                                                                             \
		rc = zn.Iname##suffix(ZCOLL_UNWRAP ARGS, &r);                                                          \
		return zcoll_local_end(&local, rc, &r, comm, a.name);                                                  \
	}                                                                                                              \
	int zip_##Iname##suffix(PARAMS, MPI_Request *request)                                                          \
	{                                                                                                              \
		struct zcomm *c = zcomm_find(comm);                                                                    \
		if (c)                                                                                                 \
			return zcoll_start(c, &(struct zcoll){.name = "MPI_" #Iname, ZCOLL_UNWRAP FILL}, request);     \
		return zn.Iname##suffix(ZCOLL_UNWRAP ARGS, request);                                                   \
	}                                                                                                              \
	int zip_##Name##_init##suffix(PARAMS, MPI_Info info, MPI_Request *request)                                     \
	{                                                                                                              \
		struct zcomm *c = zcomm_find(comm);                                                                    \
		if (c)                                                                                                 \
			return zcoll_init(c, &(struct zcoll){.name = "MPI_" #Name "_init", ZCOLL_UNWRAP FILL},         \
				request);                                                                              \
		zcompletions_testall_fails = zrunning_has_bug(ZVERSION_TESTALL);                                       \
		return zn.Name##_init##suffix(ZCOLL_UNWRAP ARGS, info, request);                                       \
	}

#define ZCOLL_FORMS(Name, Iname, PARAMS, ARGS, FILL)                                                                   \
	ZCOLL_FORM(Name, Iname, , PARAMS(int, int), ARGS, FILL)                                                        \
	ZCOLL_FORM(Name, Iname, _c, PARAMS(MPI_Count, MPI_Aint), ARGS, FILL)

#endif

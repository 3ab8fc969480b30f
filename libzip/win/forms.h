/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the MPI functions in forms.tab, as the modules of this folder take them. For win/forms.c, which
 * gen/mpigen.py makes; the names of parameters are those of mpi.h. */
#ifndef ZIP_LIBZIP_WIN_FORMS_H
#define ZIP_LIBZIP_WIN_FORMS_H

#include "libzip/shim/shim.h"
#include "libzip/win/win_call.h"
#include "libzip/win/win_make.h"

#define ZWIN_TARGET                                                                                                    \
	.target = target_rank, .disp = target_disp, .target_count = target_count, .target_type = target_datatype
#define ZWIN_ORIGIN .origin = origin_addr, .origin_count = origin_count, .origin_type = origin_datatype
#define PUT (&(const struct zwin_call){.name = name, .kind = ZWIN_PUT, ZWIN_ORIGIN, ZWIN_TARGET})
#define GET                                                                                                            \
	(&(const struct zwin_call){.name = name,                                                                       \
		.kind = ZWIN_GET,                                                                                      \
		.result = origin_addr,                                                                                 \
		.result_count = origin_count,                                                                          \
		.result_type = origin_datatype,                                                                        \
		ZWIN_TARGET})
#define ACCUMULATE                                                                                                     \
	(&(const struct zwin_call){.name = name, .kind = ZWIN_ACCUMULATE, ZWIN_ORIGIN, ZWIN_TARGET, .op = op})
#define GET_ACCUMULATE                                                                                                 \
	(&(const struct zwin_call){.name = name,                                                                       \
		.kind = ZWIN_GET_ACCUMULATE,                                                                           \
		ZWIN_ORIGIN,                                                                                           \
		.result = result_addr,                                                                                 \
		.result_count = result_count,                                                                          \
		.result_type = result_datatype,                                                                        \
		ZWIN_TARGET,                                                                                           \
		.op = op})

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined datatypes in the order of their numbers on the wire: MPI-4.0 sections 3.2.2 and 5.9.2, and further
 * ones of some libraries. Add new ones at the end. See typecode_named.h. */
#include "libzip/type/typecode_named.h"

#include "libzip/abi/abi.h"
#include "libzip/shim/running.h"

#define NONE MPI_DATATYPE_NULL /* a type that the MPI headers of this build lack keeps its place */
#ifndef MPIX_C_FLOAT16
#define MPIX_C_FLOAT16 NONE
#endif
#ifndef MPI_CXX_BOOL
#define MPI_CXX_BOOL NONE
#define MPI_CXX_FLOAT_COMPLEX NONE
#define MPI_CXX_DOUBLE_COMPLEX NONE
#define MPI_CXX_LONG_DOUBLE_COMPLEX NONE
#endif
#ifndef MPI_LB /* MPI-3.0 has removed it */
#define MPI_LB NONE
#define MPI_UB NONE
#endif

static const MPI_Datatype table[] = {MPI_BYTE, MPI_PACKED, MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_WCHAR,
	MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG_INT,
	MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T,
	MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_C_BOOL, MPI_C_FLOAT_COMPLEX,
	MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_FLOAT_INT, MPI_DOUBLE_INT,
	MPI_LONG_INT, MPI_SHORT_INT, MPI_2INT, MPI_LONG_DOUBLE_INT, MPI_INTEGER, MPI_REAL, MPI_DOUBLE_PRECISION,
	MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_LOGICAL, MPI_CHARACTER, MPI_2INTEGER, MPI_2REAL, MPI_2DOUBLE_PRECISION,
	MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_REAL4, MPI_REAL8, MPI_REAL16, MPI_COMPLEX8,
	MPI_COMPLEX16, MPI_COMPLEX32, MPI_CXX_BOOL, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX,
	MPI_CXX_LONG_DOUBLE_COMPLEX, MPIX_C_FLOAT16, MPI_LB, MPI_UB};

#define OLD ((int)(sizeof(table) / sizeof(table[0])))

/* Datatypes that MPICH has since version 5. Their places follow those of the table. */
static const MPI_Datatype newer[] = {MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8, MPI_LOGICAL16,
	MPIX_BFLOAT16, MPI_REAL2, MPI_COMPLEX4, ZABI_INTEGER16};

/* Has the running library the newer ones? */
static int places(void)
{
	const int n = (int)(sizeof(newer) / sizeof(newer[0]));

	return zabi_has_newer_types(zrunning_version()) ? OLD + n : OLD;
}

MPI_Datatype ztypecode_named(MPI_Count place)
{
	if (place < 0 || place >= places())
		return MPI_DATATYPE_NULL;
	return place < OLD ? table[place] : newer[place - OLD];
}

int ztypecode_named_find(MPI_Datatype t)
{
	if (t != MPI_DATATYPE_NULL)
		for (int i = 0; i < places(); i++)
			if (ztypecode_named(i) == t)
				return i;
	return -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of error classes, for families whose own numbers are not MPICH's. See libzip/abi/abi.h. */
#include "libzip/abi/abi.h"

/* By MPICH's number. 54 has no class. */
static const int classes[] = {
	[1] = MPI_ERR_BUFFER,
	[2] = MPI_ERR_COUNT,
	[3] = MPI_ERR_TYPE,
	[4] = MPI_ERR_TAG,
	[5] = MPI_ERR_COMM,
	[6] = MPI_ERR_RANK,
	[7] = MPI_ERR_ROOT,
	[8] = MPI_ERR_GROUP,
	[9] = MPI_ERR_OP,
	[10] = MPI_ERR_TOPOLOGY,
	[11] = MPI_ERR_DIMS,
	[12] = MPI_ERR_ARG,
	[13] = MPI_ERR_UNKNOWN,
	[14] = MPI_ERR_TRUNCATE,
	[15] = MPI_ERR_OTHER,
	[16] = MPI_ERR_INTERN,
	[17] = MPI_ERR_IN_STATUS,
	[18] = MPI_ERR_PENDING,
	[19] = MPI_ERR_REQUEST,
	[20] = MPI_ERR_ACCESS,
	[21] = MPI_ERR_AMODE,
	[22] = MPI_ERR_BAD_FILE,
	[23] = MPI_ERR_CONVERSION,
	[24] = MPI_ERR_DUP_DATAREP,
	[25] = MPI_ERR_FILE_EXISTS,
	[26] = MPI_ERR_FILE_IN_USE,
	[27] = MPI_ERR_FILE,
	[28] = MPI_ERR_INFO,
	[29] = MPI_ERR_INFO_KEY,
	[30] = MPI_ERR_INFO_VALUE,
	[31] = MPI_ERR_INFO_NOKEY,
	[32] = MPI_ERR_IO,
	[33] = MPI_ERR_NAME,
	[34] = MPI_ERR_NO_MEM,
	[35] = MPI_ERR_NOT_SAME,
	[36] = MPI_ERR_NO_SPACE,
	[37] = MPI_ERR_NO_SUCH_FILE,
	[38] = MPI_ERR_PORT,
	[39] = MPI_ERR_QUOTA,
	[40] = MPI_ERR_READ_ONLY,
	[41] = MPI_ERR_SERVICE,
	[42] = MPI_ERR_SPAWN,
	[43] = MPI_ERR_UNSUPPORTED_DATAREP,
	[44] = MPI_ERR_UNSUPPORTED_OPERATION,
	[45] = MPI_ERR_WIN,
	[46] = MPI_ERR_BASE,
	[47] = MPI_ERR_LOCKTYPE,
	[48] = MPI_ERR_KEYVAL,
	[49] = MPI_ERR_RMA_CONFLICT,
	[50] = MPI_ERR_RMA_SYNC,
	[51] = MPI_ERR_SIZE,
	[52] = MPI_ERR_DISP,
	[53] = MPI_ERR_ASSERT,
	[55] = MPI_ERR_RMA_RANGE,
	[56] = MPI_ERR_RMA_ATTACH,
	[57] = MPI_ERR_RMA_SHARED,
	[58] = MPI_ERR_RMA_FLAVOR,
};
#define N ((int)(sizeof(classes) / sizeof(classes[0])))

int zabi_class_number(int class)
{
	for (int i = 0; i < N; i++)
		if (classes[i] == class)
			return i;
	return zabi_class_number(MPI_ERR_OTHER);
}

int zabi_class_of(int number)
{
	if (number == 0)
		return MPI_SUCCESS;
	return number > 0 && number < N && classes[number] != MPI_SUCCESS ? classes[number] : MPI_ERR_OTHER;
}

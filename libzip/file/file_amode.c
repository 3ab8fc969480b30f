/* SPDX-License-Identifier: BSD-3-Clause */
/* Access modes of files. See file_amode.h. */
#include "libzip/file/file_amode.h"

int zfile_amode_check(int amode)
{
	int accesses = !!(amode & MPI_MODE_RDONLY) + !!(amode & MPI_MODE_RDWR) + !!(amode & MPI_MODE_WRONLY);

	if (accesses != 1 || (amode & MPI_MODE_RDONLY && amode & ZFILE_AMODE_CREATES) ||
		(amode & MPI_MODE_RDWR && amode & MPI_MODE_SEQUENTIAL))
		return MPI_ERR_AMODE;
	return MPI_SUCCESS;
}

int64_t zfile_amode_number(int amode)
{
	/* by the bit of the number, as MPICH has them: add new ones at the end */
	static const int modes[] = {MPI_MODE_CREATE, MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR,
		MPI_MODE_DELETE_ON_CLOSE, MPI_MODE_UNIQUE_OPEN, MPI_MODE_EXCL, MPI_MODE_APPEND, MPI_MODE_SEQUENTIAL};
	const int n = (int)(sizeof(modes) / sizeof(modes[0]));
	int64_t number = 0;

	for (int i = 0; i < n; i++)
		if (amode & modes[i]) {
			number |= (int64_t)1 << i;
			amode &= ~modes[i];
		}
	return number | (int64_t)(uint32_t)amode << n; /* unknown bits are compared as they are */
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the running library of the standard ABI for what the ABI leaves to it. See libzip/abi/standard.h. */
#include "libzip/abi/learn.h"

#include <stdbool.h>
#include <string.h>

#include "libzip/abi/abi.h"

#define WORDS ((int)(sizeof(((MPI_Status *)NULL)->MPI_internal) / sizeof(int)))

struct zabi_status zabi_status;

/* The only word that is not 0; -1: there is none, or there are several. */
static int find_word(const MPI_Status *status)
{
	int found = -1;

	for (int i = 0; i < WORDS; i++)
		if (status->MPI_internal[i] != 0) {
			if (found >= 0)
				return -1;
			found = i;
		}
	return found;
}

static int count_in(const struct zabi_natives *native, MPI_Count bytes, MPI_Status *status)
{
	memset(status, 0, sizeof(*status));
	return native->set_elements(status, MPI_BYTE, bytes) == MPI_SUCCESS ? find_word(status) : -1;
}

/* A status that we write must equal the one that the library writes. */
static bool is_right(const struct zabi_natives *native)
{
	static const MPI_Count counts[] = {0, 1, 0x7fffffff, 0x80000000, (MPI_Count)0x0123456789abcdef};
	MPI_Status theirs, ours;

	for (unsigned i = 0; i < 2 * sizeof(counts) / sizeof(counts[0]); i++) {
		const MPI_Count bytes = counts[i / 2];
		memset(&theirs, 0, sizeof(theirs));
		memset(&ours, 0, sizeof(ours));
		if (native->set_elements(&theirs, MPI_BYTE, bytes) != MPI_SUCCESS ||
			native->set_cancelled(&theirs, i % 2) != MPI_SUCCESS)
			return false;
		zabi_status_count(&ours, bytes, i % 2);
		if (memcmp(&theirs, &ours, sizeof(ours)) != 0)
			return false;
	}
	return true;
}

static bool learn_status(const struct zabi_natives *native)
{
	MPI_Status low, high, cancelled;
	const int at_low = count_in(native, 1, &low), at_high = count_in(native, (MPI_Count)1 << 32, &high);

	memset(&cancelled, 0, sizeof(cancelled));
	if (native->set_cancelled(&cancelled, 1) != MPI_SUCCESS)
		return false;
	const int at_cancelled = find_word(&cancelled);
	if (at_low < 0 || at_high < 0 || at_cancelled < 0)
		return false;
	zabi_status = (struct zabi_status){.low = (unsigned)at_low,
		.high = (unsigned)at_high,
		.high_shift = (unsigned)__builtin_ctz((unsigned)high.MPI_internal[at_high]),
		.cancelled = (unsigned)at_cancelled};
	return is_right(native);
}

const char *zabi_learn(const struct zabi_natives *native)
{
	int major = 0, minor;

	if (native->abi_version(&major, &minor) != MPI_SUCCESS || major != MPI_ABI_VERSION)
		return "this MPI library has another version of the MPI standard ABI";
	return learn_status(native) ? NULL : "the statuses of this MPI library are of an unknown form";
}

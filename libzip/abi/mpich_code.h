/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes in the form of MPICH's, for libzip/abi/abi.h: in its own ABI and in the standard one. Any thread. */
#ifndef ZIP_LIBZIP_MPICH_CODE_H
#define ZIP_LIBZIP_MPICH_CODE_H

/*
 * MPICH 4.0.2 (src/mpi/errhan/errutil.h): bits 0-6 class, 7 fatal, 8-18 generic message, 19-25 ring index, 26-29 ring
 * sequence, 30 dynamic. Codes of MPI_Add_error_code count up from bit 8. Ours: sequence all ones and a generic number
 * above any that MPICH has (some 1000), with the number of our text. So the class is where MPICH looks for it.
 */
#define ZABI_ERROR_TEXTS 64u
#define ZABI_ERROR_MARK 0x3c070000u
#define ZABI_ERROR_MARK_MASK 0x7fff8080u
#define ZABI_ERROR_CLASS_MASK 0x7fu
#define ZABI_ERROR_ADDED 0x40000000

static inline int zabi_error_code(int class, unsigned text)
{
	return (int)(ZABI_ERROR_MARK | text << 8 | (unsigned)class);
}
static inline int zabi_error_text(int code)
{
	return ((unsigned)code & ZABI_ERROR_MARK_MASK) == ZABI_ERROR_MARK
		       ? (int)((unsigned)code >> 8 & (ZABI_ERROR_TEXTS - 1))
		       : -1;
}

#endif

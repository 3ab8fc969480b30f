/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory behind own handles (libzip/abi/ompi_fortran.h), for families with ZABI_FORTRAN_READS. */
#ifndef ZIP_LIBZIP_CONVERT_FORTRAN_H
#define ZIP_LIBZIP_CONVERT_FORTRAN_H

/* Maps the memory, once and while the world is merged. Ends the program with a line if the objects of the running
 * library are unknown, or there is no memory. Any thread. */
void zconvert_fortran_begin(void);

#endif

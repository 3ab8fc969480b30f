/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Buffer_detach, and MPI_Type_free. Native MPI keeps the attached buffer for sends to local ranks; bridged
 * buffered sends have their own copies, and detaching waits for those too (MPI-4.0 section 3.6).
 */
#include "bridge.h"
#include "datatype.h"
#include "shim.h"

int zip_Buffer_detach(void *buffer_addr, int *size)
{
	zbridge_wait_buffered();
	return zn.Buffer_detach(buffer_addr, size);
}

int zip_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
	zbridge_wait_buffered();
	return zn.Buffer_detach_c(buffer_addr, size);
}

int zip_Type_free(MPI_Datatype *type)
{
	ztype_forget(*type);
	zshim_callback_begin(); /* deletes attributes */
	int rc = zn.Type_free(type);
	zshim_callback_end();
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the MPI functions in forms.tab, as the modules of this folder take them. For p2p/forms.c, which
 * gen/mpigen.py makes; the names of parameters are those of mpi.h. */
#ifndef ZIP_LIBZIP_P2P_FORMS_H
#define ZIP_LIBZIP_P2P_FORMS_H

#include "libzip/p2p/buffer.h"
#include "libzip/p2p/exchange.h"
#include "libzip/p2p/persistent.h"
#include "libzip/p2p/probe.h"
#include "libzip/p2p/sendrecv.h"
#include "libzip/shim/shim.h"

#define SEND (&(const struct zp2p_args){name, comm, (void *)(uintptr_t)buf, count, datatype, dest, tag})
#define RECV (&(const struct zp2p_args){name, comm, buf, count, datatype, source, tag})
#define EXCHANGE                                                                                                       \
	(&(struct zexchange_args){.c = zcomm_find(comm),                                                               \
		.send = {name, comm, (void *)(uintptr_t)sendbuf, sendcount, sendtype, dest, sendtag},                  \
		.recv = {name, comm, recvbuf, recvcount, recvtype, source, recvtag}})
#define REPLACE                                                                                                        \
	(&(struct zexchange_args){.c = zcomm_find(comm),                                                               \
		.send = {name, comm, buf, count, datatype, dest, sendtag},                                             \
		.recv = {name, comm, buf, count, datatype, source, recvtag}})

#endif

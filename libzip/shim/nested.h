/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Native functions that call an MPII_* function, which we interpose, and hold the native lock meanwhile: those that get
 * an attribute (MPICH 3.4). Our wrapper inside would wait for our lock, whose owner may wait for the native one. So
 * these functions run with the depth raised (shim.h). They run no callbacks.
 */
#ifndef ZIP_LIBZIP_NESTED_H
#define ZIP_LIBZIP_NESTED_H

/* The value in zn for the native entry of that name: the entry itself, or a function that calls the entry with the
 * depth raised. */
void *znested_entry(const char *name, void *entry);

#endif

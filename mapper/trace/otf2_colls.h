/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of collectives, as operations of a program. OTF2 says what a nonblocking one is only when it is complete.
 */
#ifndef ZIP_MAPPER_OTF2_COLLS_H
#define ZIP_MAPPER_OTF2_COLLS_H

#include "mapper/trace/otf2_reading.h"

/* Asks for the events; their argument is a struct otf2_reading. False: it fails. */
bool otf2_colls_set(OTF2_EvtReaderCallbacks *);
/* Once all collectives of the location are known: numbers those of each communicator in the keys of their messages, and
 * puts operations where their collectives began. */
int otf2_colls_finish(struct otf2_reading *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of messages and of one-sided operations, as operations of a program. */
#ifndef ZIP_MAPPER_OTF2_MESSAGES_H
#define ZIP_MAPPER_OTF2_MESSAGES_H

#include "mapper/trace/otf2_reading.h"

/* Asks for the events; their argument is a struct otf2_reading. False: it fails. */
bool otf2_messages_set(OTF2_EvtReaderCallbacks *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The process of a node's zipperd (--node), which a rank starts. Start-up only. */
#ifndef ZIPPERD_NODE_H
#define ZIPPERD_NODE_H

/* Makes this process nobody's child, as the program of the rank must not see it. Closes the connections of the rank,
 * for whose ends others wait. Leaves the core that the rank is bound to. Returns in the process that goes on. */
void node_detach(void);

#endif

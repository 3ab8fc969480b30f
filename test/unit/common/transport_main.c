/* SPDX-License-Identifier: BSD-3-Clause */
/* The conformance list of transports as a program of its own. */
#include "test/unit/common/link_fixture.h"

int main(int argc, char **argv)
{
	link_auth = &zauth_module;
	return transport_main(argc, argv);
}

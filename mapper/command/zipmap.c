/* SPDX-License-Identifier: BSD-3-Clause */
/* zipmap: the table of its commands. */
#include <stddef.h>

#include "common/args/commands.h"
#include "mapper/command/commands.h"

static const struct zcommand list[] = {
	{"map", map_command, "decide which rank of a job runs where"},
	{"draw", map_draw_command, "draw a map: clusters, nodes, ranks, traffic"},
	{"model", model_command, "predict the traffic on every link of a network"},
	{"time", time_command, "say how long the messages of a program take, and why"},
	{"plot", plot_command, "draw what \"zipmap model --csv\" wrote"},
	{"report", report_command, "make one page about a recorded program: time, traffic, maps, cost"},
	{"show", show_command, "print or draw a recorded communication graph"},
	{"convert", convert_command, "communication graphs to and from METIS and Matrix Market"},
	{NULL, NULL, NULL},
};

static const struct zcommands commands = {
	.program = "zipmap",
	.usage = "zipmap COMMAND [OPTION ...]\n"
		 "       zipmap -f HOSTFILE -g GRAPH ... (which is zipmap map)\n",
	.list = list,
	.unnamed = &list[0],
};

int main(int argc, char **argv)
{
	return zcommands_run(&commands, argc, argv);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands of zipmap. Each has an entry in the table of zipmap.c and a file of its own. */
#ifndef ZIP_MAPPER_COMMANDS_H
#define ZIP_MAPPER_COMMANDS_H

/* argv[0] is the subcommand. Returns the exit code: 0, 1 (the command failed, and one line says why), 2 (wrong usage).
 */
int map_draw_command(int argc, char **argv);
int map_command(int argc, char **argv);
int model_command(int argc, char **argv);
int plot_command(int argc, char **argv);
int report_command(int argc, char **argv);
int show_command(int argc, char **argv);
int time_command(int argc, char **argv);
int convert_command(int argc, char **argv);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands of zipmap: one table entry and one function each. */
#ifndef ZIP_MAPPER_ZIPMAP_H
#define ZIP_MAPPER_ZIPMAP_H

/* argv[0] is the subcommand. Returns the exit code: 0, 1 (it failed, and one line says why), 2 (wrong usage). */
int draw_main(int argc, char **argv);
int map_main(int argc, char **argv);
int model_main(int argc, char **argv);
int plot_main(int argc, char **argv);
int show_main(int argc, char **argv);
int convert_main(int argc, char **argv);

#endif

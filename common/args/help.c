/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the help of a command line; see help.h. */
#include "config.h"

#include "common/args/help.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WIDTH_MAX 26 /* of the options' column; a longer option has its text on the next line */
#define WORD_MAX 64

static const struct zargs_row common_rows[] = {
	{.name = "version", .letter = 'V', .help = "print the version and exit"},
	{.name = "help", .letter = 'h', .help = "print this and exit"},
	{.name = NULL},
};

/* "-f, --hosts FILE" or "    --phase N". Returns its length. */
static int format_option(const struct zargs_row *row, char word[WORD_MAX])
{
	char letter[] = {'-', row->letter, ',', ' ', '\0'};
	return snprintf(word, WORD_MAX, "%s--%s%s%s", row->letter ? letter : "    ", row->name, row->value ? " " : "",
		row->value ? row->value : "");
}

void zargs_help_item(int indent, const char *name, int width, const char *text)
{
	printf("%*s%-*s", indent, "", width, name);
	if ((int)strlen(name) > width)
		printf("\n%*s", indent + width, "");
	for (;;) {
		int len = (int)strcspn(text, "\n");
		printf("  %.*s\n", len, text);
		text += len;
		if (*text++ == '\0')
			return;
		if (*text == '\0')
			return;
		printf("%*s", indent + width, "");
	}
}

static int find_width(const struct zargs_row *rows, int width)
{
	char word[WORD_MAX];
	for (; rows->name; rows++) {
		int len = format_option(rows, word);
		if (len > width && len <= WIDTH_MAX)
			width = len;
	}
	return width;
}

static void print_rows(const struct zargs_row *rows, int width)
{
	char word[WORD_MAX];
	for (; rows->name; rows++) {
		format_option(rows, word);
		zargs_help_item(2, word, width, rows->help);
		if (rows->list)
			rows->list();
	}
}

void zargs_help_print(const struct zargs *a)
{
	int width = find_width(a->rows, find_width(common_rows, 0));
	printf("usage: %s\n", a->usage);
	print_rows(a->rows, width);
	print_rows(common_rows, width);
}

void zargs_help_version(const char *program)
{
	printf("%.*s (%s) %s\n", (int)strcspn(program, " "), program, PACKAGE_NAME, PACKAGE_VERSION);
}

int zargs_help_finish(struct zerr *err)
{
	errno = EIO; /* in case it failed earlier */
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return zerr_set(err, -errno, "standard output: %s", strerror(errno));
}

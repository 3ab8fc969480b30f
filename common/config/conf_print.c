/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a configuration table: its present values as a file, and its options for a manual page. */
#include "common/config/conf.h"
#include "common/config/conf_print.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "common/config/conf_value.h"

#define LINE_CHARS 78 /* width of the help comments, "# " included */

/* Prints the help as comment lines, broken between words. */
static void print_help(const char *help, FILE *out)
{
	int column = 0;
	while (*help) {
		int len = (int)strcspn(help, " ");
		if (column > 0 && column + 1 + len > LINE_CHARS) {
			fputc('\n', out);
			column = 0;
		}
		column += fprintf(out, "%s%.*s", column == 0 ? "# " : " ", len, help);
		help += len;
		help += strspn(help, " ");
	}
	fputc('\n', out);
}

/* Would the value be read back differently without quotes? */
static bool needs_quotes(const char *value)
{
	size_t len = strlen(value);
	return strchr(value, '#') ||
	       (len > 0 && (isspace((unsigned char)value[0]) || isspace((unsigned char)value[len - 1])));
}

void zconf_print_line(const char *name, const char *value, FILE *out)
{
	const char *quote = needs_quotes(value) ? "\"" : "";
	fprintf(out, "%s = %s%s%s\n", name, quote, value, quote);
}

void zconf_print(const struct zconf_row *rows, const void *conf, FILE *out)
{
	for (const struct zconf_row *row = rows; row->name; row++) {
		char buf[4096], domain[160];
		if (row != rows)
			fputc('\n', out);
		print_help(row->help, out);
		if (row->type == ZCONF_CALL) {
			fprintf(out, "# May be given more than once.\n#%s =\n", row->name);
			continue;
		}
		if (row->type != ZCONF_STRING)
			fprintf(out, "# Value: %s.\n", zconf_value_domain(row, domain, sizeof(domain)));
		const char *value = zconf_value_format(row, conf, buf, sizeof(buf));
		if (row->type == ZCONF_STRING && *value == '\0')
			fputc('#', out);
		zconf_print_line(row->name, value, out);
	}
}

/* Text for mdoc: no macro at the beginning of a line, no escapes, every sentence on a line of its own. */
static void print_text(const char *text, FILE *out)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == ' ' && text[-1] == '.' && isupper((unsigned char)text[1]))
			fputc('\n', out);
		else
			fputc(*text, out);
	}
	fputc('\n', out);
}

static const char *type_word(enum zconf_type type)
{
	switch (type) {
	case ZCONF_INT:
		return "number";
	case ZCONF_BYTES:
		return "bytes";
	case ZCONF_TIME_MS:
		return "time";
	case ZCONF_ENUM:
		return "word";
	default:
		return "text";
	}
}

void zconf_print_mdoc(const struct zconf_row *rows, FILE *out)
{
	for (const struct zconf_row *row = rows; row->name; row++) {
		char domain[160];
		fprintf(out, ".It Cm %s No = Ar %s\n", row->name, type_word(row->type));
		print_text(row->help, out);
		if (row->type == ZCONF_CALL)
			fputs("May be given more than once.\n", out);
		else if (row->type != ZCONF_STRING)
			fprintf(out, "The value is %s.\n", zconf_value_domain(row, domain, sizeof(domain)));
		if (row->preset)
			fprintf(out, "The default is\n.Ql %s .\n", row->preset);
		else
			fputs("Not set by default.\n", out);
	}
}

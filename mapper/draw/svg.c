/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes elements of SVG. */
#include <stdint.h>
#include <string.h>

#include "mapper/draw/svg.h"

/* width of a letter divided by its height: sans-serif is somewhat more than half as wide as high */
#define LETTER 0.6
#define REPLACEMENT "\xef\xbf\xbd"

void svg_begin(FILE *f, double width, double height)
{
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
		"font-family=\"sans-serif\">\n",
		width, height, width, height);
}

void svg_end(FILE *f)
{
	fputs("</svg>\n", f);
}

void svg_rectangle(FILE *f, double x, double y, double w, double h, const char *fill, const char *stroke)
{
	fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"%s\"/>\n", x, y, w,
		h, fill, stroke);
}

void svg_line(FILE *f, double x1, double y1, double x2, double y2, const char *stroke, double width, const char *dashes)
{
	fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.4g\"", x1, y1,
		x2, y2, stroke, width);
	if (dashes)
		fprintf(f, " stroke-dasharray=\"%s\"", dashes);
	fputs("/>\n", f);
}

/* --- text --- */

static bool continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Bytes of the UTF-8 letter at the beginning of a text; 0: there is none, or none that XML 1.0 (section 2.2) allows. */
static size_t letter_length(const char *text)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char first = (unsigned char)*text;
	size_t n = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
	uint32_t code = n == 1 ? first : first & (0x7fu >> n);

	for (size_t i = 1; i < n; i++) {
		if (!continues(text[i]))
			return 0;
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	}
	if (code < least[n] || (code < ' ' && code != '\t') || (code >= 0xd800 && code < 0xe000) ||
		(code & 0xfffe) == 0xfffe || code > 0x10ffff)
		return 0;
	return n;
}

void svg_escape(FILE *f, const char *text)
{
	while (*text) {
		size_t n = letter_length(text);

		if (*text == '<')
			fputs("&lt;", f);
		else if (*text == '>')
			fputs("&gt;", f);
		else if (*text == '&')
			fputs("&amp;", f);
		else if (n)
			fwrite(text, 1, n, f);
		else
			fputs(REPLACEMENT, f);
		text += n ? n : 1;
	}
}

void svg_text(FILE *f, double x, double y, double size, const char *anchor, const char *text)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"%s\">", x, y, size, anchor);
	svg_escape(f, text);
	fputs("</text>\n", f);
}

static size_t letters_count(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += !continues(*text);
	return n;
}

double svg_text_width(const char *text, double size)
{
	return (double)letters_count(text) * size * LETTER;
}

void svg_label(FILE *f, double x, double y, double size, bool left, const char *text)
{
	double w = svg_text_width(text, size);

	fprintf(f,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#ffffff\" fill-opacity=\"0.75\" "
		"stroke=\"none\"/>\n",
		left ? x - w : x, y - size * 0.85, w, size * 1.1);
	svg_text(f, x, y, size, left ? "end" : "start", text);
}

/* Skips so many letters of the text. */
static const char *letters_skip(const char *text, size_t n)
{
	for (; *text; text++)
		if (!continues(*text) && n-- == 0)
			break;
	return text;
}

const char *svg_shorten(char *buf, size_t cap, const char *text, unsigned letters)
{
	size_t n = letters_count(text), keep = letters > 1 ? letters - 1 : 1, head = (keep + 1) / 2;
	const char *tail = letters_skip(text, n > keep ? n - (keep - head) : 0);

	if (n <= letters)
		snprintf(buf, cap, "%s", text);
	else
		snprintf(buf, cap, "%.*s" SVG_ELLIPSIS "%s", (int)(letters_skip(text, head) - text), text, tail);
	return buf;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The main of a target without a fuzzer: runs the target on each file that is named, and on each file of each folder.
 * Usage: TARGET FILE|FOLDER... It prints the number of inputs; a mistake ends it by a signal, behind the name of the
 * file. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "test/fuzz/target.h"

static unsigned inputs;

static void run_file(const char *path)
{
	struct stat st;
	FILE *f = fopen(path, "r");
	if (!f || fstat(fileno(f), &st) != 0) {
		perror(path);
		exit(2);
	}
	size_t size = (size_t)st.st_size;
	uint8_t *data = malloc(size ? size : 1); /* its own size: a sanitizer sees a read behind it */
	if (!data || fread(data, 1, size, f) != size) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(2);
	}
	fclose(f);
	printf("%s\n", path);
	fflush(stdout); /* in case it is the last line */
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	inputs++;
}

static void run_folder(const char *path)
{
	struct dirent **entry;
	int n = scandir(path, &entry, NULL, alphasort);
	if (n < 0) {
		perror(path);
		exit(2);
	}
	for (int i = 0; i < n; i++) {
		char file[4096];
		snprintf(file, sizeof(file), "%s/%s", path, entry[i]->d_name);
		if (entry[i]->d_name[0] != '.')
			run_file(file);
		free(entry[i]);
	}
	free(entry);
}

int main(int argc, char **argv)
{
	struct stat st;
	for (int i = 1; i < argc; i++)
		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			run_folder(argv[i]);
		else
			run_file(argv[i]);
	printf("%u inputs\n", inputs);
	return inputs > 0 ? 0 : 2;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Small files that the library puts beside a file of the application: to see whether all parts have the same file
 * (file_same.h), and for the shared file pointer (file_pointer.h). */
#ifndef ZIP_LIBZIP_FILE_BESIDE_H
#define ZIP_LIBZIP_FILE_BESIDE_H

#include <stdbool.h>

/* Waits until there is a file of that name, for the time of libzip/comm/split/witness.h, and makes progress meanwhile.
 * False: there is none. */
bool zfile_beside_await(const char *path);
/* Does the path lie on NFS, as far as can be told? The file need not exist. */
bool zfile_beside_is_on_nfs(const char *path);
/* A name beside the file, symbolic links of the file followed, with the text in it. All members use the text of one of
 * them. The caller frees the name. NULL: no memory, or too long. */
char *zfile_beside_name(const char *path, const char *text);
/* 16 digits that nobody has had before, and a 0. */
#define ZFILE_BESIDE_RANDOM 17
void zfile_beside_random(char text[ZFILE_BESIDE_RANDOM]);

#endif

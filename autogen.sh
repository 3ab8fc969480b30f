#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes configure and the Makefile.in files, which are not kept in git.
set -e
cd "$(dirname "$0")"
mkdir -p build-aux m4
exec autoreconf --install --force "$@"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# See model_paper.py.
# ThreadSanitizer is 15 times as slow, and one part has all threads.
if [ $# = 0 ] && ldd "$ZIP_TOP_BUILDDIR/mapper/zipmap" 2>/dev/null | grep -q libtsan; then set -- spread; fi
exec "${PYTHON:-python3}" "${0%.t}.py" "$@"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# See time.py.
exec "${PYTHON:-python3}" -B "${0%.t}.py" "$@"

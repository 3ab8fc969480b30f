#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# See model_reference.py.
exec "${PYTHON:-python3}" "${0%.t}.py" "$@"

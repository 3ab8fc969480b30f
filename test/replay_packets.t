#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# See replay_packets.py.
exec "${PYTHON:-python3}" "${0%.t}.py" "$@"

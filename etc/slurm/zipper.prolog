#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prolog= of slurm.conf(5) on zipper nodes: a node whose zipperd does not run takes no job, and Slurm drains it. On other nodes
# nothing is asked. See zipper-slurm(7).
command -v zipperd >/dev/null || exit 0
systemctl is-enabled --quiet zipperd.service || exit 0
systemctl is-active --quiet zipperd.service || systemctl start zipperd.service

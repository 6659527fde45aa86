#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes configure from configure.ac. Needs autoconf, automake, libtool and pkg-config.
set -e
cd "$(dirname "$0")"
exec autoreconf --install --force --warnings=all "$@"

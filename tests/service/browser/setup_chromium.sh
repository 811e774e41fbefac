#!/bin/sh
# Install Debian's Chromium if it is missing and we are root; the browser tests are skipped where there is none.
# No tool may download a browser of its own.
set -eu
command -v chromium >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium fonts-liberation; } >&2 ||
        echo "Chromium could not be installed; the browser tests will be skipped" >&2
fi
exit 0

#!/bin/sh
# Install Debian's Chromium, and the same without a desktop around it, if they are missing and we are root. Where the
# first is missing, the browser tests are skipped; where the second is, they take three times as long.
# No tool may download a browser of its own.
set -eu
command -v chromium >/dev/null && command -v chromium-headless-shell >/dev/null && exit 0
install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" >&2
}
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -q >&2 || true
    install chromium fonts-liberation || echo "Chromium could not be installed; the browser tests will be skipped" >&2
    install chromium-headless-shell || echo "chromium-headless-shell could not be installed; the browser tests will be slow" >&2
fi
exit 0

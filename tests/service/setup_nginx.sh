#!/bin/sh
# Install Debian's nginx if it is missing and we are root; what needs it is skipped where there is none.
set -eu
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    # the package would start a server on port 80: nobody asked for that
    policy=/usr/sbin/policy-rc.d
    [ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" && trap 'rm -f "$policy"' EXIT; }
    { DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nginx-light ||
        { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nginx-light; }; } >&2 ||
        echo "nginx could not be installed; the tests behind a proxy will be skipped" >&2
fi
exit 0

#!/bin/sh
# Install npm's oidc-provider, a certified OpenID provider, into a folder: setup_openid.sh FOLDER
#   fails where it cannot be installed
set -eu

command -v node >/dev/null && command -v npm >/dev/null
if [ ! -e "$1/ready" ]; then
    mkdir -p "$1"
    timeout 300 npm install --silent --no-audit --no-fund --prefix "$1" oidc-provider@9.13.3 >&2
    touch "$1/ready"
fi

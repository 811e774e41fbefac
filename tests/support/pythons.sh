#!/usr/bin/env bash
# Tries the rooms that need no server under every other Python that is here; one that is not here is named and left out.
set -euo pipefail
cd "$(dirname "$0")/../.."
rooms=(tests/query tests/statistics tests/data tests/show tests/mechanisms)

find_python() {
  if "python$1" --version >/dev/null 2>&1; then command -v "python$1"; return; fi
  ls "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python 2>/dev/null | tail -n 1
}

for version in "$@"; do
  python=$(find_python "$version" || true)
  if [ -z "$python" ]; then echo "Python $version is not here"; continue; fi
  venv=".venv-$version"
  test -x "$venv/bin/python" || "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --upgrade pip
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group pythons
  "$venv/bin/python" -m pytest -q -p no:cacheprovider "${rooms[@]}"
done

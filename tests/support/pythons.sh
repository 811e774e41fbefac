#!/usr/bin/env bash
# Test the packages that need no server under other Python versions; a version that is not installed is reported and skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
parts=(tests/query tests/statistics tests/data tests/show tests/mechanisms)

find_python() {
  if "python$1" --version >/dev/null 2>&1; then command -v "python$1"; return; fi
  ls "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python 2>/dev/null | tail -n 1
}

for version in "$@"; do
  python=$(find_python "$version" || true)
  if [ -z "$python" ]; then echo "Python $version is not installed: skipped"; continue; fi
  venv=".venv-$version"
  test -x "$venv/bin/python" || "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --upgrade pip
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group pythons
  "$venv/bin/python" -m pytest -q -p no:cacheprovider "${parts[@]}"
done

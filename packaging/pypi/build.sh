#!/usr/bin/env bash
# Builds the wheel: bash packaging/pypi/build.sh [FOLDER], by default into the folder dist-wheel.
# It holds what the npm package holds, and its production dependencies at the locked versions. Needs npm, and a Python with venv and pip.
set -euo pipefail
out=$(realpath -m "${1:-dist-wheel}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$root"
npm run build
npm pack --ignore-scripts --silent --pack-destination "$work" >/dev/null
cp -r "$here/pyproject.toml" "$here/maskgate" LICENSE "$work"
# An index shows the description alone: a link into this repository would lead nowhere there.
sed -E 's/\[([^]]+)\]\(([^):]+)\)/\1/g' README.md >"$work/README.md"
find "$work/maskgate" -name __pycache__ -prune -exec rm -r {} +

app=$work/maskgate/app
mkdir "$app"
tar -xzf "$work"/maskgate-*.tgz -C "$app" --strip-components=1
cp package-lock.json "$app"
(cd "$app" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund)
rm -rf "$app/package-lock.json" "$app/node_modules/.package-lock.json" "$app/node_modules/.bin"

# What no running program reads: tests, manuals, types, source maps and TypeScript sources. Licences stay.
cd "$app/node_modules"
rm -rf zod/src
find . -type d \( -name test -o -name tests -o -name docs -o -name benchmarks -o -name examples -o -name .github \) -prune -exec rm -rf {} +
find . -type f \( -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -name '*.map' -o -iname 'readme*.md' -o -iname 'changelog*.md' \) -delete

mkdir -p "$out"
rm -f "$out"/maskgate-*.whl
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip wheel --disable-pip-version-check --quiet --no-deps --wheel-dir "$out" "$work"
ls -l "$out"/maskgate-*.whl

#!/usr/bin/env bash
# Installs the peers of the bench: Debian packages system-wide (as root), everything else into .cache/bench.
# Each part may fail; the bench leaves out what is missing and says so.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
cache=$(cd .. && pwd)/.cache/bench
mkdir -p "$cache"

part() {
  local name=$1
  shift
  if "$@" >"$cache/setup.log" 2>&1; then
    printf '%-24s there\n' "$name"
  else
    printf '%-24s not installed; the end of its log:\n' "$name"
    tail -n 5 "$cache/setup.log" | sed 's/^/    /'
  fi
}

nginx_lua() {
  command -v nginx && [ -e /usr/lib/nginx/modules/ngx_http_lua_module.so ] && return
  apt-get update && apt-get install -y --no-install-recommends nginx libnginx-mod-http-lua lua-cjson
}

middleware() {
  [ -e "$cache/npm/node_modules/http-proxy-middleware" ] && return
  npm install --prefix "$cache/npm" --no-audit --no-fund --ignore-scripts http-proxy-middleware@4.2.2
}

go_proxy() { (cd peers/reverse-proxy && go build -o "$cache/go-reverse-proxy" .); }

python_peers() {
  [ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv" &&
    "$cache/venv/bin/pip" install --disable-pip-version-check -r peers/requirements.txt
}

mitmproxy() {
  [ -x "$cache/mitmproxy/bin/mitmdump" ] && return
  python3 -m venv "$cache/mitmproxy" &&
    "$cache/mitmproxy/bin/pip" install --disable-pip-version-check mitmproxy==11.0.2
}

part "nginx with Lua" nginx_lua
part "http-proxy-middleware" middleware
part "Go ReverseProxy" go_proxy
part "aiohttp, FastAPI, httpx" python_peers
part "mitmproxy" mitmproxy

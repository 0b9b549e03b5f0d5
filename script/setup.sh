# Read by script/start and script/test, from the root of the repository: installs what is missing.

# The npm packages. Node itself is among them: from here on, `node` is the version that the lock file pins.
install_packages() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo 'Node.js 20 or newer and npm are needed. On Debian: apt-get install nodejs npm' >&2
    exit 1
  fi
  if ! node script/packages-match.mjs; then
    echo 'Installing npm packages: about half a minute, in which npm says nothing'
    # Not `npm ci`: npm 11 refuses a lock file without the optional packages of other platforms, and not every registry
    # has all of those. This installs the versions of the lock file just the same, and leaves the file as it is.
    npm install --no-save --no-progress --loglevel=error
  fi
  export PATH="$PWD/node_modules/.bin:$PATH"
  # The pinned Node is a package for Linux and Windows only.
  if [ "$(node -p 'parseInt(process.versions.node)')" -lt 24 ]; then
    echo "Node.js 24 or newer is needed on this platform; this is $(node --version)." >&2
    exit 1
  fi
}

# install_program COMMAND PACKAGE: a program from the Debian package, where this machine and this user allow it.
install_program() {
  command -v "$1" >/dev/null && return
  command -v apt-get >/dev/null || return 1
  local as_root=''
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || return 1
    as_root='sudo -n'
  fi
  echo "Installing the Debian package $2"
  [ -n "${packages_listed:-}" ] || $as_root apt-get update -qq >/dev/null || return 1
  packages_listed=yes
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null
}

# unpack_program FOLDER COMMAND PACKAGE: a program from the Debian package, with what it depends on, into a folder and without
# being root: installed, it would start a service of its own. Its libraries are then in FOLDER/usr/lib.
unpack_program() {
  command -v "$2" >/dev/null && return
  ! is_unpacked "$1" "$2" || return 0
  command -v apt-get >/dev/null || return 1
  echo "Unpacking the Debian package $3"
  mkdir -p "$1"
  (
    cd "$1"
    download_packages "$3" || { apt-get update -qq && download_packages "$3"; }
    for package in *.deb; do dpkg -x "$package" . && rm -f "$package"; done
  ) >/dev/null 2>&1
  is_unpacked "$1" "$2"
}

# is_unpacked FOLDER COMMAND: whether the program is there, and all libraries that it needs.
is_unpacked() {
  local program
  program=$(find "$1"/usr/*bin "$1/usr/lib" -name "$2" -type f 2>/dev/null | head -n 1)
  [ -n "$program" ] || return 1
  ! LD_LIBRARY_PATH=$(echo "$1"/usr/lib/*-linux-gnu) ldd "$program" 2>/dev/null | grep -q 'not found'
}

# The package and those it depends on that this machine lacks.
download_packages() {
  local missing
  missing=$(apt-get install --simulate --no-install-recommends "$1" | sed -n 's/^Inst \([^ ]*\).*/\1/p')
  [ -n "$missing" ] && apt-get download -qq $missing
}

# install_agents FOLDER: the real agents that tests run, in the versions of cli/test/agents/agents.json; about 2 GB.
install_agents() {
  [ "$(uname -sm)" = 'Linux x86_64' ] || return 1
  mkdir -p "$1"
  if ! cmp -s cli/test/agents/agents.json "$1/installed.json"; then
    echo 'Installing the agents'
    cp cli/test/agents/agents.json "$1/package.json"
    timeout 300 npm install --prefix "$1" --ignore-scripts --no-audit --no-fund --no-progress --loglevel=error || return 1
    cp cli/test/agents/agents.json "$1/installed.json"
  fi
}

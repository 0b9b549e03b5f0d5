# Functions that install missing programs. script/start and script/test source this file from the root of the repository.

# Installs the npm packages. They include Node itself: afterwards, `node` is the version pinned in the lock file.
install_packages() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo 'Node.js 20 or newer and npm are needed. On Debian: apt-get install nodejs npm' >&2
    exit 1
  fi
  if ! node script/packages-match.mjs; then
    echo 'Installing npm packages: this takes about half a minute without output'
    # `npm ci` of npm 11 refuses a lock file without the optional packages of other platforms, and not every registry has all
    # of those. `npm install` also installs the versions of the lock file, and does not change the file.
    npm install --no-save --no-progress --loglevel=error
  fi
  export PATH="$PWD/node_modules/.bin:$PATH"
  # The package with the pinned Node exists only for Linux and Windows.
  if [ "$(node -p 'parseInt(process.versions.node)')" -lt 24 ]; then
    echo "Node.js 24 or newer is needed on this platform; this is $(node --version)." >&2
    exit 1
  fi
}

# install_program COMMAND PACKAGE: installs a program from its Debian package, if the machine and the user allow it.
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

# unpack_program FOLDER COMMAND PACKAGE: unpacks a program from its Debian package, with its dependencies, into a folder. This
# needs no root, and starts no system service, as an installation would. The libraries are then in FOLDER/usr/lib.
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

# is_unpacked FOLDER COMMAND: succeeds if the program and all its libraries exist.
is_unpacked() {
  local program
  program=$(find "$1"/usr/*bin "$1/usr/lib" -name "$2" -type f 2>/dev/null | head -n 1)
  [ -n "$program" ] || return 1
  ! LD_LIBRARY_PATH=$(echo "$1"/usr/lib/*-linux-gnu) ldd "$program" 2>/dev/null | grep -q 'not found'
}

# Downloads the package and its missing dependencies.
download_packages() {
  local missing
  missing=$(apt-get install --simulate --no-install-recommends "$1" | sed -n 's/^Inst \([^ ]*\).*/\1/p')
  [ -n "$missing" ] && apt-get download -qq $missing
}

# install_agents FOLDER LIST: installs the real agents for tests, in the versions of a list such as cli/test/agents/agents.json;
# about 3 GB.
install_agents() {
  [ "$(uname -sm)" = 'Linux x86_64' ] || return 1
  mkdir -p "$1"
  if ! cmp -s "$2" "$1/installed.json"; then
    echo 'Installing the agents'
    cp "$2" "$1/package.json"
    timeout 300 npm install --prefix "$1" --ignore-scripts --no-audit --no-fund --no-progress --loglevel=error || return 1
    cp "$2" "$1/installed.json"
  fi
}

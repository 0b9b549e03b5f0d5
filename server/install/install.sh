#!/bin/sh
# Installs capture, the command line of Session Capture, for the person who runs this script. It needs no administrator's
# rights. Then it signs the machine in and sets it up. It asks before it changes anything. CAPTURE_SETUP=no skips this second
# part. Running it again upgrades.
set -eu

url=@URL@
version=@VERSION@
package_sum=@PACKAGE_SUM@
# For machines without a recent Node.js: PLATFORM=SUM …
nodes=@NODES@
node_floor=@NODE_FLOOR@
# The exit codes of `capture status`: nobody is signed in or the secret is refused, and the service is unreachable.
signed_out=4
unreachable=75

main() {
  refuse_plain_http
  [ "$(uname -s)" = Linux ] || say 'Capture is experimental on this system: so far it has only been run on Linux.'
  place=${XDG_DATA_HOME:-$HOME/.local/share}/session-capture
  bin=$HOME/.local/bin
  mkdir -p "$place" "$bin"
  staging=$(mktemp -d "$place/new.XXXXXX")
  trap 'rm -rf "$staging"' EXIT
  trap 'exit 130' INT TERM HUP

  find_node
  fetch capture.tgz "$package_sum"
  tar -xzf "$staging/capture.tgz" -C "$staging"
  "$node" "$staging/package/capture.js" --version >/dev/null || fail 'The program does not start.'
  mv -f "$staging/package/capture.js" "$staging/package/LICENSES-OF-LIBRARIES.txt" "$place/"
  write_launcher
  say "Installed capture $version as $bin/capture (SHA-256 of the package: $package_sum)."
  tell_path
  say "To remove it: $capture uninstall --purge && rm -r $(word "$place") $(word "$bin/capture")"
  set_up
}

say() { printf '%s\n' "$*"; }

fail() {
  printf 'error: %s\n' "$1" >&2
  [ $# -eq 1 ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}

# The checksums are part of this script, so they protect nobody if the script itself can be changed on its way.
refuse_plain_http() {
  case $url in https://* | 'http://[::1]'*) return ;; esac
  host=${url#http://}
  host=${host%%[:/]*}
  case $host in
    127.*[!0-9.]*) ;;
    localhost | 127.*) return ;;
  esac
  fail "$url is not encrypted: anybody on the way could put another program in the place of capture." \
    'The operator of the service sets up HTTPS, and an address with https:// as PUBLIC_URL.'
}

# Sets `node` to the machine's own program, the one of an earlier run, or the one that the service offers.
find_node() {
  own=$(command -v node || true)
  if is_new_enough "$own"; then
    # A version manager's `node` depends on the current folder. This is the program behind it.
    node=$("$own" -p process.execPath)
    return
  fi
  platform=$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m | sed 's/^x86_64$/x64/; s/^aarch64$/arm64/')
  sum=$(printf '%s\n' "$nodes" | tr ' ' '\n' | sed -n "s/^$platform=//p")
  node=$place/node
  if [ -z "$sum" ]; then
    is_new_enough "$node" || missing_node "${own:+$own is version $("$own" --version)}"
  elif ! is_new_enough "$node" || [ "$(cat "$place/node.sum" 2>/dev/null)" != "$sum" ]; then
    say "capture needs Node.js $node_floor or newer, which this machine does not have: it gets one of its own."
    fetch "install/node-$platform.tgz" "$sum"
    tar -xzf "$staging/node-$platform.tgz" -C "$staging"
    is_new_enough "$staging/node" || missing_node 'The one that the service offers does not run here'
    mv -f "$staging/node" "$staging/LICENSE-OF-NODE.txt" "$place/"
    printf '%s\n' "$sum" >"$place/node.sum"
  fi
}

is_new_enough() {
  [ -x "$1" ] || return 1
  major=$("$1" -p 'parseInt(process.versions.node)' 2>/dev/null) || return 1
  [ "$major" -ge "$node_floor" ] 2>/dev/null
}

missing_node() {
  fail "capture needs Node.js $node_floor or newer${1:+. $1}." "Install it from https://nodejs.org, and run this line again."
}

# fetch PATH SUM: downloads a file of the service into the staging folder and checks its SHA-256.
fetch() {
  file=$staging/${1##*/}
  if command -v curl >/dev/null; then
    # No redirect may lead away from https.
    curl --proto "=${url%%:*}" --tlsv1.2 -fsSL "$url/$1" -o "$file" || unreachable "$1"
  elif command -v wget >/dev/null; then
    wget -qO "$file" "$url/$1" || unreachable "$1"
  else
    fail 'This machine has neither curl nor wget.'
  fi
  found=$(checksum "$file")
  [ "$found" = "$2" ] ||
    fail "The SHA-256 of $url/$1 is ${found:-unknown}, not $2." 'Nothing was installed. Run this line again.'
}

unreachable() {
  fail "$url/$1 cannot be fetched." 'Does this machine reach the service there? Its operator sets that address as PUBLIC_URL.'
}

checksum() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1"
  elif command -v shasum >/dev/null; then
    shasum -a 256 <"$1"
  else
    openssl dgst -sha256 -r <"$1"
  fi | cut -d ' ' -f 1
}

# A version manager may remove the current Node.js. The launcher then uses the `node` in the PATH.
write_launcher() {
  {
    say '#!/bin/sh'
    say "node=$(quote "$node")"
    # shellcheck disable=SC2016 # what the launcher expands
    say '[ -x "$node" ] || node=node'
    say "exec \"\$node\" $(quote "$place/capture.js") \"\$@\""
  } >"$staging/capture"
  chmod 755 "$staging/capture"
  mv -f "$staging/capture" "$bin/capture"
}

quote() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }

# The text as one word of a command that is printed for pasting.
word() {
  case $1 in
    *[!A-Za-z0-9_./:@%+=,~-]* | '' | '~'*) quote "$1" ;;
    *) printf %s "$1" ;;
  esac
}

# Says what to do if the program is not found by its name. Sets `capture` to the form in which a pasted command calls it.

tell_path() {
  capture=capture
  case ":$PATH:" in
    *":$bin:"*)
      first=$(command -v capture || true)
      [ "$first" = "$bin/capture" ] && return
      say "Another capture comes first in your PATH: $first"
      ;;
    *)
      say "$bin is not in your PATH yet. This line adds it for new terminals:"
      shell=${SHELL:-sh}
      case ${shell##*/} in
        fish) say '    fish_add_path ~/.local/bin' ;;
        zsh) path_line .zshrc ;;
        bash) path_line .bashrc ;;
        *) path_line .profile ;;
      esac
      ;;
  esac
  capture=$(word "$bin/capture")
}

# shellcheck disable=SC2016 # a line for a person to type
path_line() { say "    echo 'export PATH=\"\$HOME/.local/bin:\$PATH\"' >> ~/$1"; }

# Continues where an earlier run stopped: signs in, sets up, or starts the installation that was set up.
set_up() {
  status=0
  found=$("$bin/capture" status 2>/dev/null) || status=$?
  account=$(printf '%s\n' "$found" | sed -n 's/^Signed in  *//p')
  address=$(printf '%s\n' "$found" | sed -n 's/^Service  *\(.*\), reachable$/\1/p')
  if [ "$status" = "$signed_out" ]; then
    sign_in
  elif [ "$status" = "$unreachable" ] || [ -z "$address" ]; then
    say 'This machine is signed in, but its service cannot be reached now. Nothing was changed except for the program.'
    restart_running
  elif [ "$address" = "$url" ]; then
    say "This machine is signed in: $account, at $address"
    if [ -e "${CAPTURE_HOME:-$HOME/.capture}/setup.json" ]; then
      "$bin/capture" restart
    elif may_ask; then
      "$bin/capture" init </dev/tty
    else
      say "Next: $capture init"
    fi
  else
    say "This machine is signed in to another service: $account, at $address"
    say "To move it here: $capture login --url $(word "$url") && $capture init"
    restart_running
  fi
}

# With CAPTURE_SETUP=yes, `capture login` skips the next steps, because they run here.
sign_in() {
  if may_ask; then
    CAPTURE_SETUP=yes "$bin/capture" login --url "$url" </dev/tty && "$bin/capture" init </dev/tty
  else
    say "Next: $capture login --url $(word "$url") && $capture init"
  fi
}

# Standard input is this script, so questions go to the terminal, if there is one.
may_ask() { [ "${CAPTURE_SETUP:-yes}" != no ] && (: </dev/tty) 2>/dev/null; }

# Makes a running daemon use the new program.
restart_running() {
  if "$bin/capture" stop --json 2>/dev/null | grep -q '"stopped": true'; then "$bin/capture" restart; fi
}

# This is the last line, so that an incomplete copy of the script does nothing.
main

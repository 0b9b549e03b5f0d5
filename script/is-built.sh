# is_built FILE SOURCE…: whether the file is there, and newer than all it is made from.
is_built() {
  local made=$1
  shift
  [ -f "$made" ] && [ -z "$(find "$@" -type f -newer "$made" \
    -not -path '*/dist/*' -not -path '*/node_modules/*' -not -path '*/e2e/*' -not -path '*/test/*' -print -quit)" ]
}

# is_built FILE SOURCE…: succeeds if the file exists and is newer than all its sources.
is_built() {
  local made=$1
  shift
  [ -f "$made" ] && [ -z "$(find "$@" -type f -newer "$made" \
    -not -path '*/dist/*' -not -path '*/node_modules/*' -not -path '*/e2e/*' -not -path '*/test/*' -print -quit)" ]
}

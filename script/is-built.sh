# is_built FILE SOURCE…: succeeds if the file exists and is newer than all its sources. The workspaces that every program contains, and
# the lock file, are sources of each. The paths are relative to the root of the repository, which must be the working folder.
is_built() {
  local made=$1
  shift
  [ -f "$made" ] && [ -z "$(find "$@" contract transcript redact package-lock.json -type f -newer "$made" \
    -not -path '*/dist/*' -not -path '*/node_modules/*' -not -path '*/e2e/*' -not -path '*/test/*' -print -quit)" ]
}

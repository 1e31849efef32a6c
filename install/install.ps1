# Installs the released program rosenblatt.exe for Windows.
#
#   irm @REPOSITORY@/releases/latest/download/install.ps1 | iex
#   powershell -ExecutionPolicy Bypass -File install.ps1 [-To DIR] [-Version VERSION] [-Uninstall]
#
# -To DIR           put the program into DIR (default: %LOCALAPPDATA%\Programs\rosenblatt)
# -Version VERSION  install this version
# -Uninstall        remove what this script installed
#
# The variable ROSENBLATT_DOWNLOAD names another place for the archives and SHA256SUMS: a folder, or an address that begins
# with https:// or http://127.0.0.1.
#
# The script checks the archive against SHA256SUMS and runs the program once before it replaces anything.
[CmdletBinding()]
param(
    [string] $To = (Join-Path $env:LOCALAPPDATA 'Programs\rosenblatt'),
    [string] $Version = '@VERSION@',
    [switch] $Uninstall
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

function Get-ReleaseFile([string] $From, [string] $Name, [string] $Folder) {
    $destination = Join-Path $Folder $Name
    if ($From -match '^(https://|http://(127\.0\.0\.1|localhost)[:/])') {
        Invoke-WebRequest -UseBasicParsing -Uri "$From/$Name" -OutFile $destination
    } elseif ($From -match '^http://') {
        throw "$From is not encrypted; use https://"
    } else {
        Copy-Item -LiteralPath (Join-Path $From $Name) -Destination $destination
    }
    return $destination
}

function Install-Rosenblatt {
    if ($Version.StartsWith('@')) {
        throw 'this script is a template; name a version with -Version and a place with ROSENBLATT_DOWNLOAD'
    }
    if (-not [Environment]::Is64BitOperatingSystem) {
        throw 'there is no released program for 32-bit Windows; build one: cargo install rosenblatt-cli'
    }
    # Windows on ARM runs this program, too.
    $number = $Version -replace '^v', ''
    $name = "rosenblatt-$number-x86_64-pc-windows-gnu"
    $from = "@REPOSITORY@/releases/download/v$number"
    if ($env:ROSENBLATT_DOWNLOAD) { $from = $env:ROSENBLATT_DOWNLOAD.TrimEnd('/', '\') }
    $temporary = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
    $null = New-Item -ItemType Directory -Path $temporary
    try {
        Write-Output "downloading $name.zip from $from"
        $sums = Get-ReleaseFile $from 'SHA256SUMS' $temporary
        $line = @(Get-Content -LiteralPath $sums | Where-Object { $_ -match "^[0-9a-f]{64} [ *]$([Regex]::Escape($name))\.zip$" })
        if ($line.Count -ne 1) { throw "SHA256SUMS has no sum for $name.zip" }
        $expected = $line[0].Substring(0, 64)
        $archive = Get-ReleaseFile $from "$name.zip" $temporary
        $found = (Get-FileHash -Algorithm SHA256 -LiteralPath $archive).Hash.ToLowerInvariant()
        if ($found -ne $expected) {
            throw "$name.zip is damaged or was changed: its SHA-256 is $found, expected $expected"
        }
        Expand-Archive -LiteralPath $archive -DestinationPath $temporary
        $program = Join-Path $temporary "$name\rosenblatt.exe"
        $answer = & $program --version
        if ($LASTEXITCODE -ne 0 -or $answer -ne "rosenblatt $number") {
            throw "expected rosenblatt $number, but the program calls itself $answer"
        }
        # Copied beside its place first, so that what replaces the old program is whole.
        $null = New-Item -ItemType Directory -Force -Path $To
        $waiting = Join-Path $To '.rosenblatt.new.exe'
        Copy-Item -LiteralPath $program -Destination $waiting -Force
        Copy-Item -LiteralPath (Join-Path $temporary "$name\completions\_rosenblatt.ps1") -Destination $To -Force
        Move-Item -LiteralPath $waiting -Destination (Join-Path $To 'rosenblatt.exe') -Force
    } finally {
        Remove-Item -LiteralPath $temporary -Recurse -Force
    }
    Write-Output "installed rosenblatt $number as $(Join-Path $To 'rosenblatt.exe')"
    Write-Output "for completions, add this line to your profile:  . '$(Join-Path $To '_rosenblatt.ps1')'"
    if (($env:PATH -split ';') -notcontains $To) {
        Write-Output 'to find it, run this line once and open a new window:'
        Write-Output "  [Environment]::SetEnvironmentVariable('PATH', [Environment]::GetEnvironmentVariable('PATH', 'User') + ';$To', 'User')"
    }
}

function Uninstall-Rosenblatt {
    foreach ($name in 'rosenblatt.exe', '_rosenblatt.ps1') {
        $path = Join-Path $To $name
        if (Test-Path -LiteralPath $path) {
            Remove-Item -LiteralPath $path
            Write-Output "removed $path"
        }
    }
}

if ($Uninstall) { Uninstall-Rosenblatt } else { Install-Rosenblatt }

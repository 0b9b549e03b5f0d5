import type { Environment } from '../../contract/environment.ts';
import { showHidden } from '../kit/text/controls.ts';

/** The names of the platforms. */
export const SYSTEMS = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' } as const;

export const nameOfEnvironment = ({ displayName, hostname }: Environment): string =>
  showHidden(displayName ?? hostname);

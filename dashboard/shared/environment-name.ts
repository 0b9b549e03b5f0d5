import type { Environment } from '../../contract/environment.ts';
import { showHidden } from '../kit/text/controls.ts';

export const nameOfEnvironment = ({ displayName, hostname }: Environment): string =>
  showHidden(displayName ?? hostname);

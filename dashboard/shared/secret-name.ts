import type { Secret } from '../../contract/secret.ts';
import { showHidden } from '../kit/text/controls.ts';

/** The name of a secret, or else the public parts of its value. */
export const nameOfSecret = ({ name, prefix, lastFour }: Secret): string =>
  name ? showHidden(name) : `${prefix}…${lastFour}`;

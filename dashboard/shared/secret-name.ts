import type { Secret } from '../../contract/secret.ts';
import { showHidden } from '../kit/text/controls.ts';

/** Its name, else what may be known of its value. */
export const nameOfSecret = ({ name, prefix, lastFour }: Secret): string =>
  name ? showHidden(name) : `${prefix}…${lastFour}`;

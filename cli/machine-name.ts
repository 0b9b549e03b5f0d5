import { removeHidden } from '../contract/visible.ts';

const LONGEST = 255;

/**
 * The name under which the machine signs in and registers. The service refuses names that people cannot read, and a machine that
 * it refuses could send nothing.
 */
export const nameOfMachine = (hostname: string): string => removeHidden(hostname.slice(0, LONGEST)).trim() || 'unknown';

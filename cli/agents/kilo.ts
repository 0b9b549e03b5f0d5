import type { Agent } from './agent.ts';
import { createOpenCode } from './opencode.ts';

/** Kilo's command line is built on OpenCode, and keeps its sessions as that does. */
export const kilo: Agent = createOpenCode({ id: 'kilo', displayName: 'Kilo Code', name: 'kilo', variable: 'KILO_DB' });

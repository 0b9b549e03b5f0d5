import type { Context } from '../context.ts';
import type { OwnFile } from '../hooks/agent-hooks.ts';
import { launchd } from './launchd.ts';
import { systemd } from './systemd.ts';
import { scheduledTask } from './task.ts';

/** What of a system starts programs when a person signs in, and again when they end. */
export interface Supervisor {
  kind: 'systemd' | 'launchd' | 'task' | 'run-key';
  /** As people call it. */
  name: string;
  /** Whether it can be used on this machine, by this person. */
  isAvailable(context: Context): Promise<boolean>;
  /** What it reads about the daemon. */
  file?(context: Context): OwnFile;
  /** What is run, after the file was written, to have the daemon run now and in future. */
  start(context: Context): string[][];
  /** Why it does not keep the daemon running, in its own words; undefined where it does. */
  findTrouble(context: Context): Promise<string | undefined>;
  /** What is run, before the file is removed, to have it stop for good. */
  stop(context: Context): string[][];
  /** What is run after the file was removed. */
  forget?: string[][];
  /** What is used where this one refuses. */
  otherwise?: Supervisor;
}

/** By platform, as Node names it. */
const SUPERVISORS: { readonly [platform: string]: Supervisor } = {
  linux: systemd,
  darwin: launchd,
  win32: scheduledTask,
};

export const supervisorOf = (platform: string): Supervisor | undefined => SUPERVISORS[platform];

/** A supervisor, and those in its place. */
export function chainOf(first: Supervisor | undefined): Supervisor[] {
  const chain: Supervisor[] = [];
  for (let each = first; each !== undefined; each = each.otherwise) chain.push(each);
  return chain;
}

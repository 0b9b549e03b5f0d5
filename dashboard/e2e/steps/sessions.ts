import type { Locator, Page } from 'playwright-core';
import type { Client } from '../../../contract/client.ts';
import type { NewEvent } from '../../../contract/event.ts';
import { event } from './recording.ts';

export const listOf = (page: Page): Locator => page.getByRole('grid', { name: 'Sessions' });
export const rowsIn = (page: Page): Locator => listOf(page).locator('[data-session]');
export const rowOf = (page: Page, title: string | RegExp): Locator => rowsIn(page).filter({ hasText: title });
export const bar = (page: Page): Locator => page.getByRole('combobox', { name: 'Find sessions' });

/** The visible titles, from the top. */
export const titlesIn = (page: Page): Promise<string[]> =>
  rowsIn(page).evaluateAll((rows) =>
    rows
      .map((row) => ({ at: row.getBoundingClientRect().y, title: row.querySelector('a')?.textContent ?? '' }))
      .sort((a, b) => a.at - b.at)
      .map(({ title }) => title),
  );

interface Plan {
  agentId?: 'claude-code' | 'codex';
  title: string;
  branch?: string;
  events?: readonly NewEvent[];
}

/** Opens sessions like the command lines of two machines would, each with its own agent. */
export async function createFleet(machine: Client) {
  const installations = new Map<string, { environmentId: string; agentInstallationId: string }>();
  for (const [agentId, hostname] of [
    ['claude-code', 'workbench'],
    ['codex', 'lighthouse'],
  ] as const) {
    const body = { hostname, platform: 'linux', serviceCliVersion: '0.1.0' } as const;
    const { environmentId } = (await machine.registerEnvironment({ body })).body;
    const { installationId } = (await machine.registerAgent({ environmentId, body: { agentId } })).body;
    installations.set(agentId, { environmentId, agentInstallationId: installationId });
  }
  return async ({ agentId = 'claude-code', title, branch = 'main', events = [] }: Plan): Promise<string> => {
    const installed = installations.get(agentId) as { environmentId: string; agentInstallationId: string };
    const body = { ...installed, title, repoRoot: '/home/ada/work/harbour', gitBranch: branch };
    const { sessionId } = (await machine.openSession({ body })).body;
    if (events.length > 0) await machine.appendEvents({ sessionId, body: { events: [...events] } });
    return sessionId;
  };
}

/** A command and its result. */
export function command(callId: string, line: string, output: string, exitCode = 0): NewEvent[] {
  return [
    event('tool.call', { callId, name: 'Bash', input: { command: line } }),
    event('tool.result', { callId, name: 'Bash', output, exitCode, isError: exitCode !== 0 }),
  ];
}

import { expect, test } from 'vitest';
import { page } from 'vitest/browser';
import type { MachineHealth } from '../../contract/environment.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';

const NOW = new Date().toISOString();
const DAY_MS = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

const HEALTH: Partial<MachineHealth>[] = [
  {
    coverage: { captured: 1000, keptBack: 20, waiting: 1 },
    gaps: [
      { kind: 'ending', agent: 'codex', count: 2 },
      { kind: 'record', agent: 'claude-code', version: '2.2.0', count: 1 },
    ],
    comparison: {
      ...{ comparedAt: ago(3), sessions: 40, records: 1200 },
      problems: [
        { problem: 'missing', count: 2 },
        { problem: 'unread', count: 2 },
      ],
    },
  },
  {
    coverage: { captured: 200, keptBack: 0, waiting: 0 },
    gaps: [
      { kind: 'ending', agent: 'codex', count: 1 },
      { kind: 'agent', agent: 'kimi', count: 7 },
      { kind: 'a-later-kind', agent: 'codex', count: 1 },
    ],
    comparison: { comparedAt: ago(1), sessions: 5, records: 70, problems: [] },
  },
  {},
];

function serviceWith(machines: Partial<MachineHealth>[]) {
  const service = createService();
  service.answers.listEnvironments = () => ({
    environments: machines.map((_, index) => ({
      ...{
        environmentId: `env_${index}`,
        organizationId: 'org_1',
        hostname: `box-${index}`,
        platform: 'linux' as const,
      },
      ...{ serviceCliVersion: '0.1.0', status: 'active' as const, lastSeenAt: NOW, createdAt: NOW, updatedAt: NOW },
    })),
  });
  service.answers.listMachineHealth = () => ({
    machines: machines.map((health, index) => ({
      ...{ environmentId: `env_${index}`, secretIds: [], isOutdated: false, states: [], reportedAt: NOW, waiting: 0 },
      ...health,
    })),
  });
  return service;
}

const row = (name: RegExp) => page.getByRole('row', { name });
const line = () => document.querySelector('section[aria-label=Completeness] p')?.textContent;

test('the page Machines sums up what is captured and not read, lists why, and says what each comparison found', async () => {
  await show('/environments', serviceWith(HEALTH));
  await expect
    .poll(line)
    .toBe(
      '1,231 transcripts seen: 1,200 captured, 20 kept back, 1 waiting, 10 not read. ' +
        'Is anything missing? 2 missing, 2 not read on 1 of 2 machines; 1 never compared.',
    );
  await expect.element(row(/Codex.*3 files with an unknown ending.*box-0, box-1/)).toBeVisible();
  await expect.element(row(/kimi.*7 files of an agent that is not supported.*box-1/)).toBeVisible();
  await expect.element(row(/Claude Code 2\.2\.0.*1 new type of record, captured as a whole/)).toBeVisible();
  await expect.element(row(/Codex.*1 other gap/)).toBeVisible();
  await expect.element(row(/box-0.*2 missing, 2 not read, 3 days ago/)).toBeVisible();
  await expect.element(row(/box-1.*all there, yesterday/)).toBeVisible();
  await expect.element(row(/box-2.*never/)).toBeVisible();
});

test('a machine with new types of records is healthy, and says so', async () => {
  await show('/environments', serviceWith([{ states: [{ state: 'unfamiliar' }] }, { states: [{ state: 'unknown' }] }]));
  const words = row(/box-0/).getByText('new record types');
  await expect.element(words).toBeVisible();
  expect(words.element().className).toContain('text-muted');
  expect(row(/box-1/).getByText('not everything read').element().className).toContain('text-warn');
});

test('nothing is missing only on the machines that were compared', async () => {
  await show('/environments', serviceWith([HEALTH[1] ?? {}, {}]));
  await expect.poll(line).toContain('Is anything missing? Nothing on 1 machine compared, yesterday; 1 never compared.');
});

test('without any report, neither numbers nor a yes are made up', async () => {
  await show('/environments', serviceWith([{}]));
  await expect.poll(line).toBe('Is anything missing? No machine was compared with the service yet.');
});

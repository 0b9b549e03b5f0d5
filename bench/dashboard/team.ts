import type { Client } from '../../contract/client.ts';
import { MAX_BATCH_EVENTS, type NewEvent } from '../../contract/event.ts';
import { createPassages, createRandom } from '../text.ts';
import { makeSession } from './session.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Words in the sessions that the tasks must find. */
export const TEAM = {
  file: 'metadata.ts',
  commit: '9f5a3c7',
  task: 'Add a rate limit to the gateway',
  long: 'Move the importer to streams',
  red: 'Make the flaky retry test pass',
  dear: 'Rewrite the ledger in one go',
  leak: 'hunter2-prod-ledger',
  machine: 'ada-mbp',
} as const;

const MACHINES = [
  { hostname: 'ada-mbp', platform: 'darwin', home: '/Users/ada', agentId: 'claude-code' },
  { hostname: 'ben-nuc', platform: 'linux', home: '/home/ben', agentId: 'codex' },
  { hostname: 'dora-win', platform: 'win32', home: 'C:\\Users\\dora', agentId: 'claude-code' },
] as const;
const REPOSITORIES = ['billing', 'gateway', 'ledger', 'docs'];

type Write = (eventType: string, fields: object, tookMs?: number) => void;

interface Plan {
  machine: 0 | 1 | 2;
  repository: string;
  title: string;
  beganAt: number;
  /** Events before the first written one. */
  before?: NewEvent[];
  write: (write: Write, said: typeof steps) => void;
}

/** The usual steps of an agent. */
const steps = {
  prompt: (write: Write, text: string) => write('user.message', { text }),
  answer: (write: Write, text: string) => write('assistant.message', { text }),
  spend: (write: Write, tokens: number) =>
    write('usage', {
      ...{ responseId: `r${++made}`, model: 'claude-opus-4-6', cached: 'included' },
      ...{ inputTokens: tokens, outputTokens: Math.ceil(tokens / 40) },
    }),
  command(write: Write, command: string, output: string, exitCode = 0) {
    const callId = `c${++made}`;
    write('tool.call', { callId, name: 'Bash', input: { command } });
    write('tool.result', { callId, name: 'Bash', output, exitCode, isError: exitCode !== 0 }, 4_000);
  },
  edit(write: Write, path: string, before: string, after: string) {
    const callId = `c${++made}`;
    write('tool.call', { callId, name: 'Edit', input: { file_path: path, old_string: before, new_string: after } });
    write('tool.result', { callId, name: 'Edit', output: 'The file was updated.' });
  },
  look(write: Write, path: string, text: string) {
    const callId = `c${++made}`;
    write('tool.call', { callId, name: 'Read', input: { file_path: path } });
    write('tool.result', { callId, name: 'Read', output: text });
  },
  tests(write: Write, passed: boolean) {
    if (passed) steps.command(write, 'npm test', 'Tests: 48 passed, 48 total');
    else steps.command(write, 'npm test', 'Tests: 2 failed, 46 passed, 48 total', 1);
  },
  commit(write: Write, hash: string, subject: string) {
    steps.command(write, `git commit -am "${subject}"`, `[main ${hash}] ${subject}\n 3 files changed`);
  },
};
let made = 0;

/** Sends two weeks of sessions of three people, as their machines would. */
export async function sendFortnight(owner: Client, machine: Client, now: number): Promise<void> {
  const installed = await Promise.all(MACHINES.map((each) => install(machine, each)));
  const environments = installed.map(({ environmentId }) => environmentId);
  for (const [index, plan] of [...everyday(now), ...special(now)].entries()) {
    const { hostname, home } = MACHINES[plan.machine];
    const folder = `${home}/code/${plan.repository}`;
    const body = {
      ...(installed[plan.machine] as (typeof installed)[number]),
      ...{ title: plan.title, repoRoot: folder, gitBranch: 'main', clientKey: `fortnight-session-${index}` },
      repoRemote: `git@github.com:harbour/${plan.repository}.git`,
      startedAt: new Date(plan.beganAt).toISOString(),
    };
    const { results } = (await machine.captureSessions({ body: { sessions: [body] } })).body;
    const sessionId = results[0]?.session?.sessionId ?? '';
    const events = eventsOf(plan, hostname, folder);
    for (let first = 0; first < events.length; first += MAX_BATCH_EVENTS) {
      await machine.appendEvents({ sessionId, body: { events: events.slice(first, first + MAX_BATCH_EVENTS) } });
    }
  }
  await reportHealth(machine, environments);
  await waitUntilDerived(owner);
}

async function install(machine: Client, { hostname, platform, agentId }: (typeof MACHINES)[number]) {
  const body = { hostname, platform, serviceCliVersion: '0.1.0' };
  const { environmentId } = (await machine.registerEnvironment({ body })).body;
  const { installationId } = (await machine.registerAgent({ environmentId, body: { agentId } })).body;
  return { environmentId, agentInstallationId: installationId };
}

/** Two machines are healthy, and the disk of the third one is full. */
async function reportHealth(machine: Client, environments: readonly string[]): Promise<void> {
  for (const [index, environmentId] of environments.entries()) {
    const body = index === 2 ? { waiting: 812, states: [{ state: 'full' }] } : { waiting: 0, states: [] };
    await machine.reportHealth({ environmentId, body });
  }
}

async function waitUntilDerived(owner: Client): Promise<void> {
  for (;;) {
    const { body } = await owner.searchSessions({ query: { q: TEAM.leak } });
    if (!body.catchingUp && body.sessions.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

function eventsOf({ beganAt, before = [], write }: Plan, host: string, folder: string): NewEvent[] {
  const events = [...before];
  let time = Math.max(beganAt, ...before.map(({ payload }) => Date.parse(String(payload?.occurredAt))));
  const add: Write = (eventType, fields, tookMs = 1_500) => {
    time += tookMs;
    const source = {
      agent: 'claude-code',
      session: `${host}-${beganAt}`,
      file: 'projects/a.jsonl',
      position: events.length * 100,
    };
    events.push({ eventType, payload: { source, occurredAt: new Date(time).toISOString(), ...fields } });
  };
  add('session.meta', { cwd: folder, branch: 'main', model: 'claude-opus-4-6' });
  write(add, steps);
  return events;
}

/** Small sessions for each day, with more of them in the second week. */
function everyday(now: number): Plan[] {
  const random = createRandom(5);
  const passage = createPassages(5);
  const words = (length: number) => passage(length).replaceAll(/[^\w\s.,()/-]/g, ' ');
  const plans: Plan[] = [];
  for (let day = 13; day >= 1; day--) {
    for (let each = 0; each < (day < 7 ? 5 : 3); each++) {
      const repository = REPOSITORIES[Math.floor(random() * REPOSITORIES.length)] as string;
      const file = `src/part${Math.floor(random() * 9)}.ts`;
      const [fails, tokens] = [random() < 0.2, 40_000 + random() * 400_000];
      const text = words(200);
      plans.push({
        ...{ machine: Math.floor(random() * 3) as Plan['machine'], repository },
        title: `Look after ${file} of the ${repository}`,
        beganAt: now - day * DAY_MS + each * 70 * MINUTE_MS,
        write(write, { prompt, look, edit, tests, spend, answer }) {
          prompt(write, `Look after ${file}: ${text.slice(0, 80)}`);
          look(write, file, text);
          edit(write, file, text.slice(0, 60), text.slice(60, 160));
          if (fails) tests(write, false);
          spend(write, Math.ceil(tokens));
          tests(write, true);
          answer(write, `Done. ${text}`);
        },
      });
    }
  }
  return plans;
}

/** The sessions that the tasks must find. */
function special(now: number): Plan[] {
  const limit = (machine: 0 | 1, rounds: number): Plan => ({
    ...{ machine, repository: 'gateway', title: TEAM.task, beganAt: now - 2 * DAY_MS + machine * 3_600_000 },
    write(write, { prompt, edit, tests, spend, answer }) {
      prompt(write, `${TEAM.task}: at most ten requests a second for each key.`);
      for (let round = 0; round < rounds; round++) {
        edit(write, 'src/limit.ts', `limit ${round}`, `limit ${round + 1}\nreset()`);
        tests(write, round === rounds - 1);
        spend(write, 90_000);
      }
      if (machine === 0) edit(write, 'docs/limit.md', '', 'How requests are limited.');
      answer(write, 'Requests are limited now.');
    },
  });
  return [
    limit(0, 2),
    limit(1, 5),
    {
      ...{ machine: 0, repository: 'gateway', title: 'Take the head apart', beganAt: now - 5 * DAY_MS },
      write(write, { prompt, answer, edit, commit }) {
        prompt(write, 'Move what describes a file out of the head.');
        answer(write, 'Readers need the description without the head, so it gets a file of its own.');
        edit(write, `src/${TEAM.file}`, 'export const head = {}', 'export const metadata = {}');
        commit(write, TEAM.commit, 'Give the metadata a file of its own');
      },
    },
    {
      ...{ machine: 1, repository: 'billing', title: TEAM.red, beganAt: now - 4 * DAY_MS },
      write(write, { prompt, edit, tests, spend }) {
        prompt(write, `${TEAM.red}.`);
        for (let round = 0; round < 9; round++) {
          edit(write, 'src/retry.ts', `wait ${round}`, `wait ${round + 1}`);
          tests(write, false);
          spend(write, 60_000);
        }
      },
    },
    {
      ...{ machine: 2, repository: 'ledger', title: TEAM.dear, beganAt: now - 3 * DAY_MS },
      write(write, { prompt, edit, spend, command }) {
        prompt(write, `${TEAM.dear}.`);
        command(write, 'cat .env', `LEDGER_PASSWORD=${TEAM.leak}`);
        for (let round = 0; round < 40; round++) {
          edit(write, 'src/ledger.ts', `line ${round}`, `line ${round + 1}`);
          spend(write, 800_000);
        }
      },
    },
    {
      ...{ machine: 0, repository: 'billing', title: TEAM.long, beganAt: now - DAY_MS },
      before: makeSession(2_000, now - DAY_MS),
      write(write, { tests, commit, command }) {
        tests(write, false);
        tests(write, true);
        commit(write, '4be7d10', 'Read the import as a stream');
        command(write, 'git push', 'To github.com:harbour/billing.git\n   1b0f9a2..4be7d10  main -> main');
      },
    },
  ];
}

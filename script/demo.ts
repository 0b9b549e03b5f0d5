import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createClient } from '../contract/client.ts';
import { onboarding } from '../contract/onboarding.ts';
import { copySamples } from './demo/samples.ts';
import { startService } from './demo/service.ts';
import { type Credentials, signIn, signUp } from './demo/sign-in.ts';

/**
 * Starts a service with sample sessions, created like any user's: with the sign-up form, the routes and the command line. A
 * restart keeps the existing data. An optional argument names the service's program; by default it runs the sources.
 */
const FOLDER = resolve(process.env.DATA_DIR ?? 'data', 'demo');
const NOTES = join(FOLDER, 'demo.json');
const PROGRAM = process.argv[2] ?? 'server/main.ts';

interface Notes extends Credentials {
  /** The organization secret, stored here because the service shows its value only once. */
  secret?: string;
  /** Whether all samples have arrived. */
  isComplete?: boolean;
}

async function demo(): Promise<number> {
  const notes = readNotes();
  const service = await startService(FOLDER, PROGRAM);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, service.stop);
  try {
    if (service.welcomeLink !== undefined) await signUp(service.welcomeLink, notes);
    if (!notes.isComplete) {
      const secret = notes.secret ?? (await createOrganization(service.url, notes));
      keepNotes({ ...notes, secret });
      console.log('Capturing the sample sessions with the command line');
      captureSamples(service.url, secret);
      await takeMachine(service.url, notes);
      keepNotes({ ...notes, secret, isComplete: true });
    }
    console.log(`
The demo is at       ${service.url}
Sign in with         ${notes.email}
and the password     ${notes.password}

To capture on this machine, run

    ${onboarding(service.url)[0]?.command}

Ctrl-C stops it; removing ${FOLDER} removes it.`);
  } catch (error) {
    service.stop();
    await service.ended;
    throw error;
  }
  return service.ended;
}

/** Creates the person's organization if there is none. @returns the value of a new secret */
async function createOrganization(url: string, credentials: Credentials): Promise<string> {
  const token = await signIn(url, credentials);
  const client = createClient({ baseUrl: url, credential: () => token });
  const { body: person } = await client.getPerson({});
  if (!person.organization) await client.createOrganization({ body: { name: 'Harbour Works' } });
  const issued = await client.issueSecret({ body: { name: 'demo' } });
  return issued.body.value;
}

/** Makes the person the owner of the machine, and so of the sample sessions, as a confirmed sign-in of the machine would. */
async function takeMachine(url: string, credentials: Credentials): Promise<void> {
  const token = await signIn(url, credentials);
  const client = createClient({ baseUrl: url, credential: () => token });
  const { userId } = (await client.getPerson({})).body;
  const { environments } = (await client.listEnvironments({})).body;
  for (const { environmentId } of environments) await client.setMachinePerson({ environmentId, body: { userId } });
}

/** Captures only the samples: the command line gets its own home and variables, so it sees none of the user's sessions. */
function captureSamples(url: string, secret: string): void {
  const home = join(FOLDER, 'home');
  const samples = join(FOLDER, 'samples');
  mkdirSync(home, { recursive: true });
  copySamples('samples', samples, new Date());
  const { status } = spawnSync(process.execPath, ['cli/main.ts', 'import'], {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      CAPTURE_URL: url,
      CAPTURE_SECRET: secret,
      CAPTURE_HOME: join(FOLDER, 'capture'),
      CLAUDE_CONFIG_DIR: join(samples, 'claude-code'),
      CODEX_HOME: join(samples, 'codex'),
    },
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the command line could not capture the sample sessions');
}

function readNotes(): Notes {
  if (existsSync(NOTES)) return JSON.parse(readFileSync(NOTES, 'utf8')) as Notes;
  const notes = { email: 'ada@example.com', password: `demo-${randomBytes(6).toString('hex')}` };
  keepNotes(notes);
  return notes;
}

function keepNotes(notes: Notes): void {
  mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
  writeFileSync(NOTES, `${JSON.stringify(notes, null, 2)}\n`, { mode: 0o600 });
}

demo().then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    console.error(`The demo could not start: ${error.message}`);
    process.exitCode = 1;
  },
);

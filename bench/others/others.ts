import { generateKeyPair, SignJWT } from 'jose';
import { freePort } from '../../server/public-url.ts';
import { startIssuer } from '../../test/issuer.ts';
import type { Options } from '../options.ts';
import { peakMemory, resetPeak, residentMemory, startMeasured, withFolder } from '../process.ts';
import type { Row } from '../report.ts';
import { type Case, createCases } from './cases.ts';
import { measureFloor } from './floor.ts';
import { startProbe } from './probe.ts';
import type { Waits } from './prober.ts';
import type { Status } from './requests.ts';
import { seedHostileStore } from './store.ts';

const OWNER = 'owner';
const GOAL = '≤ 100';
/** After a wait this long, the service may still be busy, which would distort the next case. */
const STUCK_MS = 1_000;

/** Measures how long others wait for /health during the most expensive accepted requests, and how much memory those take. */
export function benchOthers({ seconds, table }: Options): Promise<Row[]> {
  return withFolder(async (dataDir) => {
    const floor = await measureFloor(seconds);
    const issuer = await startIssuer();
    const store = await seedHostileStore({ dataDir }, issuer.url, OWNER);
    const port = await freePort('127.0.0.1');
    const start = () => startVictim(dataDir, port, issuer.env);
    let victim = await start();
    try {
      const token = await issuer.token(OWNER, `${OWNER}@example.com`);
      const results: Measured[] = [];
      for (const { name, run } of createCases({ port, store, token, forgedToken: await forge(issuer.url) })) {
        const measured = await measure(victim, run);
        results.push({ name, ...measured });
        process.stderr.write(
          `  ${name}: ${Math.round(measured.waits.longestMs)} ms, + ${Math.round(measured.grown)} MB\n`,
        );
        if (measured.waits.longestMs < STUCK_MS) continue;
        await victim.end();
        victim = await start();
      }
      return toRows(results, floor, table);
    } finally {
      await victim.end();
      issuer.close();
    }
  });
}

type Victim = Awaited<ReturnType<typeof startVictim>>;

async function startVictim(dataDir: string, port: number, env: Record<string, string>) {
  const service = await startMeasured({ dataDir }, { ...env, PORT: String(port), LOG_LEVEL: 'fatal' });
  const probe = await startProbe(port);
  async function end() {
    probe.stop();
    await service.end('SIGKILL');
  }
  return { pid: service.pid, probe, end };
}

async function measure({ pid, probe }: Victim, run: Case['run']) {
  resetPeak(pid);
  const before = residentMemory(pid);
  let answers: Status[] = [];
  const waits = await probe.during(async () => {
    answers = [await run()].flat();
  });
  return { waits, answers: [...new Set(answers)].join(', '), grown: Math.max(0, peakMemory(pid) - before) };
}

interface Measured {
  name: string;
  waits: Waits;
  /** The status codes of the answers. */
  answers: string;
  /** Growth of resident memory during the case, in MB. */
  grown: number;
}

function toRows(results: readonly Measured[], { idle, busy }: { idle: Waits; busy: Waits }, table: boolean): Row[] {
  const most = (pick: (result: Measured) => number) =>
    results.reduce((one, other) => (pick(other) > pick(one) ? other : one));
  const longest = most(({ waits }) => waits.longestMs);
  const largest = most(({ grown }) => grown);
  const machine = `p99 ${idle.p99Ms.toFixed(1)} ms; ${busy.longestMs.toFixed(1)} ms with one core busy`;
  return [
    row('others wait', longest.waits.longestMs, GOAL, `${longest.name}; the longest of ${results.length} cases`),
    { what: 'memory grows', figure: largest.grown, unit: 'MB', goal: '', detail: `${largest.name}; the most of them` },
    row('others wait, a bare server while nothing happens', idle.longestMs, '', machine),
    ...(table ? results.map((result) => row(result.name, result.waits.longestMs, GOAL, detailOf(result))) : []),
  ];
}

const row = (what: string, figure: number, goal: string, detail: string): Row => ({
  what,
  figure,
  unit: 'ms',
  goal,
  detail,
});

const detailOf = ({ waits: { p99Ms, asked }, answers, grown }: Measured) =>
  `p99 ${p99Ms.toFixed(1)} ms of ${asked}; memory + ${Math.round(grown)} MB; answered ${answers}`;

/** A token like the issuer's, signed with another key. */
async function forge(issuer: string): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256');
  const token = new SignJWT({ email: 'ada@example.com' }).setProtectedHeader({ alg: 'ES256', kid: 'bench' });
  return token
    .setIssuer(issuer)
    .setAudience('bench')
    .setSubject('x')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey);
}

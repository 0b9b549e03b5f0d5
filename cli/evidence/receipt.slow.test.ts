import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chainStart, contentDigest, digestOfMasked, eventDigest } from '../../contract/chain.ts';
import { createClient } from '../../contract/client.ts';
import { type Envelope, keyIdOf, openEnvelope, signStatement } from '../../contract/dsse.ts';
import { COUNTERSIGNATURE, type Countersigned, type Evidence, RECEIPT, type Receipt } from '../../contract/evidence.ts';
import { newChainKey, saltKeysOf, saltsOf } from '../../contract/salts.ts';
import { headAfter, notices } from '../../contract/test/heads.ts';
import { readAllEvents } from '../../dashboard/session/download.ts';
import { decodeFrame } from '../../server/log/frame.ts';
import { fetchPlainly } from '../http.ts';
import { makeFolder, write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { type RealService, startRealService } from '../test/real-service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';
import { renderPage } from './page.ts';
import { signReceipt } from './receipt.ts';

const SECRET =
  'sk-ant-api03-Zk3vR8wQpL2mN7xT5yB9cD1fG4hJ6kM0nP2qS4tV6wX8zA1bC3dE5fH7jL9mN1pQ3rS5tU7vW9xY1zB3dF5gH7-QwErTyAA';

/** A captured session with a secret in it. */
async function setUp(texts = ['hello', `my key is ${SECRET}`, 'thanks 1.50']) {
  const real = await startRealService();
  const file = join(real.home, '.claude/projects/p', `${sessionId(1)}.jsonl`);
  write(file, texts.map((text, id) => `${prompt(1, id, text)}\n`).join(''));
  expect(await real.run('import')).toMatchObject({ exitCode: 0, stderr: '' });
  const out = makeFolder();
  const receipt = () => real.run('receipt', sessionId(1), '--out', out);
  return { ...real, out, receipt, path: (ending: string) => pathIn(out, ending) };
}

const pathIn = (folder: string, ending: string) =>
  join(folder, readdirSync(folder).find((name) => name.endsWith(ending)) ?? 'none');

const verify = (home: string, ...args: string[]) => run(['receipt', 'verify', ...args], { home });

/** Writes the service's events to a file. */
async function writeEvents({ service }: Pick<RealService, 'service'>, change = (lines: string[]) => lines) {
  const appends = await service.store.db.selectFrom('appends').selectAll().orderBy('first_sequence').execute();
  const lines = appends.flatMap((append) =>
    decodeFrame(append).map(
      ({ eventType, payload }, index) =>
        `{"sequence":${append.first_sequence + index},"eventType":"${eventType}","payload":${payload}}`,
    ),
  );
  const path = join(makeFolder(), 'events.jsonl');
  writeFileSync(path, change(lines).join('\n'));
  return path;
}

test('a receipt verifies without a network, with and without its events, and contains none of their text', async () => {
  const { receipt, path, home, service } = await setUp();
  expect(await receipt()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('the .html is for people') });
  const events = await writeEvents({ service });
  for (const ending of ['.json', '.html']) {
    expect(readFileSync(path(ending), 'utf8')).not.toContain('hello');
    const { exitCode, stdout } = await verify(home, path(ending), '--events', events, '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ areChecked: true, masked: { 'anthropic-key': 1 }, maskedLater: 0 });
    expect((await verify(home, path(ending))).stdout).toContain('The receipt is valid');
  }
  expect(statSync(join(home, 'state/evidence.key')).mode & 0o777).toBe(0o600);
});

test.each<[string, (lines: string[]) => string[]]>([
  ['edited', (lines) => lines.map((line) => line.replace('hello', 'hullo'))],
  ['cut off', (lines) => lines.slice(0, -1)],
  ['swapped', ([first = '', second = '', ...others]) => [second, first, ...others]],
])('events that were %s are detected', async (_, change) => {
  const { receipt, path, home, service } = await setUp();
  await receipt();
  const { exitCode, stderr } = await verify(home, path('.json'), '--events', await writeEvents({ service }, change));
  expect(exitCode).toBe(1);
  expect(stderr).toContain('Do not rely on it.');
});

test('a changed page does not verify, nor does a statement that somebody else signed', async () => {
  const { receipt, path, home } = await setUp();
  await receipt();
  const page = readFileSync(path('.html'), 'utf8');
  writeFileSync(path('.html'), page.replace('<dt>Events<dd>', '<dt>Events<dd>1'));
  expect(await verify(home, path('.html'))).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('was changed'),
  });
  const envelope = JSON.parse(readFileSync(path('.json'), 'utf8')) as Envelope;
  const { statement } = openEnvelope(envelope, RECEIPT) as { statement: Receipt };
  const forged = signStatement(RECEIPT, statement, generateKeyPairSync('ed25519').privateKey);
  writeFileSync(path('.json'), JSON.stringify(forged));
  expect(await verify(home, path('.json'))).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('not signed with the first key'),
  });
});

test('no receipt is written if the service has other events than were sent', async () => {
  const { receipt, service } = await setUp();
  await service.store.db.deleteFrom('session_chains').execute();
  await service.store.db
    .updateTable('sessions')
    .set((row) => ({ event_count: row('event_count', '-', 1) }))
    .execute();
  expect(await receipt()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('this machine sent') });
});

test('a machine that lost its spool does not sign for events that it sent before', async () => {
  const { options, run: capture } = await setUp();
  const variables = { CAPTURE_HOME: makeFolder() };
  await capture('status');
  expect(await run(['import'], { ...options, variables })).toMatchObject({ exitCode: 0 });
  const { exitCode, stderr } = await run(['receipt', sessionId(1)], { ...options, variables });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('did not send all') });
});

/** A receipt of two events that were sent, the second of which is masked by now, and the file of its events. */
function makeReceipt() {
  const [machine, service] = [generateKeyPairSync('ed25519').privateKey, generateKeyPairSync('ed25519').privateKey];
  const chainKey = newChainKey();
  const start = chainStart('codex', 'key');
  const sent = ['{"text":"one"}', '{"text":"two"}'];
  const head = headAfter(start, notices(sent), saltKeysOf(chainKey));
  const digest = eventDigest(saltsOf(saltKeysOf(chainKey))(2) ?? '', contentDigest('notice', sent[1] ?? ''));
  const folder = makeFolder();
  const events = join(folder, 'events.jsonl');
  const line = (sequence: number, text: string) => JSON.stringify({ sequence, eventType: 'notice', payload: { text } });
  writeFileSync(events, `${line(1, 'one')}\n${line(2, '[REDACTED:manual:1f0c]')}\n`);
  /** @param signed the masked events that the service signs @param listed those that the machine lists */
  function receipt(signed: Evidence['masked'], listed = signed) {
    const said: Countersigned = {
      sessionId: `ses_${'0'.repeat(32)}`,
      agentId: 'codex',
      start: start.hash,
      events: 2,
      head: head.hash,
      machineKey: keyIdOf(machine),
      ...(signed.length > 0 && { masked: digestOfMasked(signed.map((one) => [one.sequence, one.digest])) }),
      signedAt: new Date().toISOString(),
    };
    const countersignature = signStatement(COUNTERSIGNATURE, said, service);
    const evidence = { countersignature, masked: listed, saltKeys: {} };
    const path = join(folder, 'receipt.json');
    const envelope = signReceipt({ start: start.hash, chainKey, head, masked: {} }, evidence, machine, 1);
    writeFileSync(path, JSON.stringify(envelope));
    return { path, envelope };
  }
  return { folder, events, receipt, masked: [{ sequence: 2, digest }] };
}

test('an event that was masked later is not reported as checked, and its salt is not in the receipt', async () => {
  const { folder, events, receipt, masked } = makeReceipt();
  const { path, envelope } = receipt(masked);
  const later = await verify(folder, path, '--events', events);
  expect(later).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('1 event of the file is as the receipt'),
  });
  expect(later.stdout).toContain('The content of 1 was not checked');
  expect(later.stdout).not.toContain('exactly');
  expect(JSON.parse((await verify(folder, path, '--events', events, '--json')).stdout)).toMatchObject({
    areChecked: false,
    unchecked: 1,
    maskedLater: 1,
  });
  const { saltKeys } = (openEnvelope(envelope, RECEIPT).statement as Receipt).predicate;
  expect([1, 2, 3].map((sequence) => typeof saltsOf(saltKeys)(sequence))).toEqual(['string', 'undefined', 'undefined']);
  expect(renderPage(envelope)).toContain('unchanged except for 1 event, masked later');
  const before = await verify(folder, receipt([]).path, '--events', events);
  expect(before).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('write a new receipt') });
});

test('events that only the sender declares masked later make the receipt invalid', async () => {
  const { folder, events, receipt, masked } = makeReceipt();
  const refused = { exitCode: 1, stderr: expect.stringContaining('The service did not sign the list') };
  const all = [...masked, { sequence: 1, digest: 'f'.repeat(64) }];
  for (const [signed, listed] of [
    [[], masked],
    [masked, []],
    [masked, all],
    [masked, [{ sequence: 1, digest: masked[0]?.digest ?? '' }]],
  ] as const) {
    expect(await verify(folder, receipt([...signed], [...listed]).path, '--events', events)).toMatchObject(refused);
  }
});

test('a receipt that is written after a mask verifies against the masked events', async () => {
  const { receipt, path, home, service, owner } = await setUp();
  await receipt();
  const [{ session_id: id } = { session_id: '' }] = await service.store.db.selectFrom('sessions').selectAll().execute();
  const url = `/v1/organizations/me/sessions/${id}/mask`;
  const masked = await service.call('POST', url, { as: owner, body: { text: 'hello' } });
  expect(masked.body).toMatchObject({ receipt: { outcome: 'done' } });
  const events = await writeEvents({ service });
  expect(await verify(home, path('.json'), '--events', events)).toMatchObject({ exitCode: 1 });
  expect(await receipt()).toMatchObject({ exitCode: 0 });
  const { exitCode, stdout } = await verify(home, path('.json'), '--events', events, '--json');
  expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 0, areChecked: false, unchecked: 1 });
  const other = await writeEvents({ service }, (lines) => lines.map((line) => line.replace('thanks', 'thank')));
  expect(await verify(home, path('.json'), '--events', other)).toMatchObject({ exitCode: 1 });
});

test.each<[string, (line: string) => string, string]>([
  [
    'a second payload',
    (line) => line.replace('"payload":', '"payload":{"text":"fake"},"payload":'),
    'it has "payload" twice',
  ],
  ['a second sequence', (line) => line.replace('{"sequence":', '{"sequence":7,"sequence":'), 'it has "sequence" twice'],
  ['a second text', (line) => line.replace('"text":', '"text":"fake","text":'), 'not as it was sent'],
  ['another spelling', (line) => line.replace('"hello"', '"\\u0068ello"'), 'not as it was sent'],
])('a file that shows a reader %s is refused', async (_, change, told) => {
  const { receipt, path, home, service } = await setUp();
  await receipt();
  const events = await writeEvents({ service }, (lines) =>
    lines.map((line) => (line.includes('hello') ? change(line) : line)),
  );
  const { exitCode, stderr } = await verify(home, path('.json'), '--events', events);
  expect({ stderr, ok: exitCode === 0 }).toEqual({ stderr: expect.stringContaining(told), ok: false });
});

test('a download of the dashboard verifies, and its line about the session is not reported as checked', async () => {
  const { receipt, path, home, service, owner, options } = await setUp();
  await receipt();
  const [{ session_id: id } = { session_id: '' }] = await service.store.db.selectFrom('sessions').selectAll().execute();
  const api = createClient({ baseUrl: options.url, credential: () => owner, fetch });
  const lines = await readAllEvents(api, id, [['title', 'changed by somebody']]);
  const file = join(makeFolder(), 'download.jsonl');
  writeFileSync(file, lines.join(''));
  const { exitCode, stdout } = await verify(home, path('.json'), '--events', file);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('has exactly the events') });
  expect(stdout).toContain('The first line of the file describes the session. It was not checked.');
  writeFileSync(file, [...lines.slice(1), ...lines.slice(0, 1)].join(''));
  expect(await verify(home, path('.json'), '--events', file)).toMatchObject({ exitCode: 2 });
});

test('a receipt is written into a folder that does not exist yet', async () => {
  const { run: capture, out } = await setUp();
  const { exitCode, stderr } = await capture('receipt', sessionId(1), '--out', join(out, 'new/folder'));
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining('the .json for programs') });
  expect(readdirSync(join(out, 'new/folder'))).toHaveLength(2);
});

test('while the service cannot be reached, the receipt can be written later', async () => {
  const { options, out } = await setUp();
  const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }));
  const { exitCode, stderr } = await run(['receipt', sessionId(1), '--out', out], { ...options, context: { fetch } });
  expect(exitCode).toBe(75);
  expect(stderr).toContain(`The service at ${options.url} cannot be reached`);
  expect(stderr).toContain('No receipt was written.');
});

test('an error names the session that the service does not show to the machine', async () => {
  const { receipt, service } = await setUp();
  await service.store.db.updateTable('sessions').set({ deleted_at: 1 }).execute();
  expect(await receipt()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/has no session ses_\w+ of this/),
  });
});

test('a countersignature that was in progress when the key was named is requested again', async () => {
  const { options, out } = await setUp();
  let asked = 0;
  const withoutKey: typeof fetchPlainly = async (...request) => {
    const reply = await fetchPlainly(...request);
    if (!String(request[0]).endsWith('/evidence') || asked++ > 0) return reply;
    const { countersignature, ...evidence } = (await reply.json()) as Evidence;
    const { machineKey: _, ...said } = openEnvelope(countersignature, COUNTERSIGNATURE).statement as Countersigned;
    const key = generateKeyPairSync('ed25519').privateKey;
    return Response.json({ countersignature: signStatement(COUNTERSIGNATURE, said, key), ...evidence });
  };
  const context = { fetch: withoutKey };
  const { exitCode, stderr } = await run(['receipt', sessionId(1), '--out', out], { ...options, context });
  expect({ exitCode, stderr, asked }).toEqual({
    exitCode: 0,
    stderr: expect.stringContaining('the .json for programs'),
    asked: 2,
  });
});

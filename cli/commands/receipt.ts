import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { formatCount } from '../../contract/count.ts';
import { type Envelope, ed25519Of, keyIdOf } from '../../contract/dsse.ts';
import type { Evidence } from '../../contract/evidence.ts';
import { readSecretBytes } from '../../redact/key.ts';
import { writeAtomically } from '../atomic-file.ts';
import { defineCommand, text } from '../command.ts';
import { requireSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { LIMITS, readEnvelope, readPage, renderPage } from '../evidence/page.ts';
import {
  checkEvents,
  openCountersigned,
  openReceipt,
  readEventsFile,
  signReceipt,
  Unproven,
} from '../evidence/receipt.ts';
import { codeOf, EXIT, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { chooseSession, SESSION_NAMES, withSpool } from '../sessions/choose.ts';
import { explainTrouble } from '../setup/service-address.ts';
import type { Spool } from '../spool/open.ts';
import { hasStatus } from '../upload/problem.ts';
import { createService, type Service } from '../upload/service.ts';

const verifyCommand = defineCommand({
  name: 'verify',
  summary: 'check a receipt, even without a network',
  description:
    'Checks the signatures of a receipt. With --events, also checks that a file has exactly the events of the receipt. The content ' +
    'of events that were masked later cannot be checked: the answer says how many these are. Exits with 1 if a check fails.',
  examples: [
    ['capture receipt verify receipt.json', 'checks the signed statement, or the page'],
    ['capture receipt verify receipt.html --events events.jsonl', 'also checks the events'],
  ],
  takes: {
    file: text('<FILE>', 'a receipt: the statement or the page'),
    events: text(
      '--events <file>',
      'the events: a download (JSONL) of the dashboard, lines of JSON, or pages of the service',
    ),
  },
  async run(context, { file = '', events }, output) {
    try {
      verifyReceipt(readText(context, file), events === undefined ? undefined : readText(context, events), output);
    } catch (error) {
      if (error instanceof Unproven) throw new Failure(EXIT.failure, error.message, 'Do not rely on it.');
      throw error;
    }
  },
});

export const receiptCommand = defineCommand({
  name: 'receipt',
  summary: 'write a signed receipt of a session',
  description:
    'Writes a signed statement (in-toto, DSSE) of the events that this machine sent of a session, countersigned by the ' +
    'service, and a page with it. Both can be verified without a network, and contain no text of the session.',
  examples: [
    ['capture receipt 0199a213', 'writes receipt-ses_….json and receipt-ses_….html here'],
    ['capture receipt verify FILE', 'checks one'],
  ],
  takes: {
    session: text('[SESSION]', SESSION_NAMES),
    out: text('--out <folder>', 'where to write it (default: this folder)'),
  },
  commands: [verifyCommand],
  async run(context, { session, out = '.' }, output) {
    const { url, secret } = requireSettings(context);
    const service = createService({ url, secret, fetch: context.fetch });
    const files = await withSpool(context, async (spool) => {
      const { id, agent, agentSession } = chooseSession(context, spool, session);
      const ids = spool.sessions.serviceIds(id);
      if (ids.length === 0) {
        throw new Failure(EXIT.temporary, `Nothing of ${agent} ${agentSession} was sent yet.`, 'See `capture status`.');
      }
      const written: string[] = [];
      for (const one of ids) written.push(...(await writeReceipt(context, spool, service, one, out)));
      const waiting = [...spool.batches.ofSession(id)].reduce((sum, { events }) => sum + events, 0);
      if (waiting > 0) output.say(`Not in the receipt: ${formatCount(waiting, 'event')} that wait to be sent.`);
      return written;
    });
    output.answer({ files }, files);
    output.say(
      'Keep both: the .html is for people to read, the .json for programs. `capture receipt verify FILE` checks either, without a network.',
    );
  },
});

/** The key is stored beside the key of redaction. A machine that loses it signs later receipts with a new key. */
const readMachineKey = (context: Context) => ed25519Of(readSecretBytes(join(stateFolder(context), 'evidence.key')));

/** The daemon may send more events meanwhile. Behind an event bus, the service shows new events a moment later. */
const MAX_ATTEMPTS = 6;
const PAUSE_MS = 1_000;

async function writeReceipt(context: Context, spool: Spool, service: Service, sessionId: string, out: string) {
  const key = readMachineKey(context);
  for (let attempt = 1; ; attempt++) {
    const chain = spool.chains.find(sessionId);
    if (chain === undefined) throw notFromHere(sessionId);
    const evidence = await askService(service, sessionId, keyIdOf(key));
    const { events, head, machineKey } = openCountersigned(evidence.countersignature).countersigned;
    if (machineKey !== undefined && machineKey !== keyIdOf(key)) throw otherKey(sessionId);
    const isAsLong = events === chain.head.sequence;
    if (isAsLong && head !== chain.head.hash) throw differs(sessionId, events, events);
    if (isAsLong && machineKey !== undefined) {
      return write(resolve(context.folder, out), sessionId, signReceipt(chain, evidence, key, context.now()));
    }
    if (attempt === MAX_ATTEMPTS) throw differs(sessionId, events, chain.head.sequence);
    await context.sleep(PAUSE_MS);
  }
}

async function askService({ client, url }: Service, sessionId: string, machineKey: string): Promise<Evidence> {
  try {
    return (await client.countersignSession({ sessionId, body: { machineKey } })).body;
  } catch (error) {
    throw hasStatus(error, 404) ? notThere(sessionId) : explainTrouble(url, error, 'No receipt was written.');
  }
}

function write(folder: string, sessionId: string, envelope: Envelope): string[] {
  const path = join(folder, `receipt-${sessionId}`);
  try {
    mkdirSync(folder, { recursive: true });
    writeAtomically(`${path}.json`, `${JSON.stringify(envelope)}\n`, { mode: 0o644 });
    writeAtomically(`${path}.html`, renderPage(envelope), { mode: 0o644 });
  } catch (error) {
    throw new Failure(EXIT.usage, `${folder} cannot be written (${codeOf(error)}).`);
  }
  return [`${path}.json`, `${path}.html`];
}

const notThere = (sessionId: string) =>
  new Failure(
    EXIT.failure,
    `The service has no session ${sessionId} of this machine.`,
    'The session or its content was removed, or this machine has another secret now. Older services do not countersign.',
  );

const notFromHere = (sessionId: string) =>
  new Failure(
    EXIT.failure,
    `This machine did not send all events of ${sessionId}, so it cannot sign for it.`,
    'Another machine, or an earlier version of capture, sent some of them, or the spool was made anew.',
  );

const otherKey = (sessionId: string) =>
  new Failure(
    EXIT.failure,
    `The service has another key for the machine that sent ${sessionId}.`,
    'This machine has lost its earlier signing key, or somebody else used its secret to register a key.',
  );

const differs = (sessionId: string, stored: number, sent: number) =>
  new Failure(
    EXIT.failure,
    stored === sent
      ? `The service has other events of ${sessionId} than this machine sent.`
      : `The service has ${stored} events of ${sessionId}, and this machine sent ${sent}.`,
    '`capture verify` compares them one by one.',
  );

function readText(context: Context, path: string): string {
  try {
    return readFileSync(resolve(context.folder, path), 'utf8');
  } catch (error) {
    throw new Failure(EXIT.usage, `${path} cannot be read (${codeOf(error)}).`);
  }
}

function verifyReceipt(given: string, events: string | undefined, output: Output): void {
  const envelope = given.trimStart().startsWith('<') ? readPage(given) : readEnvelope(given);
  const { receipt, countersigned, machineKey, serviceKey } = openReceipt(envelope);
  const file = events === undefined ? undefined : readEventsFile(events);
  const unchecked = file === undefined ? receipt.predicate.events : checkEvents(receipt, file.events);
  const { sessionId, signedAt } = countersigned;
  const { events: count, masked, maskedLater, madeAt } = receipt.predicate;
  output.answer(
    {
      sessionId,
      events: count,
      masked,
      maskedLater: maskedLater.length,
      areChecked: file !== undefined && unchecked === 0,
      unchecked,
      machineKey,
      serviceKey,
      madeAt,
      signedAt,
    },
    [
      ['green', 'The receipt is valid', `: ${formatCount(count, 'event')} of ${sessionId}.`],
      file === undefined ? 'The events were not checked. Use --events to check them.' : toChecked(count, unchecked),
      ...(file?.describesSession ? ['The first line of the file describes the session. It was not checked.'] : []),
      `Signed by the machine   ${madeAt}  ${machineKey}`,
      `Signed by the service   ${signedAt}  ${serviceKey}`,
      `Masked before sending   ${
        Object.entries(masked)
          .map(([rule, n]) => `${rule} ${n}`)
          .join(', ') || 'nothing'
      }`,
      `Masked later            ${formatCount(maskedLater.length, 'event')}`,
      ...LIMITS,
    ],
  );
}

const toChecked = (count: number, unchecked: number) =>
  unchecked === 0
    ? 'The file has exactly the events of the receipt.'
    : `${formatCount(count - unchecked, 'event')} of the file ${count - unchecked === 1 ? 'is' : 'are'} as the receipt says. ` +
      `The content of ${unchecked} was not checked, because it was masked later.`;

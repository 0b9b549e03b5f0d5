import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { patience, runs } from '../../contract/test/runs.ts';
import type { Agent } from '../agents/agent.ts';
import { aider } from '../agents/aider/aider.ts';
import { cline } from '../agents/cline/cline.ts';
import { rooCode } from '../agents/roo-code/roo-code.ts';
import { makeFolder, write } from './folder.ts';
import { openReading, spooledEvents } from './reading.ts';

interface Message {
  id: number;
  text: string;
  isDone: boolean;
}

/** An agent's document. */
interface Kept {
  agent: Agent;
  path: string;
  /** The document's text with these messages after this number of changes. */
  format(messages: readonly Message[], changes: number): string;
  /** Whether the agent only appends to it: then only its last message changes, and a torn write lacks only new text. */
  grows: boolean;
}

const S = '1796000000000_ab1cd';

const KEPT: Kept[] = [
  {
    agent: cline,
    path: `${S}/${S}.messages.json`,
    grows: false,
    format: (messages, changes) =>
      JSON.stringify({
        version: 1,
        updated_at: new Date(1796000000000 + changes).toISOString(),
        sessionId: S,
        messages: messages.map(({ id, text, isDone }) => ({
          id: `msg_${String(id).padStart(8, '0')}`,
          role: 'assistant',
          content: [{ type: 'text', text }],
          ts: 1796000000000 + id,
          ...(isDone && { metrics: { inputTokens: id, outputTokens: 1 } }),
        })),
        system_prompt: 'You are Cline.',
      }),
  },
  {
    agent: rooCode,
    path: '1760000000000/ui_messages.json',
    grows: false,
    format: (messages) =>
      JSON.stringify(
        messages.map(({ id, text, isDone }) => ({
          ts: 1760000000000 + id,
          type: 'say',
          say: 'text',
          text,
          partial: !isDone,
        })),
      ),
  },
  {
    agent: aider,
    path: 'shop/.aider.chat.history.md',
    grows: true,
    format: (messages) =>
      messages
        .map(({ id, text, isDone }) => {
          const run = id % 7 === 1 ? '\n# aider chat started at 2026-01-02 03:04:05\n\n' : '';
          return `${run}\n#### ${id}  \n\n${text.replaceAll(' and ', '\n')}\n${isDone ? '\n> Applied  \n' : ''}`;
        })
        .join(''),
  },
];

/** A change of the document by its agent, and the command line's action after it. */
const step = fc.record({
  does: fc.constantFrom('append', 'append', 'finish', 'change', 'save', 'tear'),
  which: fc.nat(),
  reads: fc.boolean(),
  restarts: fc.boolean(),
  waits: fc.boolean(),
});

test.each(KEPT)(
  '$agent.displayName: a document is captured in its final form after any intermediate changes',
  async (kept) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), fc.boolean(), async (steps, isPatient) => {
        const grown = makeFolder();
        let now = Date.now();
        const options = { agent: kept.agent, now: () => now, patienceMs: isPatient ? 60_000 : 0 };
        const spool = join(grown, 'spool.db');
        const file = write(join(grown, 'root', kept.path), kept.format([], 0));
        let reading = openReading(join(grown, 'root'), spool, options);
        const messages: Message[] = [];
        let changes = 0;
        for (const { does, which, reads, restarts, waits } of steps) {
          changes++;
          // An addition begins with an empty line. Torn right after that line, it would look like part of the text above.
          const whole = kept.grows ? kept.format(messages, changes).length + 2 : 0;
          change(messages, does, kept.grows ? messages.length - 1 : which % (messages.length || 1), changes);
          const text = kept.format(messages, changes);
          writeFileSync(file, does === 'tear' ? text.slice(0, whole + (which % (text.length - whole))) : text);
          if (waits) now += 20_000;
          if (restarts) {
            reading.spool.close();
            reading = openReading(join(grown, 'root'), spool, options);
          }
          if (reads) await reading.read();
        }
        writeFileSync(file, kept.format(messages, ++changes));
        now = Date.now() + 3_600_000;
        await reading.read();

        const whole = makeFolder();
        write(join(whole, 'root', kept.path), kept.format(messages, changes));
        const alone = openReading(join(whole, 'root'), ':memory:', { agent: kept.agent });
        await alone.read();
        for (const [session, events] of spooledEvents(alone.spool)) {
          const { latest, captures } = captured(spooledEvents(reading.spool).get(session) ?? []);
          for (const [record, is] of captured(events).latest)
            expect([record, latest.get(record)]).toEqual([record, is]);
          expect(new Set(captures).size).toBe(captures.length);
        }
        reading.spool.close();
        alone.spool.close();
      }),
      runs(8),
    );
  },
  patience(120_000),
);

function change(messages: Message[], does: string, which: number, changes: number): void {
  const message = messages[which];
  if (does === 'append' || does === 'tear')
    messages.push({ id: messages.length + 1, text: `text ${changes}`, isDone: false });
  if (does === 'finish' && message) messages[which] = { ...message, isDone: true };
  if (does === 'change' && message && !message.isDone)
    messages[which] = { ...message, text: `${message.text} and ${changes}` };
}

type Events = Exclude<ReturnType<ReturnType<typeof spooledEvents>['get']>, undefined>;

/** The latest captured events of each record, and the text of every capture. */
function captured(events: Events) {
  const latest = new Map<string, object[]>();
  const captures: string[] = [];
  for (const { eventType, payload } of events) {
    const { position: _, ...source } = payload.source as { position: number; index?: number; record?: string };
    const event = { eventType, payload: { ...payload, source } };
    const record = source.record ?? JSON.stringify(event);
    const isNext = (source.index ?? 0) > 0;
    latest.set(record, isNext ? [...(latest.get(record) ?? []), event] : [event]);
    if (isNext) captures.push(captures.pop() + JSON.stringify(event));
    else captures.push(JSON.stringify(event));
  }
  return { latest, captures };
}

test('a document nested too deeply to be written does not block other documents', async () => {
  const root = makeFolder();
  const document = (id: string, content: string) =>
    `{"version":1,"updated_at":"2026-11-01T10:00:00Z","sessionId":"${id}","messages":[{"role":"user","content":${content}}]}`;
  const deep = `${'['.repeat(50_000)}1${']'.repeat(50_000)}`;
  for (const [id, content] of Object.entries({ '1796000000000_a': deep, '1796000000000_b': '"Round the prices"' })) {
    write(join(root, id, `${id}.messages.json`), document(id, content));
  }
  const reading = openReading(root, ':memory:', { agent: cline });
  await reading.read();
  expect([...spooledEvents(reading.spool).keys()]).toEqual(['1796000000000_b']);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitPayload } from '../../contract/parts.ts';
import { runs } from '../../contract/test/runs.ts';
import { addEvent, emptySummary, type Summary } from './summary.ts';

interface Event {
  eventType: string;
  payload: { [key: string]: unknown };
}

const event = (eventType: string, record: string | undefined, revision: number, more: object = {}): Event => {
  const { index, ...fields } = more as { index?: number };
  const source = { agent: 'gemini-cli', session: 's', file: 'f', position: 0, record, index };
  return { eventType, payload: { source: record === undefined ? source : { ...source, revision }, ...fields } };
};

function sumUp(events: readonly Event[], summary = emptySummary()): Summary {
  for (const { eventType, payload } of events) addEvent(summary, eventType, Buffer.from(JSON.stringify(payload)));
  return summary;
}

const figuresOf = ({ revised: _, ...figures }: Summary) => figures;

describe('a record that its agent writes again', () => {
  const asked = event('assistant.message', 'm1', 100, { index: 0, text: 'I look.' });
  const tokens = (revision: number) =>
    event('usage', 'm1', revision, { index: 1, responseId: 'm1', inputTokens: 900, outputTokens: 40 });
  const call = event('tool.call', 'm1', 200, { index: 2, callId: 'c1', name: 'shell' });
  const failed = event('tool.result', 'm1', 200, { index: 3, callId: 'c1', isError: true });
  const whole = { prompts: 0, toolCalls: 1, failures: 1, redactions: 0, inputTokens: 900, outputTokens: 40 };

  test('is counted once, as it is now', () => {
    expect(sumUp([asked, tokens(100), { ...asked }, tokens(200), call, failed])).toMatchObject(whole);
  });

  test('loses what it no longer says', () => {
    const again = [event('assistant.message', 'm1', 300, { text: 'Done.', redactions: { 'github-token': 2 } })];
    expect(sumUp([tokens(200), call, failed, ...again])).toMatchObject({
      ...{ toolCalls: 0, failures: 0, redactions: 2, inputTokens: 0, outputTokens: 0 },
    });
  });

  test('is not brought back by an older writing that comes late', () => {
    const late = event('tool.call', 'm1', 50, { callId: 'c0', name: 'shell' });
    expect(sumUp([tokens(200), call, failed, late])).toMatchObject(whole);
  });

  test('counts as it was captured last where revisions are equal', () => {
    const prompt = (text: string) => event('user.message', 'm2', 7, { text });
    expect(sumUp([prompt('One'), prompt('Two')])).toMatchObject({ prompts: 1, firstPrompt: 'One' });
  });

  test('counts once where its payload comes in parts', () => {
    const { payload } = event('tool.call', 'm1', 10, { index: 2, name: 'write_file', input: 'x'.repeat(5_000) });
    const parts = splitPayload(payload.source as never, JSON.stringify(payload), 2_000);
    const sent = parts.map((part) => ({ eventType: 'tool.call', payload: { ...part } }));
    expect(sent.length).toBeGreaterThan(2);
    expect(sumUp([...sent, ...sent, call])).toMatchObject({ toolCalls: 1 });
  });

  test('is told from one of a sub-agent under the same id', () => {
    const { eventType, payload } = call;
    const inSubagent = { eventType, payload: { ...payload, source: { ...(payload.source as object), subagent: 'a' } } };
    expect(sumUp([call, inSubagent])).toMatchObject({ toolCalls: 2 });
  });

  test('is remembered within bounds', () => {
    const many = Array.from({ length: 3_000 }, (_, at) => event('user.message', `m${at}`, at, { text: 'x' }));
    const summary = sumUp(many);
    expect(Object.keys(summary.revised?.records ?? {})).toHaveLength(summary.revised?.count ?? 0);
    expect(summary.revised?.count).toBeLessThanOrEqual(1_000);
    expect(JSON.stringify(summary).length).toBeLessThan(60_000);
    const last = sumUp([event('user.message', 'm2999', 5_000, { text: 'y' })], structuredClone(summary));
    expect(last.prompts).toBe(3_000);
  });
});

const made = fc.array(
  fc.record({
    record: fc.constantFrom(undefined, 'a', 'b', 'c'),
    revision: fc.integer({ min: 1, max: 4 }),
    events: fc.array(
      fc.record({
        eventType: fc.constantFrom('user.message', 'tool.call', 'tool.result', 'error', 'usage', 'record'),
        redactions: fc.option(fc.constant({ rule: 1 }), { nil: undefined }),
        isError: fc.boolean(),
        inputTokens: fc.nat(50),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  { maxLength: 12 },
);

test('the figures are those of the writings that count, wherever the summary was put down in between', () => {
  fc.assert(
    fc.property(made, fc.nat(), (writings, cut) => {
      const sent = writings.map(({ record, revision, events }) =>
        events.map(({ eventType, ...fields }, at) =>
          event(eventType, record, revision, events.length > 1 ? { index: at, ...fields } : fields),
        ),
      );
      const counts = writings.map(({ record, revision }, at) =>
        record === undefined
          ? true
          : !writings.some((other, place) => {
              if (other.record !== record) return false;
              return other.revision > revision || (other.revision === revision && place > at);
            }),
      );
      const all = sent.flat();
      const half = sumUp(all.slice(0, cut % (all.length + 1)));
      const restored = JSON.parse(JSON.stringify(half)) as Summary;
      const summary = sumUp(all.slice(cut % (all.length + 1)), restored);
      expect(summary).toEqual(JSON.parse(JSON.stringify(sumUp(all))));
      const plain = sumUp(sent.filter((_, at) => counts[at]).flat());
      const { lastResponse: _, ...expected } = figuresOf(plain);
      const { lastResponse: __, ...figures } = figuresOf(summary);
      expect(figures).toEqual(expected);
    }),
    runs(200),
  );
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { setUpDaemon } from '../test/daemon.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

const WORDS = 'word '.repeat(20_000);
/** Nine megabytes of records, more than one read takes. */
const MANY = 90;
const FEW = 20;
/** Looking for transcripts takes a while as well. */
const PATIENT = { timeout: 120_000, interval: 250 };

/** How an agent writes a transcript that begins with a copy of another one's first records. */
interface Writes {
  path: (session: number) => string;
  head: (session: number, parent?: number) => string[];
  record: (session: number, id: number, isCopyIn?: number) => string;
}

const codexLine = (session: number, id: number, type: string, payload: object) =>
  JSON.stringify({ timestamp: new Date(Date.UTC(2026, 1, 1, session, 0, id)).toISOString(), type, payload });

const codex: Writes = {
  path: (session) => `.codex/sessions/2026/02/01/rollout-2026-02-01T0${session}-00-00-${sessionId(session)}.jsonl`,
  head: (session, parent) => [
    codexLine(session, 0, 'session_meta', {
      ...{ id: sessionId(session), cwd: '/home/dev/shop', cli_version: '0.140.0' },
      ...(parent !== undefined && { forked_from_id: sessionId(parent) }),
    }),
  ],
  // A copy has the time of copying.
  record: (session, id, isCopyIn = session) =>
    codexLine(isCopyIn, id, 'response_item', {
      ...{ type: 'function_call_output', call_id: `call_${session}_${id}`, output: `${session} ${id} ${WORDS}` },
    }),
};

const claudeCode: Writes = {
  path: (session) => `.claude/projects/shop/${sessionId(session)}.jsonl`,
  head: () => [],
  record: (session, id, isCopyIn) =>
    prompt(session, id, `${session} ${id} ${WORDS}`, {
      ...(isCopyIn !== undefined && {
        ...{ sessionId: sessionId(isCopyIn), forkedFrom: { sessionId: sessionId(session) } },
      }),
    }),
};

const count = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

function layOut(home: string, { path, head, record }: Writes) {
  const put = (session: number, lines: string[]) => {
    mkdirSync(dirname(join(home, path(session))), { recursive: true });
    writeFileSync(join(home, path(session)), `${lines.join('\n')}\n`);
  };
  const shared = count(1, FEW);
  put(2, [...head(2, 1), ...shared.map((id) => record(1, id, 2)), record(2, FEW)]);
  put(1, [...head(1), ...count(1, MANY).map((id) => record(1, id))]);
}

test.each([
  ['Codex', codex],
  ['Claude Code', claudeCode],
] as const)(
  'a fork of %s that is met before its parent leaves the shared records to the parent',
  async (_, agent) => {
    const { home, start, say, service, waitForTexts } = await setUpDaemon({ timing: { sliceMs: 20 } });
    await start();
    say(5, 0, 'small');
    await waitForTexts(5, ['small']);
    layOut(home, agent);
    const said = (session: number) =>
      (service.eventsBySession().get(sessionId(session)) ?? []).flatMap(({ payload }) => {
        const text = payload.text ?? payload.output;
        return typeof text === 'string' ? text.split(' ').slice(0, 2).join(' ') : [];
      });
    await vi.waitFor(() => expect(said(2)).not.toEqual([]), PATIENT);
    await vi.waitFor(() => expect(said(1).length).toBeGreaterThanOrEqual(MANY - 1), PATIENT);
    expect(said(1)).toEqual(count(1, MANY).map((id) => `1 ${id}`));
    expect(said(2)).toEqual([`2 ${FEW}`]);
  },
  120_000,
);

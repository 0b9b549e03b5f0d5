import { join } from 'node:path';
import { write } from './folder.ts';
import { createRandom } from './random.ts';

export interface GenerateOptions {
  seed: number;
  sessions: number;
  /** Records in a session's own file; its sub-agent has a third of that. */
  records: number;
}

const START = Date.parse('2026-03-01T09:00:00.000Z');

/** The n-th generated id of a kind, in the format of Claude Code. */
export const uuid = (kind: number, number: number, session = 0): string =>
  `${kind.toString(16).padStart(8, '0')}-${session.toString(16).padStart(4, '0')}-4000-8000-${number.toString(16).padStart(12, '0')}`;

export const sessionId = (session: number): string => uuid(0xabc, 0, session);

/** A prompt in the format of Claude Code; `id` makes it unique. */
export const prompt = (session: number, id: number, text: string, more: object = {}): string =>
  JSON.stringify({
    parentUuid: id === 0 ? null : uuid(1, id - 1, session),
    type: 'user',
    uuid: uuid(1, id, session),
    timestamp: new Date(START + session * 60_000 + id * 1000).toISOString(),
    sessionId: sessionId(session),
    message: { role: 'user', content: text },
    ...more,
  });

/** A record without an id, which the agent repeats at every start. */
export const mode = (session: number, word = 'default'): string =>
  JSON.stringify({ type: 'mode', mode: word, sessionId: sessionId(session) });

/** Writes sessions with sub-agents, repeated and invalid lines, text in many alphabets, and a fork. */
export function generateTranscripts(home: string, { seed, sessions, records }: GenerateOptions): void {
  const random = createRandom(seed);
  const project = join(home, '.claude', 'projects', '-home-dev-shop');
  const text = () =>
    ['short', 'naïve “quotes” 日本語 🚀\u0000', 'x'.repeat(random.below(3000)), '{"a":[1,2]}'][random.below(4)] ?? '';
  for (let session = 0; session < sessions; session++) {
    const lines: string[] = [];
    for (let id = 0; id < records; id++) {
      if (random.below(8) === 0) lines.push(mode(session));
      lines.push(prompt(session, id, `${id} ${text()}`));
      if (random.below(30) === 0) lines.push('this is no record');
    }
    write(join(project, `${sessionId(session)}.jsonl`), `${lines.join('\n')}\n`);
    const ofSubagent = Array.from({ length: Math.ceil(records / 3) }, (_, id) =>
      prompt(session, id * 3 + 1, `sub ${id} ${text()}`, {
        isSidechain: true,
        agentId: 'a1',
        uuid: uuid(2, id, session),
      }),
    );
    write(join(project, sessionId(session), 'subagents', 'agent-a1.jsonl'), `${ofSubagent.join('\n')}\n`);
  }
  const forked = Array.from({ length: records }, (_, id) => prompt(0, id, 'replayed'));
  const own = prompt(0xffff, records, 'of the fork');
  write(join(project, `${sessionId(0xffff)}.jsonl`), `${[...forked, own].join('\n')}\n`);
}

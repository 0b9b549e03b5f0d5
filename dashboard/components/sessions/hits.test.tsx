import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import type { SessionRow } from '../../queries.ts';
import { Hits } from './hits.tsx';

const hitOf = (eventType: string) => ({
  sequence: 1,
  time: '2026-11-22T12:00:00.000Z',
  eventType,
  text: 'x',
  marks: [],
});

test.each([
  ['tool.result', 'output'],
  ['of-another-program', 'event'],
  ['__proto__', 'event'],
  ['constructor', 'event'],
])('what is found in an event of the type %s is called %s', (eventType, expected) => {
  const row = { session: { sessionId: 'ses_1' }, hits: [hitOf(eventType)] } as unknown as SessionRow;
  const html = renderToStaticMarkup(<Hits row={row} addressOf={() => '/'} isCurrent={false} />);
  expect(html).toContain(`<span class="session-hit-kind">${expected}</span>`);
});

import { describe, expect, test, vi } from 'vitest';
import { cdp, page, userEvent } from 'vitest/browser';
import type { Source } from '../../transcript/vocabulary.ts';
import { createService } from '../test/service.ts';
import { show } from '../test/show.tsx';
import { eachEvent, readAllEvents, readWholeTimeline } from './download.ts';
import { toHtml } from './model/html.ts';
import { call, type Given, result } from './model/test/events.ts';

const LONG = `${'line\n'.repeat(3_999)}done\n`;
const source: Source = { agent: 'codex', file: 'a.jsonl', position: 1 } as never;

/** A result as one event, or as two events with a part each. */
const results: [string, Given[]][] = [
  ['in one piece', [result('a', { output: `${LONG}more` })]],
  ['in parts', inParts({ callId: 'a', output: `${LONG}more` })],
];

function inParts(payload: object): Given[] {
  const json = JSON.stringify(payload);
  const [first, second] = [json.slice(0, 9_000), json.slice(9_000)];
  return [first, second].map((slice, at) => ['tool.result', { source, part: at + 1, of: 2, json: slice }]);
}

describe('a session as a file', () => {
  test.each(results)('has outputs that came %s up to 20,000 characters and counts the rest', async (_, given) => {
    const { api } = createService([call('a', 'Bash', { command: 'seq' }), ...given]).app();
    const file = toHtml(await readWholeTimeline(eachEvent(api, 'ses_1')), 'A', []);
    expect(file).toContain(`<pre>${LONG}\n\n[… 4 more characters]</pre>`);
  });

  test('has outputs without colour codes, limited for all of them together', async () => {
    const output = '\u001b[32m✓\u001b[39m adds';
    const some = ['a', 'b', 'c'].flatMap((id) => [call(id, 'Bash', { command: 'test' }), result(id, { output })]);
    const file = toHtml(await readWholeTimeline(eachEvent(createService(some).app().api, 'ses_1'), 10), 'A', []);
    expect(file.match(/<pre>[^<]*<\/pre>/g)).toEqual([
      '<pre>✓ adds</pre>',
      '<pre>✓ ad\n\n[… 2 more characters]</pre>',
      '<pre>\n\n[… 6 more characters]</pre>',
    ]);
  });

  test('as events has one line for each, never joined into a string that is too long for a browser', async () => {
    const events: Given[] = [
      ['user.message', { text: 'First' }],
      ['user.message', { text: 'Second' }],
    ];
    const lines = await readAllEvents(createService(events).app().api, 'ses_1', [['Agent', 'Codex']]);
    expect(lines.map((line) => line.at(-1))).toEqual(['\n', '\n', '\n']);
    const [head, ...rest] = lines.map((line) => JSON.parse(line));
    expect(head).toEqual({ session: { sessionId: 'ses_1', Agent: 'Codex' } });
    expect(rest.map(({ payload }) => payload.text)).toEqual(['First', 'Second']);
  });

  test('that fails to load shows an error', async () => {
    const service = createService([['user.message', { text: 'First' }]]);
    service.answers.listSessionEvents = () => {
      throw new TypeError('The service is gone.');
    };
    await show('/sessions/ses_1', service);
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByRole('menuitem', { name: 'Conversation (Markdown)' }).click();
    await expect.element(page.getByRole('dialog', { name: 'The session could not be downloaded' })).toBeVisible();
  });
});

describe('a printed session', () => {
  const COUNT = 300;
  const prompts = Array.from({ length: COUNT }, (_, at): Given => ['user.message', { text: `Errand ${at + 1}.` }]);
  const paper = () => document.querySelector('.printed');

  test('has all rows, although the page only draws visible ones', async () => {
    const print = vi.spyOn(window, 'print').mockReturnValue();
    await show('/sessions/ses_1', createService(prompts));
    await expect.poll(() => document.querySelector('[data-complete="true"]')).not.toBeNull();
    await userEvent.keyboard('{Control>}p{/Control}');
    await expect.poll(() => paper()?.querySelectorAll('article').length).toBe(COUNT);
    expect(paper()?.querySelector('article:last-of-type')?.textContent).toMatch(new RegExp(`Errand ${COUNT}\\.$`));
    expect(print).toHaveBeenCalledOnce();
    window.dispatchEvent(new Event('afterprint'));
    await expect.poll(paper).toBeNull();
    print.mockRestore();
  });

  test('is read once for several requests at a time, and the page says that it is prepared', async () => {
    const print = vi.spyOn(window, 'print').mockReturnValue();
    const service = createService([['user.message', { text: 'First' }]]);
    const app = service.app();
    const { listSessionEvents } = app.api;
    const told = Promise.withResolvers<void>();
    const read = vi.fn<typeof listSessionEvents>((given) => told.promise.then(() => listSessionEvents(given)));
    app.api.listSessionEvents = read;
    await show('/sessions/ses_1', { ...service, app: () => app });
    await expect.poll(() => document.querySelector('[data-complete="true"]')).not.toBeNull();
    const before = read.mock.calls.length;
    await userEvent.keyboard('{Control>}pp{/Control}');
    await expect.element(page.getByText('Preparing the whole session…')).toBeVisible();
    told.resolve();
    await expect.poll(paper).not.toBeNull();
    expect(document.body.textContent).not.toContain('Preparing the whole session…');
    expect(print).toHaveBeenCalledOnce();
    expect(read.mock.calls.length - before).toBe(1);
    // A browser may never report that it has printed. Another request still prints.
    await userEvent.keyboard('{Control>}p{/Control}');
    await expect.poll(() => print.mock.calls.length).toBe(2);
    window.dispatchEvent(new Event('afterprint'));
    print.mockRestore();
  });

  test('is dark on light, whatever the theme', async () => {
    const print = vi.spyOn(window, 'print').mockReturnValue();
    document.documentElement.dataset.theme = 'dark';
    await show('/sessions/ses_1', createService([['user.message', { text: 'First' }]]));
    await expect.poll(() => document.querySelector('[data-complete="true"]')).not.toBeNull();
    await userEvent.keyboard('{Control>}p{/Control}');
    await expect.poll(paper).not.toBeNull();
    const scheme = () => getComputedStyle(document.documentElement).colorScheme;
    expect(scheme()).toBe('dark');
    const browser = cdp() as { send: (method: string, given: object) => Promise<unknown> };
    await browser.send('Emulation.setEmulatedMedia', { media: 'print' });
    const printed = scheme();
    await browser.send('Emulation.setEmulatedMedia', { media: '' });
    expect(printed).toBe('light');
    window.dispatchEvent(new Event('afterprint'));
    print.mockRestore();
  });

  test('that fails to load shows that it was not printed', async () => {
    const service = createService([['user.message', { text: 'First' }]]);
    await show('/sessions/ses_1', service);
    await expect.poll(() => document.querySelector('[data-complete="true"]')).not.toBeNull();
    delete service.answers.listSessionEvents;
    await userEvent.keyboard('{Control>}p{/Control}');
    await expect.element(page.getByRole('dialog', { name: 'The session could not be printed' })).toBeVisible();
  });
});

describe('the palette on a session', () => {
  async function choose(command: string): Promise<() => string> {
    const { address } = await show('/sessions/ses_1', createService([['user.message', { text: 'First' }]]));
    await expect.poll(() => document.querySelector('[data-complete="true"]')).not.toBeNull();
    await userEvent.keyboard('{Control>}k{/Control}');
    await page.getByPlaceholder(/Find a page, an action/).fill(command);
    await page
      .getByRole('option', { name: new RegExp(command, 'i') })
      .first()
      .click();
    return address;
  }

  test('downloads it', async () => {
    const made = vi.spyOn(URL, 'createObjectURL');
    await choose('download');
    await expect.poll(() => made.mock.calls.length).toBe(1);
    made.mockRestore();
  });

  test('opens the list to pick a session for a comparison', async () => {
    const address = await choose('compare');
    await expect.poll(address).toBe('/sessions?compare=ses_1');
    await expect.element(page.getByText(/^Comparing “.+”\. Pick another session from its menu\./)).toBeVisible();
  });
});

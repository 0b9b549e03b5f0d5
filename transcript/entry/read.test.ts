import { expect, test } from 'vitest';
import { readEvent } from './read.ts';

const read = (text: string, kind = 'command') =>
  readEvent({
    sequence: 1,
    eventType: 'context.message',
    createdAt: '2026-11-22T10:00:00.000Z',
    payload: { kind, text },
  });

const command = (name: string, args?: string) =>
  `<command-message>${name.slice(1)} is running…</command-message>\n<command-name>${name}</command-name>${
    args === undefined ? '' : `\n<command-args>${args}</command-args>`
  }`;

test.each([
  [command('/security:review', 'of the changes in\nthis PR'), '/security:review of the changes in\nthis PR'],
  [command('/init'), '/init'],
  [command('/orchestrator', ''), '/orchestrator'],
  ['<bash-input>git status</bash-input>', '! git status'],
])('the typed command %j is a prompt with the text %j', (text, typed) => {
  expect(read(text)).toMatchObject({ kind: 'prompt', text: typed, length: typed.length, images: 0 });
});

test.each([
  '<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>',
  '<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>',
  '<command-message>without a name</command-message>',
  '<local-command-stdout>Set model to opus</local-command-stdout>',
  'The person wrote <command-message>x</command-message><command-name>/x</command-name> into a text',
])('the text %j is not a prompt', (text) => {
  expect(read(text)).toMatchObject({ kind: 'quiet' });
});

test('the summary that follows a compaction contains its length', () => {
  expect(read('This session is being continued…', 'compact-summary')).toMatchObject({
    kind: 'quiet',
    summaryLength: 32,
  });
});

import { useEffect, useMemo, useState } from 'react';
import { parseWords } from '../../contract/query.ts';
import { commandOf } from '../../transcript/entry/command.ts';
import type { ResultEntry } from '../../transcript/entry/entry.ts';
import { resultText } from '../../transcript/entry/output.ts';
import { callsOf } from '../../transcript/entry/script.ts';
import { asParsedObject, asText } from '../../transcript/entry/value.ts';
import { Button } from '../kit/button.tsx';
import { formatCount } from '../kit/format.ts';
import { ShowAll } from '../kit/more.tsx';
import { Output } from '../kit/output.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Pictures } from './images.tsx';
import type { ToolItem } from './model/items.ts';
import { Payload } from './payload.tsx';
import { useReading } from './reading.ts';
import { readTodos, Todos } from './todos.tsx';
import { usePayload } from './use-payload.ts';

/** The input and the results of a call, read when the call is opened. */
export function CallBody({ item, sessionId }: { item: ToolItem; sessionId: string }) {
  const { data } = usePayload(sessionId, item.call?.sequence, item.call?.span);
  const todos = readTodos(data?.payload.input);
  return (
    <>
      {todos ? (
        <Todos todos={todos} before={item.results[0]} sessionId={sessionId} />
      ) : (
        <>
          <Asked name={item.name} input={data?.payload.input} />
          {item.results.map((result) => (
            <Answer key={result.sequence} result={result} sessionId={sessionId} />
          ))}
          {item.results.length === 0 && <p className="text-12 text-muted">No result yet.</p>}
        </>
      )}
    </>
  );
}

/** The commands of a call, or its address, or its search. */
function Asked({ name, input }: { name: string; input: unknown }) {
  const fields = asParsedObject(input);
  const command = callsOf(name, input)
    .flatMap((call) => commandOf(call.input) ?? [])
    .join('\n');
  if (command !== '')
    return (
      <pre className="mb-1.5 max-h-60 overflow-auto whitespace-pre-wrap font-mono text-[12.5px]/[18px] [overflow-wrap:anywhere] before:text-muted before:content-['$_']">
        {showHidden(command.slice(0, 4_000))}
      </pre>
    );
  const url = asText(fields.url);
  if (url !== undefined) return <Address url={url} />;
  const told = ['pattern', 'query', 'path', 'file_path', 'glob', 'description'].flatMap((name) => {
    const value = asText(fields[name]);
    return value === undefined ? [] : [`${name}: ${value.slice(0, 300)}`];
  });
  return told.length > 0 ? <p className="font-mono mb-1 text-muted">{showHidden(told.join('   '))}</p> : null;
}

/** An address with its host in bold, since the host says who received the request. */
function Address({ url }: { url: string }) {
  const host = URL.canParse(url) ? new URL(url).host : '';
  return (
    <p className="font-mono mb-1 break-all">
      {host !== '' && <strong className="mr-2 font-medium">{showHidden(host)}</strong>}
      <span className="text-muted">{showHidden(url.slice(0, 500))}</span>
    </p>
  );
}

/** An output is shown up to this many lines and characters at first. */
const FIRST_LINES = 12;
const FIRST_CHARACTERS = 4_000;
/** Context shown before a match. */
const LINES_BEFORE = 3;
const CHARACTERS_BEFORE = 1_000;

const Answer = ({ result: { sequence, span }, sessionId }: { result: ResultEntry; sessionId: string }) => (
  <Payload sessionId={sessionId} sequence={sequence} span={span}>
    {({ payload }) => <AnswerText payload={payload} />}
  </Payload>
);

function AnswerText({ payload }: { payload: Parameters<typeof resultText>[0] }) {
  const [isWhole, setWhole] = useState(false);
  const [isWrapped, setWrapped] = useState(true);
  const text = useMemo(() => resultText(payload), [payload]);
  const part = partAt(text, useMatch(text));
  const hidden = countLines(text) - countLines(part);
  return (
    <div
      className="data-[wrapped=true]:[&_pre]:whitespace-pre-wrap data-[wrapped=true]:[&_pre]:[overflow-wrap:anywhere]"
      data-wrapped={isWrapped}
    >
      <Pictures payload={payload} />
      {text === '' ? <p className="text-12 text-muted">No output.</p> : <Output text={isWhole ? text : part} />}
      <p className="flex gap-1">
        {part.length < text.length && (
          <ShowAll isWhole={isWhole} onToggle={() => setWhole((before) => !before)}>
            {hidden > 0 ? `${formatCount(hidden)} more lines` : 'Show all'}
          </ShowAll>
        )}
        {text !== '' && (
          <Button size="small" tone="quiet" aria-pressed={isWrapped} onClick={() => setWrapped((before) => !before)}>
            Wrap
          </Button>
        )}
      </p>
    </div>
  );
}

/** The position of the first match of the search. It stays after the search has ended. */
function useMatch(text: string): number {
  const { words } = useReading();
  const [match, setMatch] = useState(0);
  useEffect(() => {
    const look = () => {
      const looked = parseWords(words.get()).terms;
      const lower = looked.length > 0 ? text.toLowerCase() : '';
      const places = looked.map((term) => lower.indexOf(term.text.toLowerCase())).filter((at) => at >= 0);
      if (places.length > 0) setMatch(Math.min(...places));
    };
    look();
    return words.subscribe(look);
  }, [text, words]);
  return match;
}

/** The beginning of a text, or the part around the match if the match is further down. */
function partAt(text: string, match: number): string {
  const beginning = linesFrom(text, 0);
  if (match < beginning.length) return beginning;
  let start = match;
  for (let line = 0; line <= LINES_BEFORE && start > 0; line++) start = text.lastIndexOf('\n', start - 1);
  return linesFrom(text, Math.max(start + 1, match - CHARACTERS_BEFORE));
}

function linesFrom(text: string, start: number): string {
  let end = start - 1;
  for (let line = 0; line < FIRST_LINES && (end >= 0 || line === 0); line++) end = text.indexOf('\n', end + 1);
  return text.slice(start, Math.min(start + FIRST_CHARACTERS, end < 0 ? text.length : end));
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

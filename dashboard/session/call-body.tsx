import { useEffect, useMemo, useState } from 'react';
import { parseWords } from '../../contract/query.ts';
import { commandOf } from '../../transcript/entry/command.ts';
import { resultText } from '../../transcript/entry/output.ts';
import { callsOf } from '../../transcript/entry/script.ts';
import { asParsedObject, asText, toJson } from '../../transcript/entry/value.ts';
import { Button } from '../kit/button.tsx';
import { Code } from '../kit/code.tsx';
import { formatCount } from '../kit/format.ts';
import { ShowAll } from '../kit/more.tsx';
import { Output } from '../kit/output.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Pictures } from './images.tsx';
import { imagesOf } from './model/images.ts';
import type { ToolItem } from './model/items.ts';
import { Payload } from './payload.tsx';
import { useReading } from './reading.ts';
import { readTodos, Todos } from './todos.tsx';
import { usePayload } from './use-payload.ts';

/** What a call does, and the beginning of its results, read when the call is opened. */
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
          <CallResults item={item} sessionId={sessionId} limit={FIRST} />
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

/** The input of a call: each text by itself, everything else as JSON. */
export const CallInput = ({ item: { call }, sessionId }: { item: ToolItem; sessionId: string }) => (
  <Payload sessionId={sessionId} sequence={call?.sequence} span={call?.span}>
    {({ payload }) => <Fields input={payload.input} />}
  </Payload>
);

function Fields({ input }: { input: unknown }) {
  const fields = Object.entries(asParsedObject(input));
  if (fields.length === 0) return <Code code={asText(input) ?? toJson(input)} language="js" />;
  const path = asText(asParsedObject(input).file_path) ?? '';
  return (
    <div className="flex flex-col gap-3">
      {fields.map(([name, value]) => (
        <div key={name}>
          <h3 className="mb-1 font-normal text-12 text-muted">{name}</h3>
          <Code code={asText(value) ?? toJson(value)} language={languageOfField(name, value, path)} />
        </div>
      ))}
    </div>
  );
}

function languageOfField(name: string, value: unknown, path: string): string {
  if (typeof value !== 'string') return 'json';
  if (name === 'command' || name === 'cmd') return 'bash';
  return name === 'content' || name.endsWith('_string') ? path : '';
}

/** How much of an output is shown at first. */
interface Limit {
  lines: number;
  characters: number;
}

const FIRST: Limit = { lines: 12, characters: 4_000 };
/** Context shown before a match. */
const LINES_BEFORE = 3;
const CHARACTERS_BEFORE = 1_000;

interface ResultsProps {
  item: ToolItem;
  sessionId: string;
  /** Absent: outputs are shown as a whole. */
  limit?: Limit;
}

/** The results of a call. */
export const CallResults = ({ item: { results }, sessionId, limit }: ResultsProps) => (
  <div className="flex flex-col gap-3">
    {results.map(({ sequence, span, exitCode }) => (
      <div key={sequence}>
        {results.length > 1 && (
          <h3 className="mb-1 font-normal text-12 text-muted">
            event {sequence}
            {exitCode !== undefined && ` · exit ${exitCode}`}
          </h3>
        )}
        <Payload sessionId={sessionId} sequence={sequence} span={span}>
          {({ payload }) => <Result payload={payload} limit={limit} />}
        </Payload>
      </div>
    ))}
  </div>
);

function Result({ payload, limit }: { payload: Parameters<typeof resultText>[0]; limit: Limit | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const [isWrapped, setWrapped] = useState(true);
  const text = useMemo(() => resultText(payload), [payload]);
  const match = useMatch(text);
  const part = limit ? partAt(text, match, limit) : text;
  const hidden = countLines(text) - countLines(part);
  const images = useMemo(() => imagesOf(payload), [payload]);
  return (
    <div
      className="data-[wrapped=true]:[&_pre]:whitespace-pre-wrap data-[wrapped=true]:[&_pre]:[overflow-wrap:anywhere]"
      data-wrapped={isWrapped}
    >
      <Pictures images={images} />
      {text !== '' && <Output text={isWhole ? text : part} />}
      {text === '' && images.length === 0 && <p className="text-12 text-muted">No output.</p>}
      {limit && text !== '' && (
        <p className="flex gap-1">
          {part.length < text.length && (
            <ShowAll isWhole={isWhole} onToggle={() => setWhole((before) => !before)}>
              {hidden > 0 ? `${formatCount(hidden)} more lines` : 'Show all'}
            </ShowAll>
          )}
          <Button size="small" tone="quiet" aria-pressed={isWrapped} onClick={() => setWrapped((before) => !before)}>
            Wrap
          </Button>
        </p>
      )}
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
function partAt(text: string, match: number, limit: Limit): string {
  const beginning = linesFrom(text, 0, limit);
  if (match < beginning.length) return beginning;
  let start = match;
  for (let line = 0; line <= LINES_BEFORE && start > 0; line++) start = text.lastIndexOf('\n', start - 1);
  return linesFrom(text, Math.max(start + 1, match - CHARACTERS_BEFORE), limit);
}

function linesFrom(text: string, start: number, { lines, characters }: Limit): string {
  let end = start - 1;
  for (let line = 0; line < lines && (end >= 0 || line === 0); line++) end = text.indexOf('\n', end + 1);
  return text.slice(start, Math.min(start + characters, end < 0 ? text.length : end));
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

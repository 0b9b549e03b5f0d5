import { resultText } from '../../contract/entry/tool.ts';
import { asParsedObject, asText, toJson } from '../../contract/entry/value.ts';
import { Code } from '../kit/code.tsx';
import { Output } from '../kit/output.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import type { ToolItem } from './model/items.ts';
import { usePayload } from './use-payload.ts';

/** What the tool was asked: each text of its own, everything else as JSON. */
export function ToolInput({ item, sessionId }: { item: ToolItem; sessionId: string }) {
  const { data, error } = usePayload(sessionId, item.call?.sequence, item.call?.span);
  if (error) return <ErrorNote error={error} />;
  if (!data) return <p className="text-muted">Loading…</p>;
  const { input } = data.payload;
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

/** What it answered. */
export function ToolOutput({ item, sessionId }: { item: ToolItem; sessionId: string }) {
  return (
    <div className="flex flex-col gap-3">
      {item.results.map(({ sequence, span, exitCode }) => (
        <div key={sequence}>
          {item.results.length > 1 && (
            <h3 className="mb-1 font-normal text-12 text-muted">
              event {sequence}
              {exitCode !== undefined && ` · exit ${exitCode}`}
            </h3>
          )}
          <OneOutput sessionId={sessionId} sequence={sequence} span={span} />
        </div>
      ))}
    </div>
  );
}

function OneOutput({ sessionId, sequence, span }: { sessionId: string; sequence: number; span: number }) {
  const { data, error } = usePayload(sessionId, sequence, span);
  if (error) return <ErrorNote error={error} />;
  if (!data) return <p className="text-muted">Loading…</p>;
  const text = resultText(data.payload);
  return text === '' ? <p className="text-13 text-muted">No output.</p> : <Output text={text} />;
}

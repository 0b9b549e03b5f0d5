import { resultText } from '../../transcript/entry/output.ts';
import { asParsedObject, asText, toJson } from '../../transcript/entry/value.ts';
import { Code } from '../kit/code.tsx';
import { Output } from '../kit/output.tsx';
import type { ToolItem } from './model/items.ts';
import { Payload } from './payload.tsx';

/** The input of a tool: each text by itself, everything else as JSON. */
export const ToolInput = ({ item: { call }, sessionId }: { item: ToolItem; sessionId: string }) => (
  <Payload sessionId={sessionId} sequence={call?.sequence} span={call?.span}>
    {({ payload }) => <Input input={payload.input} />}
  </Payload>
);

function Input({ input }: { input: unknown }) {
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

/** The results of a tool. */
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
          <Payload sessionId={sessionId} sequence={sequence} span={span}>
            {({ payload }) => <OneOutput text={resultText(payload)} />}
          </Payload>
        </div>
      ))}
    </div>
  );
}

const OneOutput = ({ text }: { text: string }) =>
  text === '' ? <p className="text-13 text-muted">No output.</p> : <Output text={text} />;

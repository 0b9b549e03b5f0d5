import { useState } from 'react';
import type { Entry } from '../../transcript/entry/entry.ts';
import { toJson } from '../../transcript/entry/value.ts';
import { Code } from '../kit/code.tsx';
import { CopyButton } from '../kit/copy.tsx';
import { Payload } from './payload.tsx';

/** The events as they are stored. */
export function RawEvents({ entries, sessionId }: { entries: readonly Entry[]; sessionId: string }) {
  return (
    <div className="flex flex-col gap-4">
      {entries.map((entry) => (
        <div key={entry.sequence} className="flex flex-col gap-4">
          <RawEvent entry={entry} sessionId={sessionId} />
          {entry.earlier && entry.earlier.length > 0 && <Earlier entries={entry.earlier} sessionId={sessionId} />}
        </div>
      ))}
    </div>
  );
}

/** Earlier revisions of a record, loaded on request. */
function Earlier({ entries, sessionId }: { entries: readonly Entry[]; sessionId: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="text-13" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="cursor-pointer text-muted">
        {entries.length === 1 ? '1 earlier revision' : `${entries.length} earlier revisions`}
      </summary>
      {isOpen && <RawEvents entries={entries} sessionId={sessionId} />}
    </details>
  );
}

const RawEvent = ({ entry: { sequence, span, eventType }, sessionId }: { entry: Entry; sessionId: string }) => (
  <Payload sessionId={sessionId} sequence={sequence} span={span}>
    {({ events, payload }) => (
      <div>
        <div className="mb-1 flex items-center justify-between text-12 text-muted">
          <span>
            {sequence} · {eventType}
            {events.length > 1 && ` · ${events.length} parts joined`}
          </span>
          <CopyButton text={() => toJson(payload)} label="Copy the payload" />
        </div>
        <Code code={toJson(payload)} language="json" />
      </div>
    )}
  </Payload>
);

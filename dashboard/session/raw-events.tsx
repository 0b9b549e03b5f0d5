import { useState } from 'react';
import type { Entry } from '../../contract/entry/entry.ts';
import { toJson } from '../../contract/entry/value.ts';
import { Code } from '../kit/code.tsx';
import { CopyButton } from '../kit/copy.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { usePayload } from './use-payload.ts';

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

/** What the record was before its agent wrote it again. Read only when it is asked for. */
function Earlier({ entries, sessionId }: { entries: readonly Entry[]; sessionId: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="text-13" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="cursor-pointer text-muted">
        {entries.length === 1 ? 'Written once before' : `Written ${entries.length} times before`}
      </summary>
      {isOpen && <RawEvents entries={entries} sessionId={sessionId} />}
    </details>
  );
}

function RawEvent({ entry, sessionId }: { entry: Entry; sessionId: string }) {
  const { data, error } = usePayload(sessionId, entry.sequence, entry.span);
  if (error) return <ErrorNote error={error} />;
  if (!data) return <p className="text-muted">Loading…</p>;
  const { events, payload } = data;
  const json = toJson(payload);
  return (
    <div>
      <div className="mb-1 flex items-center justify-between text-12 text-muted">
        <span>
          {entry.sequence} · {entry.eventType}
          {events.length > 1 && ` · ${events.length} parts joined`}
        </span>
        <CopyButton text={json} label="Copy the payload" />
      </div>
      <Code code={json} language="json" />
    </div>
  );
}

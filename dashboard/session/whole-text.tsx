import { asText } from '../../contract/entry/value.ts';
import { Markdown } from '../kit/markdown.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { usePayload } from './use-payload.ts';

/** A message of which the timeline keeps only the beginning, read again. */
export function WholeText({ sessionId, sequence, span }: { sessionId: string; sequence: number; span: number }) {
  const { data, error } = usePayload(sessionId, sequence, span);
  if (error) return <ErrorNote error={error} />;
  if (!data) return <p className="text-muted">Loading…</p>;
  return <Markdown text={asText(data.payload.text) ?? asText(data.payload.summary) ?? ''} />;
}

import { changesOfCall, changesOfResult } from '../../contract/entry/changes.ts';
import type { FileChange } from '../../contract/entry/patch.ts';
import { DiffView } from '../kit/diff-view.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import type { ToolItem } from './model/items.ts';
import { usePayload } from './use-payload.ts';

/** The lines a tool call changed: what its results tell, or else what its input asked for. */
export function Changes({ item, sessionId }: { item: ToolItem; sessionId: string }) {
  const telling = item.results.filter(({ changes, failed }) => changes.length > 0 && !failed);
  if (telling.length === 0 && item.call) {
    const { sequence, span } = item.call;
    return <ChangesOf sessionId={sessionId} sequence={sequence} span={span} from="call" name={item.name} />;
  }
  return telling.map(({ sequence, span }) => (
    <ChangesOf key={sequence} sessionId={sessionId} sequence={sequence} span={span} from="result" name={item.name} />
  ));
}

interface Props {
  sessionId: string;
  sequence: number;
  span: number;
  from: 'call' | 'result';
  name: string;
}

function ChangesOf({ sessionId, sequence, span, from, name }: Props) {
  const { data, error, refetch } = usePayload(sessionId, sequence, span);
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <p className="py-1 text-muted">Loading the diff…</p>;
  const { input, detail } = data.payload;
  const changes: FileChange[] = from === 'call' ? changesOfCall(name, input) : changesOfResult(detail);
  return (
    <div className="flex flex-col gap-2">
      {changes.map((change) => (
        <DiffView key={change.path} path={change.path} hunks={change.hunks} />
      ))}
    </div>
  );
}

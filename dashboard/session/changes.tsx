import { changesOfCall, changesOfResult } from '../../transcript/entry/changes.ts';
import { DiffView } from '../kit/diff-view.tsx';
import type { ToolItem } from './model/items.ts';
import { Payload } from './payload.tsx';

/** The lines that a tool call changed, read from its results, or else from its input. */
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

const ChangesOf = ({ sessionId, sequence, span, from, name }: Props) => (
  <Payload sessionId={sessionId} sequence={sequence} span={span}>
    {({ payload: { input, detail } }) => (
      <div className="flex flex-col gap-2">
        {(from === 'call' ? changesOfCall(name, input) : changesOfResult(detail)).map((change) => (
          <DiffView key={change.path} path={change.path} hunks={change.hunks} />
        ))}
      </div>
    )}
  </Payload>
);

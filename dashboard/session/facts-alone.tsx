import type { SessionFacts } from '../../contract/review.ts';
import { formatCount } from '../kit/format.ts';
import { Lines } from '../kit/lines.tsx';
import { Table } from '../kit/table.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { removedInWords } from './retention-words.ts';
import { ViewArea } from './view-area.tsx';

/** The files and tools of a session without its content, which only its person may read, or which was removed. */
export function FactsAlone({ facts }: { facts: SessionFacts | undefined }) {
  return (
    <ViewArea aria-label="Facts">
      <div className="flex flex-col gap-6">
        <p className="text-13 text-muted">{facts?.contentRemoved ? removedInWords(facts.contentRemoved) : HIDDEN}</p>
        {facts && facts.files.length > 0 && (
          <Table
            name="Files changed"
            rows={facts.files}
            keyOf={({ path }) => path}
            columns={[
              { head: 'Files changed', wraps: true, cell: ({ path }) => <code>{showHidden(path)}</code> },
              {
                head: 'Lines',
                isNumber: true,
                cell: ({ added, removed }) => <Lines added={added} removed={removed} />,
              },
            ]}
          />
        )}
        {facts && facts.tools.length > 0 && (
          <Table
            name="Tools"
            rows={facts.tools}
            keyOf={({ name }) => name}
            columns={[
              { head: 'Tools', wraps: true, cell: ({ name }) => showHidden(name) },
              { head: 'Calls', label: 'calls', isNumber: true, cell: ({ calls }) => formatCount(calls) },
              { head: 'Failed', label: 'failed', isNumber: true, cell: ({ failed }) => formatCount(failed) },
            ]}
          />
        )}
      </div>
    </ViewArea>
  );
}

const HIDDEN = 'Only the person who ran this session can read its content. You see its facts.';

import { useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { Field } from '../../../contract/query.ts';
import { useIsAdmin } from '../../app.ts';
import type { SessionRow } from '../../queries.ts';
import { repositoryName } from '../session-title.ts';

interface Props {
  row: SessionRow;
  isCurrent: boolean;
  onPreview: () => void;
  onNarrow: (field: Field, value: string) => void;
  onDelete: () => void;
}

/** What can be done with a session from the list. */
export function RowMenu({ row: { session, summary }, isCurrent, onPreview, onNarrow, onDelete }: Props) {
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const { sessionId, agentId, environmentId } = session;
  const { repository } = summary;
  const items: readonly (readonly [label: string, run: () => unknown] | 'line')[] = [
    ['Open', () => navigate({ to: '/sessions/$sessionId', params: { sessionId } })],
    ['Preview', onPreview],
    'line',
    ['Only of this agent', () => onNarrow('agent', agentId)],
    ['Only of this machine', () => onNarrow('machine', environmentId)],
    ...(repository ? [[`Only of ${repositoryName(repository)}`, () => onNarrow('repo', repository)] as const] : []),
    ...(isAdmin ? (['line', ['Delete…', onDelete]] as const) : []),
  ];
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <button type="button" className="row-menu" aria-label="More" tabIndex={isCurrent ? 0 : -1}>
          <Ellipsis size={16} />
        </button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
          {items.map((item, at) =>
            item === 'line' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines are all alike
              <DropdownMenu.Separator key={at} className="menu-line" />
            ) : (
              <DropdownMenu.Item key={item[0]} className="menu-item" onSelect={() => void item[1]()}>
                {item[0]}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

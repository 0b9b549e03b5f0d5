import { useNavigate } from '@tanstack/react-router';
import { type ComponentProps, useState } from 'react';
import type { Field } from '../../contract/written-query.ts';
import { useIsAdmin } from '../app/app.ts';
import type { SessionRow } from '../app/queries.ts';
import { Menu, MenuGroup, MenuItem } from '../kit/menu.tsx';
import { useRepositoryName } from '../shared/repository-name.tsx';

interface Props {
  row: SessionRow;
  isCurrent: boolean;
  onPreview: () => void;
  /** Title of the session to compare this one with, if one was chosen. */
  besides: string | undefined;
  onCompare: () => void;
  onNarrow: (field: Field, value: string) => void;
  onDelete: () => void;
}

/** The menu of a session in the list. */
export function RowMenu(props: Props) {
  // A menu in each row that scrolls by would cost more than the rest of the row.
  const [isWanted, setIsWanted] = useState(false);
  const button = { tabIndex: props.isCurrent ? 0 : -1 };
  return isWanted ? (
    <OpenMenu {...props} button={button} />
  ) : (
    <MenuButton {...button} onClick={() => setIsWanted(true)} />
  );
}

/** Its dots are drawn by the browser, because an icon in each row would be hundreds of elements. */
const MenuButton = (props: ComponentProps<'button'>) => (
  <button
    type="button"
    className="block size-7 cursor-pointer rounded-sm text-transparent before:mx-auto before:block before:size-[3px] before:rounded-[50%] before:bg-current before:shadow-[-5px_0_currentColor,5px_0_currentColor] group-focus-within/row:text-muted group-hover/row:text-muted group-data-narrow/row:text-muted hover:bg-hover hover:text-text data-[state=open]:text-muted"
    aria-label="More"
    aria-haspopup="menu"
    {...props}
  />
);

function OpenMenu({
  row,
  button,
  onPreview,
  besides,
  onCompare,
  onNarrow,
  onDelete,
}: Props & { button: ComponentProps<'button'> }) {
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const { sessionId, agentId, environmentId } = row.session;
  const { repository, secretId } = row.summary;
  const nameOfRepository = useRepositoryName();
  const groups: readonly (readonly (readonly [label: string, run: () => unknown])[])[] = [
    [
      ['Open', () => navigate({ to: '/sessions/$sessionId', params: { sessionId } })],
      ['Preview', onPreview],
      [besides === undefined ? 'Compare with…' : `Compare with “${besides}”`, onCompare],
    ],
    [
      ['Only this agent', () => onNarrow('agent', agentId)],
      ['Only this machine', () => onNarrow('machine', environmentId)],
      ...(secretId ? [['Only this secret', () => onNarrow('secret', secretId)] as const] : []),
      ...(repository ? [[`Only ${nameOfRepository(repository)}`, () => onNarrow('repo', repository)] as const] : []),
    ],
    isAdmin ? [['Delete…', onDelete]] : [],
  ];
  return (
    <Menu isOpenAtOnce trigger={<MenuButton {...button} />}>
      {groups
        .filter((items) => items.length > 0)
        .map((items) => (
          <MenuGroup key={items[0]?.[0]}>
            {items.map(([label, run]) => (
              <MenuItem key={label} onSelect={run}>
                {label}
              </MenuItem>
            ))}
          </MenuGroup>
        ))}
    </Menu>
  );
}

import { ListFilter } from 'lucide-react';
import type { Field, Filter } from '../../contract/written-query.ts';
import { Button } from '../kit/button.tsx';
import { formatCount } from '../kit/format.ts';
import { Menu, MenuCheck, MenuGroup } from '../kit/menu.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { FIXED, type KnownValues } from './suggestions.ts';

interface Props {
  known: KnownValues;
  chosen: readonly Filter[];
  /** Called when the menu opens, so that the values are loaded. */
  onOpen: () => void;
  onToggle: (filter: Filter) => void;
}

/** The most common filters. */
const FACETS: readonly { field: Field; title: string }[] = [
  { field: 'tests', title: 'Tests' },
  { field: 'agent', title: 'Agent' },
  { field: 'repo', title: 'Repository' },
  { field: 'machine', title: 'Machine' },
  { field: 'person', title: 'Person' },
  { field: 'failed', title: 'Failed calls' },
];
const MOST = 5;

/** A menu of common filters, each with the number of its sessions in the last months. */
export function FilterMenu({ known, chosen, onOpen, onToggle }: Props) {
  return (
    <Menu
      onOpen={onOpen}
      trigger={
        <Button tone="quiet" size="small" className="flex-none">
          <ListFilter size={14} aria-hidden />
          <span className="max-sm:sr-only">Filter</span>
        </Button>
      }
    >
      {FACETS.map(({ field, title }) => {
        const values = (FIXED[field] ?? known[field] ?? []).slice(0, MOST);
        if (values.length === 0) return undefined;
        return (
          <MenuGroup key={field} title={title}>
            {values.map(({ value, label = value, count }) => (
              <MenuCheck
                key={value}
                isChecked={chosen.some((filter) => filter.field === field && filter.value === value)}
                onToggle={() => onToggle({ field, value })}
              >
                <span className="min-w-0 grow truncate">{showHidden(label)}</span>
                {count !== undefined && <span className="num text-12 text-muted">{formatCount(count)}</span>}
              </MenuCheck>
            ))}
          </MenuGroup>
        );
      })}
    </Menu>
  );
}

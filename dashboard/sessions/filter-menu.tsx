import { ListFilter } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { Field, Filter } from '../../contract/query.ts';
import { Button } from '../kit/button.tsx';
import { formatCount } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { FIXED, type KnownValues } from './suggestions.ts';

interface Props {
  known: KnownValues;
  chosen: readonly Filter[];
  /** The values are wanted now. */
  onOpen: () => void;
  onToggle: (filter: Filter) => void;
}

/** The filters that are wanted most, in the order of their names. */
const FACETS: readonly { field: Field; title: string }[] = [
  { field: 'tests', title: 'Tests' },
  { field: 'agent', title: 'Agent' },
  { field: 'repo', title: 'Repository' },
  { field: 'machine', title: 'Machine' },
  { field: 'person', title: 'Person' },
  { field: 'failed', title: 'Failed calls' },
];
const MOST = 5;

/** The common filters to choose from, with how many sessions of the last months each has. */
export function FilterMenu({ known, chosen, onOpen, onToggle }: Props) {
  return (
    <DropdownMenu.Root modal={false} onOpenChange={(isOpen) => isOpen && onOpen()}>
      <DropdownMenu.Trigger asChild>
        <Button tone="quiet" size="small" className="flex-none">
          <ListFilter size={14} aria-hidden />
          Filter
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu filter-menu" align="end" sideOffset={4}>
          {FACETS.map(({ field, title }) => {
            const values = (FIXED[field] ?? known[field] ?? []).slice(0, MOST);
            if (values.length === 0) return undefined;
            return (
              <DropdownMenu.Group key={field}>
                <DropdownMenu.Label className="px-2 pt-2 text-12 text-muted">{title}</DropdownMenu.Label>
                {values.map(({ value, label = value, count }) => (
                  <DropdownMenu.CheckboxItem
                    key={value}
                    className="menu-item"
                    checked={chosen.some((filter) => filter.field === field && filter.value === value)}
                    onSelect={(event) => event.preventDefault()}
                    onCheckedChange={() => onToggle({ field, value })}
                  >
                    <span className="min-w-0 grow truncate">{showHidden(label)}</span>
                    {count !== undefined && <span className="num text-12 text-muted">{formatCount(count)}</span>}
                  </DropdownMenu.CheckboxItem>
                ))}
              </DropdownMenu.Group>
            );
          })}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

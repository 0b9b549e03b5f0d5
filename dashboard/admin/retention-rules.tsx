import { useState } from 'react';
import type { ShownPolicy } from '../../contract/policy.ts';
import type { RetentionPreview, RetentionRule } from '../../contract/retention.ts';
import { useChange } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { plural } from '../kit/format.ts';
import { Table } from '../kit/table.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { ErrorNote } from '../shared/error-note.tsx';

interface Props {
  policy: Pick<ShownPolicy, 'retention' | 'retentionBounds'>;
  canChange: boolean;
  onChange: (rules: RetentionRule[]) => void;
}

/** How long the words and the facts of sessions are kept: the rules, and a form for one more. */
export function RetentionRules({ policy: { retention: rules, retentionBounds: bounds }, canChange, onChange }: Props) {
  const preview = useChange((api, retention: RetentionRule[]) => api.previewRetention({ body: { retention } }), []);
  const keep = (changed: RetentionRule[]) => {
    preview.reset();
    onChange(changed);
  };
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 text-13 font-medium">Retention</legend>
      <p className="text-13">
        How long sessions are kept. The rule for a repository counts before that for a plane, and that before the rule
        for all sessions. {boundsInWords(bounds)}
      </p>
      {rules.length > 0 && (
        <Table
          name="Retention rules"
          rows={rules}
          keyOf={keyOf}
          columns={[
            { head: 'Sessions', wraps: true, cell: (rule) => targetInWords(rule) },
            { head: 'Words', label: 'words', cell: ({ contentDays }) => daysInWords(contentDays) },
            { head: 'Facts', label: 'facts', cell: ({ factsDays }) => daysInWords(factsDays) },
            {
              head: 'Actions',
              isActions: true,
              cell: (rule) =>
                canChange && (
                  <Button size="small" onClick={() => keep(rules.filter((other) => other !== rule))}>
                    Remove
                  </Button>
                ),
            },
          ]}
        />
      )}
      {rules.length === 0 && <p className="text-13 text-muted">No rule yet.</p>}
      {canChange && (
        <>
          <AddRule onAdd={(rule) => keep([...rules.filter((other) => keyOf(other) !== keyOf(rule)), rule])} />
          <div className="flex flex-wrap items-center gap-3">
            <Button size="small" disabled={preview.isPending} onClick={() => preview.mutate(rules)}>
              Show what these rules remove
            </Button>
            {preview.data && (
              <p role="status" className="text-13">
                {previewInWords(preview.data.body)}
              </p>
            )}
          </div>
          {preview.isError && <ErrorNote error={preview.error} />}
        </>
      )}
    </fieldset>
  );
}

function AddRule({ onAdd }: { onAdd: (rule: RetentionRule) => void }) {
  const [rule, setRule] = useState<{ target: string; words: string; facts: string }>(EMPTY);
  const field = (name: keyof typeof EMPTY, label: string, type = 'text') => (
    <label className="flex flex-col gap-1 text-13">
      {label}
      <input
        className={type === 'number' ? 'field w-28' : 'field w-64'}
        type={type}
        min={1}
        placeholder={type === 'number' ? 'as before' : 'all sessions'}
        value={rule[name]}
        onChange={({ target }) => setRule({ ...rule, [name]: target.value })}
      />
    </label>
  );
  const add = () => {
    onAdd({
      target: targetOf(rule.target.trim()),
      ...daysOf('contentDays', rule.words),
      ...daysOf('factsDays', rule.facts),
    });
    setRule(EMPTY);
  };
  return (
    <div className="flex flex-wrap items-end gap-3">
      {field('target', 'Repository, or live or test')}
      {field('words', 'Days of words', 'number')}
      {field('facts', 'Days of facts', 'number')}
      <Button size="small" disabled={rule.words === '' && rule.facts === ''} onClick={add}>
        Add the rule
      </Button>
    </div>
  );
}

const EMPTY = { target: '', words: '', facts: '' };

function targetOf(text: string): RetentionRule['target'] {
  if (text === '') return { kind: 'organization' };
  return { kind: text === 'live' || text === 'test' ? 'plane' : 'repository', id: text };
}

const daysOf = (field: 'contentDays' | 'factsDays', text: string) => (text === '' ? {} : { [field]: Number(text) });

const keyOf = ({ target: { kind, id } }: RetentionRule) => `${kind} ${id ?? ''}`;

const targetInWords = ({ target: { kind, id } }: RetentionRule) =>
  kind === 'organization' ? 'all' : `${kind} ${showHidden(id ?? '')}`;

function daysInWords(days: number | null | undefined): string {
  if (days === undefined) return 'as a broader rule says';
  return days === null ? 'kept for ever' : plural(days, 'day');
}

function boundsInWords({ minDays, maxDays, defaultDays }: ShownPolicy['retentionBounds']): string {
  const all = [
    minDays !== undefined && minDays > 0
      ? `The operator of this service allows no fewer than ${plural(minDays, 'day')}.`
      : '',
    maxDays === undefined ? '' : `The operator of this service keeps nothing longer than ${plural(maxDays, 'day')}.`,
    defaultDays === undefined
      ? 'Without a rule, all is kept.'
      : `Without a rule, sessions are deleted after ${plural(defaultDays, 'day')}.`,
  ];
  return all.filter((sentence) => sentence !== '').join(' ');
}

const previewInWords = ({ content, contentHeld, facts, factsHeld }: RetentionPreview) =>
  `They remove the words of ${plural(content, 'session')} now (${contentHeld} more are held), and delete ${plural(facts, 'session')} (${factsHeld} more are held).`;

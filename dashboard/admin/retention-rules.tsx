import { useState } from 'react';
import type { ShownPolicy } from '../../contract/policy.ts';
import type { RetentionPreview, RetentionRule } from '../../contract/retention.ts';
import { useRetentionPreview } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { plural } from '../kit/format.ts';
import { Table } from '../kit/table.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { FormDialog } from '../shared/form-dialog.tsx';
import { RepositoryList } from '../shared/repository-name.tsx';

interface Props {
  policy: Pick<ShownPolicy, 'retention' | 'retentionBounds' | 'retentionWaits'>;
  canChange: boolean;
  onChange: (rules: RetentionRule[]) => void;
}

/** The rules that limit how long content and facts of sessions are kept, and a form that adds a rule. */
export function RetentionRules({ policy, canChange, onChange }: Props) {
  const { retention: rules, retentionBounds: bounds, retentionWaits } = policy;
  const preview = useRetentionPreview(rules, canChange && rules.length > 0);
  const counts = new Map(preview.data?.rules.map((counted, at) => [rules[at], counted]));
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 text-13 font-medium">Retention</legend>
      <p className="text-13">
        The content of a session is its prompts, answers, calls and outputs. Once it is removed, the facts stay: files,
        tools and figures. A rule for a repository overrides a rule for a plane, which overrides the rule for all
        sessions. {boundsInWords(bounds)}
      </p>
      {retentionWaits && (
        <p role="status" className="text-13">
          Nothing is removed now, because the clock of the service may be wrong. Its log tells the operator how to go
          on.
        </p>
      )}
      {rules.length > 0 && (
        <Table
          name="Retention rules"
          rows={rules}
          keyOf={keyOf}
          columns={[
            { head: 'Sessions', wraps: true, cell: (rule) => targetInWords(counts.get(rule) ?? rule) },
            {
              head: 'Now',
              label: 'now',
              explain: 'Sessions that the rule applies to now, whatever their age',
              cell: (rule) => sessionsInWords(counts.get(rule)?.sessions),
            },
            {
              head: 'Content removed',
              label: 'content removed',
              cell: (rule) => daysInWords(rule, 'contentDays'),
            },
            { head: 'Deleted', label: 'deleted', cell: (rule) => daysInWords(rule, 'factsDays') },
            {
              head: 'Actions',
              isActions: true,
              cell: (rule) =>
                canChange && (
                  <Button size="small" onClick={() => onChange(rules.filter((other) => other !== rule))}>
                    Remove
                  </Button>
                ),
            },
          ]}
        />
      )}
      {preview.isError && <ErrorNote error={preview.error} />}
      {rules.length === 0 && <p className="text-13 text-muted">No rules yet.</p>}
      {canChange && (
        <AddRule onAdd={(rule) => onChange([...rules.filter((other) => keyOf(other) !== keyOf(rule)), rule])} />
      )}
    </fieldset>
  );
}

function AddRule({ onAdd }: { onAdd: (rule: RetentionRule) => void }) {
  const [rule, setRule] = useState<{ target: string; content: string; facts: string }>(EMPTY);
  const field = (name: keyof typeof EMPTY, label: string, type = 'text') => (
    <label className="flex flex-col gap-1 text-13">
      {label}
      <input
        className={type === 'number' ? 'field w-36' : 'field w-64'}
        type={type}
        min={1}
        list={name === 'target' ? LIST : undefined}
        placeholder={type === 'number' ? 'days' : 'all sessions'}
        value={rule[name]}
        onChange={({ target }) => setRule({ ...rule, [name]: target.value })}
      />
    </label>
  );
  const isEmpty = rule.content === '' && rule.facts === '';
  const add = () => {
    onAdd({
      target: targetOf(rule.target.trim()),
      ...daysOf('contentDays', rule.content),
      ...daysOf('factsDays', rule.facts),
    });
    setRule(EMPTY);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Enter in one of its fields would save the policy without the rule
    <div
      className="flex flex-wrap items-end gap-3"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        if (!isEmpty) add();
      }}
    >
      {field('target', 'Repository, or live or test')}
      <RepositoryList id={LIST} />
      {field('content', 'Remove content after', 'number')}
      {field('facts', 'Delete sessions after', 'number')}
      <Button disabled={isEmpty} onClick={add}>
        Add the rule
      </Button>
    </div>
  );
}

const LIST = 'repositories-for-rules';
const EMPTY = { target: '', content: '', facts: '' };

function targetOf(text: string): RetentionRule['target'] {
  if (text === '') return { kind: 'organization' };
  return { kind: text === 'live' || text === 'test' ? 'plane' : 'repository', id: text };
}

const daysOf = (field: 'contentDays' | 'factsDays', text: string) => (text === '' ? {} : { [field]: Number(text) });

const keyOf = ({ target: { kind, id } }: RetentionRule) => `${kind} ${id ?? ''}`;

const targetInWords = ({ target: { kind, id } }: Pick<RetentionRule, 'target'>) =>
  kind === 'organization' ? 'all sessions' : `${kind} ${showHidden(id ?? '')}`;

const sessionsInWords = (count: number | undefined) =>
  count === undefined ? undefined : count === 0 ? 'no session yet' : plural(count, 'session');

function daysInWords({ target, ...rule }: RetentionRule, field: 'contentDays' | 'factsDays'): string {
  const days = rule[field];
  if (days === undefined) return target.kind === 'organization' ? 'no rule' : 'by a broader rule';
  return days === null ? 'never' : `after ${plural(days, 'day')}`;
}

function boundsInWords({ minDays, maxDays, defaultDays }: ShownPolicy['retentionBounds']): string {
  const all = [
    minDays !== undefined && minDays > 0
      ? `The operator of this service requires at least ${plural(minDays, 'day')}.`
      : '',
    maxDays === undefined ? '' : `The operator of this service keeps sessions for at most ${plural(maxDays, 'day')}.`,
    defaultDays === undefined
      ? 'Without a rule, sessions are kept.'
      : `Without a rule, sessions are deleted after ${plural(defaultDays, 'day')}.`,
  ];
  return all.filter((sentence) => sentence !== '').join(' ');
}

interface ConfirmProps {
  rules: RetentionRule[];
  error: unknown;
  isSaving: boolean;
  onSave: () => void;
  onClose: () => void;
}

/** Before the rules are saved, shows what they would remove, since that is permanent. */
export function ConfirmRetention({ rules, error, isSaving, onSave, onClose }: ConfirmProps) {
  const preview = useRetentionPreview(rules);
  return (
    <FormDialog
      title="Save the retention rules"
      action="Save"
      tone={preview.data && removesNothing(preview.data) ? 'primary' : 'danger'}
      error={error ?? preview.error}
      isBlocked={isSaving || !preview.data}
      onSubmit={onSave}
      onClose={onClose}
    >
      <p role="status" className="text-13">
        {preview.isPending ? 'Counting what these rules remove…' : preview.data && previewInWords(preview.data)}
      </p>
    </FormDialog>
  );
}

const removesNothing = ({ content, facts }: RetentionPreview) => content + facts === 0;

function previewInWords(preview: RetentionPreview): string {
  const { content, facts } = preview;
  const later = 'Other sessions follow as they reach these ages.';
  const matches = matchesInWords(preview);
  if (removesNothing(preview)) return `${matches}These rules remove nothing yet. ${later}${heldInWords(preview)}`;
  const deeds = [
    content > 0 && `remove the content of ${plural(content, 'session')}`,
    facts > 0 && `delete ${plural(facts, 'session')}`,
  ].filter(Boolean);
  return `${matches}These rules ${deeds.join(' and ')} within the hour, permanently. ${later}${heldInWords(preview)}`;
}

const matchesInWords = ({ rules }: RetentionPreview) =>
  rules
    .filter(({ target }) => target.kind === 'repository')
    .map(({ target, sessions }) =>
      sessions === 0
        ? `${showHidden(target.id ?? '')} matches nothing yet. `
        : `${showHidden(target.id ?? '')} matches ${plural(sessions, 'session')}. `,
    )
    .join('');

const heldInWords = ({ contentHeld, factsHeld }: RetentionPreview) =>
  contentHeld + factsHeld > 0
    ? ` Legal holds keep ${[contentHeld > 0 && `the content of ${contentHeld} more`, factsHeld > 0 && `${factsHeld} more from deletion`].filter(Boolean).join(' and ')}.`
    : '';

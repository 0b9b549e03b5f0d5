import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { LONGEST_MASKED, type Masked, type MaskReceipt, SHORTEST_MASKED } from '../../contract/mask.ts';
import { keys, useChange, useMasks } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { Check } from '../kit/choice.tsx';
import { Dialog, DialogActions } from '../kit/dialog.tsx';
import { formatCount, plural } from '../kit/format.ts';
import { Ago } from '../kit/time.tsx';
import { FormDialog } from '../shared/form-dialog.tsx';
import { useNameOf } from '../shared/person-name.tsx';

interface Props {
  sessionId: string;
  /** The text that is marked in the session; it may be empty. */
  selected: string;
  /** The session is to be read again. */
  onMasked: () => void;
  onClose: () => void;
}

/**
 * Masks a text in the session, in two steps: it is counted where the text stands, and a person confirms that it is to be
 * masked there for good. Below, what was masked before.
 */
export function MaskDialog({ sessionId, selected, onMasked, onClose }: Props) {
  const [text, setText] = useState(selected);
  const [isSure, setSure] = useState(false);
  const count = useChange(
    async (api, wanted: string) => (await api.maskText({ sessionId, body: { text: wanted, dryRun: true } })).body,
    [],
  );
  const mask = useChange(
    async (api, wanted: string) => (await api.maskText({ sessionId, body: { text: wanted } })).body.receipt,
    [keys.masks(sessionId)],
  );
  const { mutate: look } = count;
  useEffect(() => {
    if (isFit(selected)) look(selected);
  }, [selected, look]);
  if (mask.data) return <Receipt sessionId={sessionId} receipt={mask.data} onMasked={onMasked} onClose={onClose} />;
  const found = count.data;
  const isFound = found !== undefined && found.places + found.fields > 0;
  return (
    <FormDialog
      title="Mask a text"
      action={isFound ? 'Mask for good' : 'Find it'}
      tone={isFound ? 'danger' : 'primary'}
      error={mask.error ?? count.error}
      isBlocked={count.isPending || mask.isPending || !isFit(text) || (found !== undefined && !(isFound && isSure))}
      onSubmit={() => (isFound ? mask.mutate(text) : look(text))}
      onClose={onClose}
    >
      <label className="flex flex-col gap-1 text-13">
        Text, exactly as the session has it
        <textarea
          className="field h-24 py-2 font-mono"
          required
          maxLength={LONGEST_MASKED}
          spellCheck={false}
          autoComplete="off"
          aria-describedby="mask-length"
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setSure(false);
            count.reset();
            mask.reset();
          }}
        />
        <span id="mask-length" className="text-muted">
          {SHORTEST_MASKED} to {formatCount(LONGEST_MASKED)} characters
        </span>
      </label>
      <p role="status" className="text-13">
        {mask.isPending ? 'Masking…' : count.isPending ? 'Looking through the session…' : found && wordFound(found)}
      </p>
      {isFound && (
        <div className="flex flex-col gap-3 text-13">
          <p className="text-muted">
            Exports, backups and pages that are open keep what they have. Replace a secret all the same: somebody may
            have seen it.
          </p>
          <Check isChecked={isSure} onChange={setSure}>
            Nobody can show this text again: I want it masked for good
          </Check>
        </div>
      )}
      <Receipts sessionId={sessionId} />
    </FormDialog>
  );
}

const isFit = (text: string) => text.trim().length >= SHORTEST_MASKED && text.length <= LONGEST_MASKED;

const wordFound = (found: Masked) =>
  found.places + found.fields > 0
    ? `It stands in ${wordPlaces(found)}. ${found.mark} will stand there.`
    : 'It stands nowhere in this session. Upper and lower case count, and so does each space: the tab “raw” of the inspector shows the text as it is stored.';

/** As “3 places of 2 events, and once in what the session says of itself”. */
function wordPlaces({ events, places, fields }: Pick<Masked, 'events' | 'places' | 'fields'>): string {
  const own = fields === 1 ? 'once' : `${formatCount(fields)} times`;
  return [
    ...(places > 0 || fields === 0 ? [`${plural(places, 'place')} of ${plural(events, 'event')}`] : []),
    ...(fields > 0 ? [`${own} in title, folder, repository or branch`] : []),
  ].join(', and ');
}

/** What became of it. The page is read again at its end, and not before: until then, it has the text. */
function Receipt({ sessionId, receipt, onMasked, onClose }: Omit<Props, 'selected'> & { receipt: MaskReceipt }) {
  const { data: masks = [] } = useMasks(sessionId);
  const now = masks.find(({ maskId }) => maskId === receipt.maskId) ?? receipt;
  const isOver = now.finishedAt !== undefined;
  const readAgain = useReadAgain(sessionId, onMasked);
  const done = useRef<HTMLButtonElement>(null);
  useEffect(() => done.current?.focus(), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    if (isOver) readAgain();
  }, [isOver]);
  return (
    <Dialog title={TITLES[stateOf(now)]} onClose={onClose}>
      <div className="text-13">
        <p role="status">
          {isOver ? '' : 'It goes on by itself, also where this is closed. Load the page again later. So far: '}
          {`Masked in ${wordPlaces(now)}. ${now.mark} stands there now.`}
          {now.outcome === 'held' && ' A legal hold was placed meanwhile, so the other places keep the text.'}
          {now.outcome === 'failed' &&
            ' The rest could not be masked. The log of the service says why; try it again then.'}
        </p>
      </div>
      <DialogActions>
        <Button tone="primary" ref={done} onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}

const stateOf = ({ finishedAt, outcome }: MaskReceipt) => (finishedAt === undefined ? 'running' : (outcome ?? 'done'));
const TITLES = {
  done: 'The text is masked',
  running: 'The text is being masked',
  held: 'A part of it is masked',
  cancelled: 'A part of it is masked',
  failed: 'A part of it is masked',
} as const;

/** All that was read of the session before. What is not on screen is not kept either. */
function useReadAgain(sessionId: string, onMasked: () => void) {
  const client = useQueryClient();
  return () => {
    for (const queryKey of [
      ...[keys.session(sessionId), keys.allSessions, keys.summaries, keys.allFacts, keys.prompts(sessionId)],
      ...[keys.events(sessionId), keys.allUsage],
    ]) {
      client.removeQueries({ queryKey, type: 'inactive' });
      void client.invalidateQueries({ queryKey });
    }
    onMasked();
  };
}

/** What was masked in the session, the latest first. */
function Receipts({ sessionId }: { sessionId: string }) {
  const { data: masks = [] } = useMasks(sessionId);
  const nameOf = useNameOf();
  if (masks.length === 0) return null;
  return (
    <section aria-label="Masked in this session" className="flex flex-col gap-2 border-line border-t pt-3 text-13">
      <h3 className="font-medium">Masked in this session</h3>
      <ul className="flex max-h-48 flex-col gap-2 overflow-y-auto bg-raised">
        {masks.map((receipt) => (
          <li key={receipt.maskId} className="[overflow-wrap:anywhere]">
            <code className="text-12">{receipt.mark}</code> {wordPlaces(receipt)}
            <span className="block text-muted">
              by {nameOf(receipt.by)} <Ago time={receipt.requestedAt} />
              {STATES[stateOf(receipt)]}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const STATES = {
  done: '',
  running: ', still going on',
  held: ', stopped by a legal hold',
  cancelled: ', cancelled before its end',
  failed: ', failed before its end',
} as const;

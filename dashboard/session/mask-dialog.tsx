import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { MAX_MASKED, type Masked, type MaskReceipt, MIN_MASKED } from '../../contract/mask.ts';
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
  /** The text selected in the session; it may be empty. */
  selected: string;
  /** Called when the session has to be read again. */
  onMasked: () => void;
  onClose: () => void;
}

/**
 * Masks a text in the session in two steps: the service counts its occurrences, and the person confirms that they are
 * masked permanently. Earlier masks are listed below.
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
      action={isFound ? 'Mask permanently' : 'Find'}
      tone={isFound ? 'danger' : 'primary'}
      error={mask.error ?? count.error}
      isBlocked={count.isPending || mask.isPending || !isFit(text) || (found !== undefined && !(isFound && isSure))}
      onSubmit={() => (isFound ? mask.mutate(text) : look(text))}
      onClose={onClose}
    >
      <label className="flex flex-col gap-1 text-13">
        Text, exactly as in the session
        <textarea
          className="field h-24 py-2 font-mono"
          required
          maxLength={MAX_MASKED}
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
          {MIN_MASKED} to {formatCount(MAX_MASKED)} characters
        </span>
      </label>
      <p role="status" className="text-13">
        {mask.isPending ? 'Masking…' : count.isPending ? 'Searching the session…' : found && wordFound(found)}
      </p>
      {isFound && (
        <div className="flex flex-col gap-3 text-13">
          <p className="text-muted">
            Exports, backups and open pages keep the text. Whoever has an earlier receipt of this session can test
            guesses of a short text. If it is a secret, replace it: somebody may have seen it.
          </p>
          <Check isChecked={isSure} onChange={setSure}>
            Mask it permanently: nobody can restore this text
          </Check>
        </div>
      )}
      <Receipts sessionId={sessionId} />
    </FormDialog>
  );
}

const isFit = (text: string) => text.trim().length >= MIN_MASKED && text.length <= MAX_MASKED;

const wordFound = (found: Masked) =>
  (found.places + found.fields > 0
    ? `Found in ${wordPlaces(found)}. ${found.mark} will replace it.`
    : 'Not found in this session. Case and spaces must match exactly: the tab “raw” of the inspector shows the stored text.') +
  wordLeft(found);

const wordLeft = ({ left = [], incomplete }: Masked) =>
  (incomplete ? ' A payload has too many short parts to be searched completely, so the text may be in it, too.' : '') +
  (left.length === 0
    ? ''
    : ` It also occurs in ${left.join(', ')}, and stays there: figures and models are not masked.`);

/** For example “3 places of 2 events, and once in title, folder, repository or branch”. */
function wordPlaces({ events, places, fields }: Pick<Masked, 'events' | 'places' | 'fields'>): string {
  const own = fields === 1 ? 'once' : `${formatCount(fields)} times`;
  return [
    ...(places > 0 || fields === 0 ? [`${plural(places, 'place')} of ${plural(events, 'event')}`] : []),
    ...(fields > 0 ? [`${own} in title, folder, repository or branch`] : []),
  ].join(', and ');
}

/** The progress of a mask. The page is read again when the mask has finished, since the session has the text until then. */
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
          {isOver ? '' : 'Masking continues if you close this dialog. Reload the page later. So far: '}
          {`Masked in ${wordPlaces(now)}. ${now.mark} replaces it.`}
          {now.outcome === 'held' && ' A legal hold was placed in the meantime, so the other places keep the text.'}
          {now.outcome === 'failed' &&
            ' The rest could not be masked. Check the log of the service for the reason, then try again.'}
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
  held: 'The text is masked in part',
  cancelled: 'The text is masked in part',
  failed: 'The text is masked in part',
} as const;

/** Reads all data of the session again. Data that is not on screen is dropped from the cache. */
function useReadAgain(sessionId: string, onMasked: () => void) {
  const client = useQueryClient();
  return () => {
    for (const queryKey of [
      ...[keys.session(sessionId), keys.allSessions, keys.summaries, keys.allFacts],
      ...[keys.events(sessionId), keys.allUsage],
    ]) {
      client.removeQueries({ queryKey, type: 'inactive' });
      void client.invalidateQueries({ queryKey });
    }
    onMasked();
  };
}

/** The masks of the session, the latest first. */
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
  running: ', in progress',
  held: ', stopped by a legal hold',
  cancelled: ', cancelled before it finished',
  failed: ', failed before it finished',
} as const;

import { Circle, CircleCheck, CircleDot } from 'lucide-react';
import type { ResultEntry } from '../../transcript/entry/entry.ts';
import { asArray, asObject, asParsedObject, asText } from '../../transcript/entry/value.ts';
import { showHidden } from '../kit/text/controls.ts';
import { usePayload } from './use-payload.ts';

export interface Todo {
  text: string;
  status: 'pending' | 'in_progress' | 'completed';
}

const STATUSES = ['pending', 'in_progress', 'completed'] as const;
const MOST = 100;

/** The to-do list that a call sets: `todos` of Claude Code or `plan` of Codex; undefined for other calls. */
export function readTodos(input: unknown): Todo[] | undefined {
  const { todos, plan } = asParsedObject(input);
  const list = Array.isArray(todos) ? todos : plan;
  return Array.isArray(list) ? readList(list) : undefined;
}

const readList = (list: unknown): Todo[] =>
  asArray(list)
    .slice(0, MOST)
    .flatMap((each) => {
      const { content, step, text, status } = asObject(each);
      const words = asText(content) ?? asText(step) ?? asText(text);
      const known = STATUSES.find((name) => name === status) ?? 'pending';
      return words === undefined ? [] : [{ text: words.slice(0, 500), status: known }];
    });

const MARKS = { pending: Circle, in_progress: CircleDot, completed: CircleCheck };
const NAMES = { pending: 'to do', in_progress: 'begun', completed: 'done' };

interface Props {
  todos: readonly Todo[];
  /** The result, which may contain the previous list. */
  before: ResultEntry | undefined;
  sessionId: string;
}

/** A checklist that highlights new entries and changed states. */
export function Todos({ todos, before, sessionId }: Props) {
  const { data } = usePayload(sessionId, before?.sequence, before?.span);
  const old = new Map(readList(asObject(data?.payload.detail).oldTodos).map(({ text, status }) => [text, status]));
  return (
    <ul className="flex flex-col gap-1 py-1">
      {todos.map(({ text, status }, index) => {
        const Mark = MARKS[status];
        const isChanged = data !== undefined && old.get(text) !== status;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the entries of a list never move
          <li key={index} className={`flex items-start gap-2 ${isChanged ? 'font-medium' : 'text-muted'}`}>
            <Mark size={14} aria-label={NAMES[status]} className="mt-0.5 flex-none" />
            <span className={status === 'completed' ? 'line-through' : ''}>{showHidden(text)}</span>
            {isChanged && <span className="text-12 text-muted">{old.has(text) ? NAMES[status] : 'new'}</span>}
          </li>
        );
      })}
    </ul>
  );
}

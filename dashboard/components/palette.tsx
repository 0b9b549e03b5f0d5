import { useNavigate, useSearch } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { SquareTerminal } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { paths } from '../paths.ts';
import { useSessions } from '../queries.ts';
import { agentName } from './agent-name.tsx';
import { PAGES } from './rail.tsx';
import { titleOf } from './session-title.ts';

/** Every page and the latest sessions, a few letters away. */
export function Palette({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  const navigate = useNavigate();
  const { plane } = useSearch({ from: '__root__' });
  const sessions = useSessions({ plane }).data?.pages[0]?.sessions ?? [];
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    ref.current?.showModal();
    input.current?.focus();
  }, []);
  const go = (to: string) => {
    onClose();
    void navigate({ to });
  };
  return (
    <dialog
      ref={ref}
      aria-label="Go to"
      onClose={onClose}
      onKeyDown={(event) => event.stopPropagation()}
      onClick={(event) => event.target === ref.current && onClose()}
      className="mt-[12vh] w-[calc(100vw-32px)] max-w-[560px] rounded-md border border-line bg-raised p-0 shadow-float"
    >
      <Command label="Go to" className="flex flex-col" loop>
        <Command.Input
          ref={input}
          placeholder="A page or a session…"
          className="h-11 border-line border-b bg-transparent px-4 text-14 outline-none"
        />
        <Command.List className="max-h-[50vh] overflow-y-auto p-1">
          <Command.Empty className="px-3 py-6 text-center text-13 text-muted">Nothing of that name.</Command.Empty>
          <Command.Group heading="Pages" className="palette-group">
            {PAGES.map(({ to, label, icon: Icon }) => (
              <Command.Item key={to} value={`page ${label}`} className="menu-item" onSelect={() => go(to)}>
                <Icon size={16} aria-hidden />
                {label}
              </Command.Item>
            ))}
          </Command.Group>
          {sessions.length > 0 && (
            <Command.Group heading="Recent sessions" className="palette-group">
              {sessions.map(({ session, summary }) => {
                const title = titleOf(session, summary);
                return (
                  <Command.Item
                    key={session.sessionId}
                    value={`${title} ${session.agentId} ${session.sessionId}`}
                    className="menu-item"
                    onSelect={() => go(paths.session(session.sessionId))}
                  >
                    <SquareTerminal size={16} aria-hidden />
                    <span className="grow truncate">{title}</span>
                    <span className="whitespace-nowrap text-12 text-muted">{agentName(session.agentId)}</span>
                  </Command.Item>
                );
              })}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </dialog>
  );
}

import { Download } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import type { Session } from '../../../contract/session.ts';
import { useApp } from '../../app.ts';
import { showHidden } from '../../text/controls.ts';
import { toHtml } from '../../timeline/html.ts';
import { toMarkdown } from '../../timeline/markdown.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../error-note.tsx';
import { readAllEvents, readWholeTimeline, save } from './download.ts';

interface Props {
  session: Session;
  title: string;
}

/** The session as a file: its events as they are stored, or what can be read of it. */
export function DownloadMenu({ session: { sessionId }, title }: Props) {
  const { api } = useApp();
  const [error, setError] = useState<unknown>();
  const ways: [label: string, run: () => unknown][] = [
    [
      'Events (JSONL)',
      async () => save(`${sessionId}.jsonl`, 'application/x-ndjson', await readAllEvents(api, sessionId)),
    ],
    [
      'Conversation (Markdown)',
      async () => {
        const { items } = await readWholeTimeline(api, sessionId);
        save(`${sessionId}.md`, 'text/markdown', `# ${showHidden(title)}\n\n${toMarkdown(items)}\n`);
      },
    ],
    [
      'Page (HTML, one file)',
      async () =>
        save(`${sessionId}.html`, 'text/html', toHtml(await readWholeTimeline(api, sessionId), showHidden(title))),
    ],
  ];
  return (
    <>
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger asChild>
          <Button size="small" tone="quiet" icon aria-label="Download">
            <Download size={14} />
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu" align="end">
            {ways.map(([label, run]) => (
              <DropdownMenu.Item
                key={label}
                className="menu-item"
                onSelect={() => void Promise.resolve().then(run).catch(setError)}
              >
                {label}
              </DropdownMenu.Item>
            ))}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {error !== undefined && (
        <Dialog title="The session could not be downloaded" onClose={() => setError(undefined)}>
          <ErrorNote error={error} />
        </Dialog>
      )}
    </>
  );
}

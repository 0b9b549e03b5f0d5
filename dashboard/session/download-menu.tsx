import { Download } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import { useApp } from '../app/app.ts';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { readAllEvents, readWholeTimeline, save } from './download.ts';
import { toHtml } from './model/html.ts';
import { type Head, toMarkdownFile } from './model/markdown.ts';

interface Props {
  sessionId: string;
  title: string;
  /** What the file says of the session before what was said in it. */
  head: () => Head;
}

/** The session as a file: its events as they are stored, or what can be read of it. */
export function DownloadMenu({ sessionId, title, head }: Props) {
  const { api } = useApp();
  const [error, setError] = useState<unknown>();
  const ways: [label: string, ending: string, type: string, make: () => Promise<string[]>][] = [
    ['Events (JSONL)', 'jsonl', 'application/x-ndjson', () => readAllEvents(api, sessionId, head())],
    [
      'Conversation (Markdown)',
      'md',
      'text/markdown',
      async () => [toMarkdownFile(title, head(), (await readWholeTimeline(api, sessionId)).items)],
    ],
    [
      'Page (HTML, one file)',
      'html',
      'text/html',
      async () => [toHtml(await readWholeTimeline(api, sessionId), title, head())],
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
            {ways.map(([label, ending, type, make]) => (
              <DropdownMenu.Item
                key={label}
                className="menu-item"
                onSelect={() => void make().then((texts) => save(`${sessionId}.${ending}`, type, texts), setError)}
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

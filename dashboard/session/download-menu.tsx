import { Download } from 'lucide-react';
import { useState } from 'react';
import { useApp } from '../app/app.ts';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { Menu, MenuItem } from '../kit/menu.tsx';
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
      <Menu
        trigger={
          <Button size="small" tone="quiet" icon aria-label="Download">
            <Download size={14} />
          </Button>
        }
      >
        {ways.map(([label, ending, type, make]) => (
          <MenuItem
            key={label}
            onSelect={() => make().then((texts) => save(`${sessionId}.${ending}`, type, texts), setError)}
          >
            {label}
          </MenuItem>
        ))}
      </Menu>
      {error !== undefined && (
        <Dialog title="The session could not be downloaded" onClose={() => setError(undefined)}>
          <ErrorNote error={error} />
        </Dialog>
      )}
    </>
  );
}

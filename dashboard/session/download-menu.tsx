import { Download, FileCode, FileJson, FileText, type LucideIcon, Printer } from 'lucide-react';
import { useState } from 'react';
import { useApp } from '../app/app.ts';
import { Button } from '../kit/button.tsx';
import { useCommands } from '../kit/commands.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Menu, MenuGroup, MenuItem } from '../kit/menu.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { type Head, toMarkdownFile } from './model/markdown.ts';
import { usePrint } from './print.tsx';

// Loaded with the first download, so that the timeline does not wait for them.
const loadDownload = () => import('./download.ts');
const loadHtml = () => import('./model/html.ts');

interface Props {
  sessionId: string;
  title: string;
  /** Facts about the session, written at the top of the file. */
  head: () => Head;
}

interface Way {
  label: string;
  icon: LucideIcon;
  ending: string;
  type: string;
  make: () => Promise<string[]>;
}

/** Saves the session as a file or prints it: the stored events, or the readable conversation. */
export function DownloadMenu({ sessionId, title, head }: Props) {
  const { api } = useApp();
  const [failed, setFailed] = useState<{ how: 'downloaded' | 'printed'; error: unknown }>();
  const read = async () => {
    const { eachEvent, readWholeTimeline } = await loadDownload();
    return readWholeTimeline(eachEvent(api, sessionId));
  };
  const { print, printed } = usePrint(
    async () => (await loadHtml()).toHtmlBody(await read(), title, head()),
    (error) => setFailed({ how: 'printed', error }),
  );
  const ways: readonly Way[] = [
    {
      label: 'Events (JSONL)',
      icon: FileJson,
      ending: 'jsonl',
      type: 'application/x-ndjson',
      make: async () => (await loadDownload()).readAllEvents(api, sessionId, head()),
    },
    {
      label: 'Conversation (Markdown)',
      icon: FileText,
      ending: 'md',
      type: 'text/markdown',
      make: async () => [toMarkdownFile(title, head(), (await read()).items)],
    },
    {
      label: 'Page (HTML, one file)',
      icon: FileCode,
      ending: 'html',
      type: 'text/html',
      make: async () => [(await loadHtml()).toHtml(await read(), title, head())],
    },
  ];
  const download = ({ ending, type, make }: Way) =>
    make().then(
      (texts) => save(`${sessionId}.${ending}`, type, texts),
      (error: unknown) => setFailed({ how: 'downloaded', error }),
    );
  useCommands([
    ...ways.map((way) => ({ label: `Download: ${way.label}`, icon: way.icon, does: () => download(way) })),
    { label: 'Print the session', icon: Printer, does: print },
  ]);
  return (
    <>
      <Menu
        trigger={
          <Button size="small" tone="quiet" icon aria-label="Download">
            <Download size={14} />
          </Button>
        }
      >
        {ways.map((way) => (
          <MenuItem key={way.label} icon={way.icon} onSelect={() => download(way)}>
            {way.label}
          </MenuItem>
        ))}
        <MenuGroup>
          <MenuItem icon={Printer} onSelect={print}>
            Print…
          </MenuItem>
        </MenuGroup>
      </Menu>
      {printed}
      {failed && (
        <Dialog title={`The session could not be ${failed.how}`} onClose={() => setFailed(undefined)}>
          <ErrorNote error={failed.error} />
        </Dialog>
      )}
    </>
  );
}

/** Saves texts, one after another, as a file. */
function save(name: string, type: string, texts: readonly string[]): void {
  const address = URL.createObjectURL(new Blob([...texts], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

import { Check } from 'lucide-react';
import { Lines } from '../kit/lines.tsx';
import { showHidden } from '../kit/text/controls.ts';
import type { ChangedFile } from './model/changed-files.ts';
import type { Folder } from './model/file-tree.ts';
import type { Viewed } from './viewed-files.ts';

interface Props {
  tree: Folder;
  current: ChangedFile | undefined;
  viewed: Viewed;
  onGo: (file: ChangedFile) => void;
}

/** The changed files by folder; each links to its changes. */
export const FileTree = (props: Props) => (
  <nav
    aria-label="Changed files"
    className="w-[280px] flex-none overflow-auto border-r border-line bg-surface px-2 py-3 text-12/5 max-lg:hidden"
  >
    <Level {...props} />
  </nav>
);

function Level({ tree: { folders, files }, current, viewed, onGo }: Props) {
  return (
    <ul>
      {folders.map((folder) => (
        <li key={folder.name}>
          <p className="truncate px-2 py-0.5 text-muted" title={showHidden(folder.name)}>
            {showHidden(folder.name)}
          </p>
          <div className="pl-3">
            <Level tree={folder} {...{ current, viewed, onGo }} />
          </div>
        </li>
      ))}
      {files.map(({ name, file }) => (
        <li key={file.path}>
          <button
            type="button"
            className="flex w-full cursor-pointer items-center gap-2 rounded-sm px-2 py-0.5 text-left hover:bg-hover aria-[current]:bg-selected data-viewed:text-muted"
            aria-current={file === current || undefined}
            data-viewed={viewed.has(file) || undefined}
            onClick={() => onGo(file)}
          >
            <span className="min-w-0 grow truncate" title={showHidden(file.path)}>
              {showHidden(name)}
            </span>
            {viewed.has(file) && <Check size={12} aria-label="viewed" className="flex-none" />}
            <Lines added={file.added} removed={file.removed} />
          </button>
        </li>
      ))}
    </ul>
  );
}

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
  <nav aria-label="Changed files" className="file-tree">
    <Level {...props} />
  </nav>
);

function Level({ tree: { folders, files }, current, viewed, onGo }: Props) {
  return (
    <ul>
      {folders.map((folder) => (
        <li key={folder.name}>
          <p className="file-tree-folder" title={showHidden(folder.name)}>
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
            className="file-tree-file"
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

import { relativePath } from '../../kit/format.ts';
import type { ChangedFile } from './changed-files.ts';

/** A folder with its changed files. A folder that only contains another folder is merged with it. */
export interface Folder {
  /** Relative to the parent folder: `src/model`. */
  name: string;
  folders: readonly Folder[];
  files: readonly { name: string; file: ChangedFile }[];
}

interface Growing {
  folders: Map<string, Growing>;
  files: { name: string; file: ChangedFile }[];
}

/** @param base paths in this folder are shown relative to it */
export function toTree(files: readonly ChangedFile[], base: string | undefined): Folder {
  const root = newFolder();
  for (const file of files) {
    const parts = relativePath(file.path, base).split(/[\\/]/);
    const name = parts.pop() as string;
    let folder = root;
    for (const part of parts) {
      const next = folder.folders.get(part) ?? newFolder();
      folder.folders.set(part, next);
      folder = next;
    }
    folder.files.push({ name, file });
  }
  return finish('', root, true);
}

const newFolder = (): Growing => ({ folders: new Map(), files: [] });

function finish(name: string, { folders, files }: Growing, isRoot = false): Folder {
  const [only, ...others] = folders;
  if (!isRoot && only && others.length === 0 && files.length === 0) return finish(`${name}/${only[0]}`, only[1]);
  return {
    name,
    folders: [...folders].map(([each, folder]) => finish(each, folder)).sort(byName),
    files: files.toSorted(byName),
  };
}

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);

/** The files in the order of the tree: folders first. */
export const filesOf = ({ folders, files }: Folder): ChangedFile[] => [
  ...folders.flatMap(filesOf),
  ...files.map(({ file }) => file),
];

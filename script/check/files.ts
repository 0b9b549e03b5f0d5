import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

interface TextFile {
  path: string;
  text: string;
}

/** Text files of the repository, including new ones. */
export function textFiles(): TextFile[] {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    encoding: 'utf8',
  });
  const files = list
    .split('\0')
    .filter((path) => path !== '' && existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
    .filter(({ text }) => !text.includes('\0'));
  if (files.length === 0) throw new Error('git lists no file, so nothing can be checked');
  return files;
}

/** Source files that are neither generated nor recorded. */
export const sourceFiles = (): TextFile[] =>
  textFiles().filter(
    ({ path }) =>
      (/\.(ts|tsx|mjs|css|sh)$/.test(path) || /^script\/\w+$/.test(path)) &&
      !/^samples\/|\/(fixtures|golden)\/|\.gen\.ts$/.test(path),
  );

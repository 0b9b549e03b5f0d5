import { formatCount } from './format.ts';

interface Props {
  added: number;
  removed: number;
  format?: (count: number) => string;
  /** A count of 0 is left out. */
  hidesZero?: boolean;
}

/** The numbers of added and removed lines: `+12 −3`. */
export const Lines = ({ added, removed, format = formatCount, hidesZero = false }: Props) => (
  <span className="num whitespace-nowrap">
    {(added > 0 || !hidesZero) && <span className="text-ok">+{format(added)}</span>}{' '}
    {(removed > 0 || !hidesZero) && <span className="text-bad">−{format(removed)}</span>}
  </span>
);

import type { CSSProperties, ReactNode } from 'react';

export interface Pair {
  name: string;
  /** Shown in place of the name. */
  head?: ReactNode;
  /** A pair without a value is left out. */
  value: ReactNode;
  title?: string | undefined;
}

interface Props {
  pairs: readonly Pair[];
  /** `lined`: a rule below each pair; `figures`: pairs side by side, each name above its value. */
  look?: 'lined' | 'figures';
  /** The width of the names in pixels. */
  nameWidth?: number;
}

/** Names and values. */
export function Pairs({ pairs, look, nameWidth }: Props) {
  return (
    <dl className="pairs" data-look={look} style={{ '--name-width': nameWidth && `${nameWidth}px` } as CSSProperties}>
      {pairs.map(({ name, head = name, value, title }) =>
        value === undefined || value === '' ? null : (
          <div key={name} title={title}>
            <dt>{head}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

import { loadavg } from 'node:os';
import { formatTable, type Row } from '../report.ts';

/** Reports a row as soon as it is measured. */
export type Tell = (what: string, figure: number, unit: string, goal: string, detail?: string) => void;

export interface Parts {
  rows: readonly Row[];
  /** Runs one of several measurements. If it fails, a row gives the reason, and the others still run. */
  run(name: string, measure: (tell: Tell) => Promise<void>): Promise<void>;
}

/** The parts of a long bench. It prints the progress and each row to stderr, so that an aborted run has shown its results. */
export function createParts(): Parts {
  const began = performance.now();
  const rows: Row[] = [];
  const say = (words: string) => {
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stderr.write(`${String(seconds).padStart(5)} s, load ${loadOf()}: ${words}\n`);
  };
  const add = (row: Row) => {
    rows.push(row);
    process.stderr.write(`${formatTable([row]).split('\n')[2]}\n`);
  };
  return {
    rows,
    async run(name, measure) {
      say(name);
      try {
        await measure((what, figure, unit, goal, detail = '') =>
          // The load is needed to judge the figures.
          add({ ...{ what, figure, unit, goal }, detail: [detail, `load ${loadOf()}`].filter(Boolean).join('; ') }),
        );
      } catch (error) {
        const [reason] = String(error).split('\n');
        add({ what: name, figure: Number.NaN, unit: '', goal: '', detail: `not measured: ${reason}` });
      }
    },
  };
}

const loadOf = () => (loadavg()[0] ?? 0).toFixed(1);

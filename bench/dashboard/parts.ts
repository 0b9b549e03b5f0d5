import { loadavg } from 'node:os';
import { formatTable, type Row } from '../report.ts';

/** Takes a row as soon as it is known. */
export type Tell = (what: string, figure: number, unit: string, goal: string, detail?: string) => void;

export interface Parts {
  rows: readonly Row[];
  /** Runs one of several things that are measured. Where it fails, a row says why, and the others are measured all the same. */
  run(name: string, measure: (tell: Tell) => Promise<void>): Promise<void>;
}

/** Of a long bench. On stderr it says how far it is, and each row as it comes: what is cut short has told what it knew. */
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
          // Figures of a busy machine are read beside its load.
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

import type { MetaEntry } from './entry.ts';

export interface Meta {
  title?: string;
  cwd?: string;
  repository?: string;
  branch?: string;
  commit?: string;
  model?: string;
  forkedFrom?: string;
}

/** Later facts replace earlier ones, with one exception: a title from a person stays when the agent invents one. */
export function foldMeta(metas: readonly MetaEntry[]): Meta {
  let facts: Record<string, string> = {};
  let titleByPerson = false;
  for (const { facts: later } of metas) {
    const { titleBy, title, ...others } = later;
    facts = { ...facts, ...others };
    if (title === undefined || (titleByPerson && titleBy === 'agent')) continue;
    facts.title = title;
    titleByPerson = titleBy === 'person';
  }
  return facts;
}

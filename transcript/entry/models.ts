import type { Entry } from './entry.ts';

/** The models that the entries of a session have named last: of the session, and of each sub-agent by lane. */
export interface Models {
  model?: string;
  laneModels: Map<string, string>;
}

/** The most sub-agents that are remembered: those that named their model last. */
const MAX_LANES = 40;

/**
 * Notes the model that an entry names. Some agents write their own messages under the model `<synthetic>`. The settings of a
 * sub-agent are not those of the session.
 */
export function noteModels(models: Models, entry: Entry): void {
  const { kind, lane } = entry;
  const named = namedModel(entry);
  if (!named || named.startsWith('<')) return;
  const { laneModels } = models;
  if (lane !== undefined) {
    laneModels.delete(lane);
    laneModels.set(lane, named);
    const [oldest] = laneModels.keys();
    if (laneModels.size > MAX_LANES && oldest !== undefined) laneModels.delete(oldest);
  }
  if (lane === undefined || kind !== 'meta') models.model = named;
}

function namedModel(entry: Entry): string | undefined {
  if (entry.kind === 'usage') return entry.usage.model;
  if (entry.kind === 'meta') return entry.facts.model;
  return 'model' in entry ? entry.model : undefined;
}

/** The model of a response that does not name its own. */
export const modelFor = ({ model, laneModels }: Models, lane: string | undefined): string | undefined =>
  (lane === undefined ? undefined : laneModels.get(lane)) ?? model;

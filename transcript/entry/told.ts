import type { Entry, Told } from './entry.ts';
import { type ClaudeUsage, readRest } from './rest-usage.ts';
import { readClaudeUsage, readTerms, type Terms, type Usage } from './usage.ts';
import { asArray, asNumber, asObject, asText, type Loose } from './value.ts';

/*
 * An event may describe responses whose tokens another event reports. Earlier versions of the command line left a part of Claude
 * Code's usage in the rest of the first event of a record, and Codex reports the service tier with its settings.
 */

/** What the entries of a session have told last: about a record, and in the settings of the session and each sub-agent. */
export interface Tellings {
  told?: Told;
  /** By lane; the session's own are under the empty name. */
  settings: Map<string, Terms>;
}

/** The most sub-agents whose settings are remembered: those that told them last. */
const MAX_SETTINGS = 40;

/** The most further responses of a response. */
const MAX_OTHERS = 20;

/** Reads what an event tells about responses. */
export function readTold(eventType: string, payload: Loose): Pick<Entry, 'told'> {
  if (eventType === 'session.meta') {
    const { tier } = readTerms({ ...readRest(payload.rest), ...payload });
    return tier === undefined ? {} : { told: { tier } };
  }
  const usage: ClaudeUsage = asObject(asObject(asObject(payload.rest).message).usage);
  const record = asText(asObject(payload.source).record);
  if (eventType === 'usage' || record === undefined || Object.keys(usage).length === 0) return {};
  const found = readRest(payload.rest);
  const cacheWrite1h = asNumber(found.cacheWrite1hTokens) ?? 0;
  const webSearches = asNumber(found.webSearches) ?? 0;
  const others = readOthers(usage);
  const told: Told = {
    ...readTerms(found),
    ...(cacheWrite1h > 0 && { cacheWrite1h }),
    ...(webSearches > 0 && { webSearches }),
    ...(others.length > 0 && { others }),
  };
  return Object.keys(told).length === 0 ? {} : { told: { record, ...told } };
}

const PURPOSES: Readonly<Record<string, string>> = { advisor_message: 'advisor', compaction: 'compaction' };

/** The usage of a response excludes what its advisors and compactions used, and includes its other iterations. */
function readOthers(usage: ClaudeUsage): Usage[] {
  const found = asArray(usage.iterations).flatMap((iteration) => {
    const { type, model, ...counts } = asObject(iteration);
    const purpose = PURPOSES[asText(type) ?? ''];
    return purpose === undefined ? [] : [{ ...readClaudeUsage(undefined, model, counts), purpose }];
  });
  return found.slice(0, MAX_OTHERS);
}

export function noteTold(tellings: Tellings, { told, lane = '' }: Entry): void {
  if (!told) return;
  if (told.record !== undefined) {
    tellings.told = told;
    return;
  }
  const { settings } = tellings;
  settings.delete(lane);
  settings.set(lane, told);
  const [oldest] = settings.keys();
  if (settings.size > MAX_SETTINGS && oldest !== undefined) settings.delete(oldest);
}

/** The responses whose tokens an entry reports. */
export function usagesOf({ told, settings }: Tellings, entry: Entry): readonly Usage[] {
  if (entry.kind !== 'usage') return entry.echo?.usage ? [entry.echo.usage] : [];
  const { usage, record } = entry;
  const own = told !== undefined && told.record === record ? told : undefined;
  const { cacheWrite1h = 0, webSearches = 0, others = [], record: _, ...terms } = own ?? {};
  const complete: Usage = {
    ...settings.get(entry.lane ?? ''),
    ...terms,
    ...usage,
    cacheWrite1h: Math.min(usage.cacheWrite, Math.max(usage.cacheWrite1h, cacheWrite1h)),
    webSearches: Math.max(usage.webSearches, webSearches),
  };
  const { responseId } = usage;
  return [
    complete,
    ...others.map((other, at) => ({
      ...(complete.model !== undefined && { model: complete.model }),
      ...other,
      ...(responseId !== undefined && { responseId: `${responseId}:${other.purpose}:${at}` }),
    })),
  ];
}

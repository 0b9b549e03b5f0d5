import type { Gap } from '../../contract/environment.ts';
import { GAP_KINDS } from '../../contract/gap-kinds.ts';
import type { Agent } from '../agents/agent.ts';
import type { Context } from '../context.ts';
import { openPolicy } from '../pipeline.ts';
import { findFolders, type LocalGap } from '../read/unknown.ts';
import type { MetForm } from '../spool/forms.ts';
import type { Spool } from '../spool/open.ts';
import { VERSION } from '../version.ts';
import type { AgentTranscripts } from './transcripts.ts';

/**
 * All gaps of this machine. The agents' own folders were inspected before; other folders are looked up by their names, and
 * what the readers did not know was counted while they read. `isAsked`: whether to respect the person's wishes.
 */
export function findGaps(
  context: Context,
  spool: Spool,
  inspected: readonly AgentTranscripts[],
  isAsked: boolean,
): LocalGap[] {
  const folders = findFolders(context);
  return [
    ...inspected.flatMap(({ gaps }) => gaps),
    ...(isAsked ? leaveOutUnwanted(folders, context, spool) : folders),
    ...findUnfamiliar(spool.forms.list(), context.agents, context.now()),
  ];
}

/** Leaves out folders that the person has excluded. */
function leaveOutUnwanted(gaps: readonly LocalGap[], context: Context, spool: Spool): readonly LocalGap[] {
  // Reading the person's wishes is worth it only if there is something to ask about.
  if (gaps.length === 0) return gaps;
  const policy = openPolicy(context, spool);
  policy.refresh();
  return gaps.filter(({ what = '' }) => policy.objectionToFolder(what) === undefined);
}

export const isRead = ({ kind }: Pick<LocalGap, 'kind'>): boolean => GAP_KINDS[kind].isRead;

/** What was met earlier than this is over: the agent has changed since, or the line is old. */
const RECENT_MS = 30 * 86_400_000;
/** Fewer records say nothing about a version. */
const MIN_RECORDS = 100;
/** A new field in a smaller share of a version's records is rare. */
const RISEN_SHARE = 0.2;

function findUnfamiliar(forms: readonly MetForm[], agents: readonly Agent[], now: number): LocalGap[] {
  return agents.flatMap((agent) => {
    const own = forms.filter((form) => form.agent === agent.id);
    const recent = own.filter(({ metAt }) => now - metAt < RECENT_MS);
    return [...findLines(agent, recent), ...findTypes(agent, recent), ...findRisen(agent, own, now)];
  });
}

const gapOf = ({ id, displayName }: Agent, kind: LocalGap['kind'], version: string, count: number): LocalGap => ({
  ...{ kind, agent: id, name: displayName, count },
  ...(version !== '' && { version }),
});

const findLines = (agent: Agent, forms: readonly MetForm[]): LocalGap[] =>
  forms.filter(({ kind }) => kind === 'line').map(({ version, records }) => gapOf(agent, 'line', version, records));

/** A reader of this version met them. An earlier one may not have known what this one knows. */
function findTypes(agent: Agent, forms: readonly MetForm[]): LocalGap[] {
  const { plainRecords = [] } = agent;
  if (plainRecords === 'all') return [];
  const types = forms.filter(
    ({ kind, name, reader }) =>
      kind === 'record' && reader === VERSION && !name.startsWith('duplicate:') && !plainRecords.includes(name),
  );
  return [...Map.groupBy(types, ({ version }) => version)].map(([version, all]) => ({
    ...gapOf(agent, 'record', version, all.length),
    what: all.map(({ name }) => name || 'without a type').join(', '),
  }));
}

/** Fields that no version before the latest one had, and that many records of the latest one have. */
function findRisen(agent: Agent, forms: readonly MetForm[], now: number): LocalGap[] {
  const versions = forms
    .filter(({ kind, version, records }) => kind === 'all' && version !== '' && records >= MIN_RECORDS)
    .sort((one, other) => one.version.localeCompare(other.version, 'en', { numeric: true }));
  const latest = versions.at(-1);
  if (latest === undefined || versions.length < 2 || now - latest.metAt >= RECENT_MS) return [];
  const fields = forms.filter(({ kind }) => kind === 'field');
  const before = new Set(fields.filter(({ version }) => version !== latest.version).map(({ name }) => name));
  const risen = fields.filter(
    ({ version, name, records }) =>
      version === latest.version && !before.has(name) && records >= latest.records * RISEN_SHARE,
  );
  if (risen.length === 0) return [];
  return [{ ...gapOf(agent, 'field', latest.version, risen.length), what: risen.map(({ name }) => name).join(', ') }];
}

/** The service accepts this many. */
const MAX_REPORTED = 64;

/** The gaps without any name of a file, table or field: one for each kind, agent and version. */
export function reportGaps(gaps: readonly LocalGap[]): Gap[] {
  const groups = Map.groupBy(gaps, ({ kind, agent, version = '' }) => `${kind} ${agent} ${version}`).values();
  const all = [...groups].map(([first, ...others]): Gap => {
    const { kind, agent, version, count } = first as LocalGap;
    const sum = others.reduce((total, other) => total + other.count, count);
    return { kind, agent, ...(version !== undefined && { version }), count: sum };
  });
  return all.sort((one, other) => other.count - one.count).slice(0, MAX_REPORTED);
}

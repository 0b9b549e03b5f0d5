import { CompiledQuery, type KyselyPlugin, type RootOperationNode } from 'kysely';
import type { Db } from '../store/schema.ts';
import type { TestStore } from './engines.ts';

/** One node of PostgreSQL's plan with its actual figures. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Filter?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

const flatten = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flatten)];

/** The store's plan for the exact query that one of its functions makes: SQLite's rows, or PostgreSQL's document. */
export async function explain(
  { db: asked, engine }: TestStore,
  query: (db: Db) => Promise<unknown>,
): Promise<Record<string, unknown>[]> {
  let made: CompiledQuery | undefined;
  const executor = asked.getExecutor();
  const db = asked.withPlugin({
    transformQuery({ node, queryId }) {
      made = executor.compileQuery(node as RootOperationNode, queryId);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await query(db);
  const explained = `${engine === 'sqlite' ? 'explain query plan' : 'explain (analyze, format json)'} ${made?.sql}`;
  const { rows } = await asked.executeQuery(CompiledQuery.raw(explained, [...(made?.parameters ?? [])]));
  return rows as Record<string, unknown>[];
}

/** The nodes of PostgreSQL's plan. */
export function nodesOf(rows: Record<string, unknown>[]): PlanNode[] {
  const plan = (rows as { 'QUERY PLAN': [{ Plan: PlanNode }] }[])[0]?.['QUERY PLAN'][0].Plan;
  if (!plan) throw new Error('nothing was explained');
  return flatten(plan);
}

/** Notes the tables that statements write to. */
export function countWrites(store: Db): { writes: string[]; db: Db } {
  const writes: string[] = [];
  const db = watchStatements(store, (text) => {
    const [, table] = /^\s*(?:insert into|update|delete from) "?(\w+)/.exec(text) ?? [];
    if (table !== undefined) writes.push(table);
  });
  return { writes, db };
}

/** Passes on the text of each statement before it runs. */
export function watchStatements(store: Db, note: (text: string) => void): Db {
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      note(store.getExecutor().compileQuery(node, queryId).sql);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return store.withPlugin(plugin);
}

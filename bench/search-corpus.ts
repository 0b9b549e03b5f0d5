import { createPassages, createRandom } from './text.ts';

export interface CorpusEvent {
  eventType: string;
  payload: object;
}

const VERBS = [
  'get',
  'set',
  'load',
  'parse',
  'render',
  'flush',
  'drain',
  'merge',
  'resolve',
  'encode',
  'retry',
  'open',
];
const NOUNS = [
  'User',
  'Queue',
  'Session',
  'Token',
  'Cursor',
  'Invoice',
  'Chunk',
  'Socket',
  'Ledger',
  'Worker',
  'Cache',
  'Route',
];
const HAN = [
  ...'文件上传失败请修复数据库连接超时用户登录权限错误测试通过部署服务器配置日志分析性能优化缓存队列任务线程',
];
/** The number of identifiers, by rank: the first one is in every tenth event, the last one in one event or none. */
const IDENTIFIERS = 400_000;

/** The identifier with this rank. */
export const identifierOf = (rank: number): string =>
  `${VERBS[rank % 12]}${NOUNS[Math.floor(rank / 12) % 12]}${rank >= 144 ? `For${word(rank)}` : ''}`;

export const pathOf = (rank: number): string => `src/${word(rank % 97).toLowerCase()}/${word(rank).toLowerCase()}.ts`;

/** Encodes a number as a word, such as `Bakudo`. */
function word(rank: number): string {
  let rest = rank;
  let made = '';
  do {
    made += `${'bdfgklmnprstvz'[rest % 14]}${'aeiou'[Math.floor(rest / 14) % 5]}`;
    rest = Math.floor(rest / 70);
  } while (rest > 0);
  return made[0]?.toUpperCase() + made.slice(1);
}

export const hanOf = (rank: number): string =>
  [7, 11, 13, 17].map((step) => HAN[(rank * step + Math.floor(rank / step)) % HAN.length]).join('');

/**
 * Realistic events of 0.2 to 8 KB: a third are prompts and answers, two thirds are calls and their results. Their text is
 * documentation and code of the installed packages, with identifiers, paths and Chinese words distributed by Zipf's law.
 */
export function createCorpus(seed: number): () => CorpusEvent {
  const random = createRandom(seed);
  const passage = createPassages(seed);
  const rank = () => Math.floor(Math.exp(random() * Math.log(IDENTIFIERS)));
  const text = (length: number) => `${passage(length)} ${identifierOf(rank())}() in ${pathOf(rank())}`;
  const source = { agent: 'codex', session: 'bench', file: 'rollout.jsonl', position: 0 };
  const at = { source, occurredAt: '2026-11-21T09:12:04.000Z' };
  const kinds: (() => CorpusEvent)[] = [
    () => ({ eventType: 'user.message', payload: { ...at, text: `${text(150)} ${hanOf(rank())}` } }),
    () => ({ eventType: 'assistant.message', payload: { ...at, text: text(500) } }),
    () => ({
      eventType: 'tool.call',
      payload: { ...at, name: 'shell', input: { cmd: `sed -n 1,80p ${pathOf(rank())}` } },
    }),
    () => ({
      eventType: 'tool.call',
      payload: { ...at, name: 'Edit', input: { file_path: pathOf(rank()), new_string: text(300) } },
    }),
    () => ({ eventType: 'tool.result', payload: { ...at, output: text(500 + Math.floor(random() ** 6 * 7500)) } }),
    () => ({ eventType: 'tool.result', payload: { ...at, output: text(800) } }),
  ];
  return () => (kinds[Math.floor(random() * kinds.length)] as () => CorpusEvent)();
}

import { made } from './made.ts';
import { assigned, type Rule } from './rule.ts';

/** Databases, and where data is kept. Passwords in `postgres://…` and its like: see addresses.ts. */
export const DATABASE_RULES: readonly Rule[] = [
  {
    id: 'databricks-token',
    keywords: ['dapi', 'dose', 'dkea'],
    pattern: /(?:dapi|dose|dkea)[0-9a-f]{32}(?:-\d)?(?![0-9A-Za-z])/,
    entropy: 3,
    examples: { hit: [`dapi${made('hex', 32)}`, `dapi${made('hex', 32)}-2`], miss: ['dapi'] },
  },
  {
    id: 'database-service-secret',
    keywords: ['pscale_', 'mdb_sa_sk_'],
    pattern: /(?:pscale_(?:tkn|pw|oauth|api)_|mdb_sa_sk_)[\w.=-]{32,64}/,
    examples: { hit: [`pscale_pw_${made('url', 43)}`, `pscale_tkn_${made('url', 43)}`], miss: ['pscale_branch'] },
  },
  {
    id: 'neon-key',
    keywords: ['napi_', 'npg_'],
    pattern: /(?:napi_[a-z0-9]{50,80}|npg_[A-Za-z0-9]{12,20}(?![A-Za-z0-9]))/,
    entropy: 3.3,
    examples: { hit: [`napi_${made('lower', 64)}`, `npg_${made('alnum', 12)}`], miss: ['napi_value'] },
  },
  {
    id: 'snowflake-password',
    keywords: ['snowflake', 'snowsql'],
    pattern: assigned('(?:snowflake|snowsql)[_.-]?(?:password|pwd|token|pat|passphrase)', '[^\\s"\'`\\\\,;]{8,100}'),
    group: 1,
    entropy: 2.5,
    inside: true,
    examples: {
      hit: [`SNOWFLAKE_PASSWORD=${made('alnum', 14)}!`, `SNOWSQL_PWD="${made('alnum', 12)}"`],
      miss: ['SNOWFLAKE_PASSWORD=<password>'],
    },
  },
  {
    id: 'airtable-token',
    keywords: ['pat'],
    pattern: /pat[A-Za-z0-9]{14}\.[a-f0-9]{64}/,
    examples: { hit: [`pat${made('alnum', 14)}.${made('hex', 64)}`], miss: ['path.join'] },
  },
  {
    id: 'command-line-password',
    keywords: ['mysql', 'mariadb', 'redis-cli', 'sshpass', 'pgpassword'],
    pattern:
      /(?:(?:mysql|mariadb)(?:dump|admin)?[\x20\w.@:=/-]{0,80}?\x20-p|redis-cli[\x20\w.@:=/-]{0,80}?\x20-a\x20?|sshpass\x20-p\x20?|PGPASSWORD=)["']?([^\s"'\\$<]{6,100})/,
    group: 1,
    entropy: 2.5,
    examples: {
      hit: [
        `mysql -u root -p${made('alnum', 12)} shop`,
        `redis-cli -h x -a ${made('alnum', 20)} ping`,
        `sshpass -p '${made('alnum', 9)}' ssh x`,
      ],
      miss: ['mysql -u root -p', 'PGPASSWORD=$PASSWORD psql'],
    },
  },
  {
    id: 'algolia-key',
    keywords: ['algoliasearch('],
    pattern: /algoliasearch\(["'][\w-]{1,20}["'],[\x20\n]{0,4}["']([0-9a-f]{32})["']/,
    group: 1,
    entropy: 3,
    examples: { hit: [`algoliasearch('APP', '${made('hex', 32)}')`], miss: ["algoliasearch('APP', key)"] },
  },
  {
    id: 'named-database-key',
    keywords: [
      'algolia',
      'upstash',
      'confluent',
      'cockroach',
      'elastic',
      'meili_master',
      'typesense',
      'qdrant',
      'weaviate',
    ],
    pattern: assigned(
      '(?:algolia|upstash|confluent|cockroach|elastic|meili_master|typesense|qdrant|weaviate)[\\w.-]{0,16}(?:key|token|secret|password)',
      '[A-Za-z0-9_+/=-]{24,120}',
    ),
    group: 1,
    entropy: 3.3,
    inside: true,
    examples: {
      hit: [`ALGOLIA_ADMIN_KEY=${made('hex', 32)}`, `UPSTASH_REDIS_REST_TOKEN="${made('base64', 56)}"`],
      miss: ['elastic_key: string'],
    },
  },
];

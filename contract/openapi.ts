import type { TSchema } from 'typebox';
import { SCIM_TYPE, ScimError } from './directory.ts';
import { DOWNLOADS, type Download } from './download.ts';
import { EXTENSIONS } from './extensions.ts';
import { PROBLEMS } from './problem.ts';
import { type ErrorStatus, FRAMES_TYPE, type Route } from './route.ts';
import { ROUTES } from './routes.ts';

const ERROR_SENTENCES: Record<ErrorStatus, string> = {
  400: 'The request is malformed, or names something it cannot use',
  401: 'The credential is missing, revoked, expired or of the wrong kind',
  403: 'The role is not sufficient, or the environment is revoked',
  404: 'No such resource in this organization',
  409: 'The current state does not allow it',
  410: 'The share has ended, or its creator may no longer show as much',
  429: 'Too many requests; wait for the time in `Retry-After`',
  502: 'The identity provider failed',
  503: 'Storage or bus unavailable; repeat with the same idempotency key',
};

const SECURITY: Record<Route['auth'], object[]> = {
  public: [],
  visitor: [{}, { idToken: [] }],
  secret: [{ secretHeader: [] }, { secretBearer: [] }],
  user: [{ idToken: [] }],
  member: [{ idToken: [] }],
  admin: [{ idToken: [] }],
  directory: [{ directoryToken: [] }],
};

const TAGS = [
  { name: 'public', description: 'No credential' },
  { name: 'ingest', description: 'Organization secret' },
  { name: 'dashboard', description: 'JWT of the identity provider' },
  { name: 'directory', description: 'SCIM 2.0, with the token of a directory' },
  { name: 'download', description: 'The command line that matches the service' },
  { name: 'extension', description: 'Extensions of the interface' },
];

/**
 * The OpenAPI 3.1 document of both tables.
 * @param publicUrl the address of the service
 */
export function openapi(version: string, publicUrl = 'http://127.0.0.1:4400'): object {
  const paths: Record<string, Record<string, object>> = {};
  const tables: [Record<string, Route>, boolean][] = [
    [ROUTES, false],
    [EXTENSIONS, true],
  ];
  for (const [table, extension] of tables) {
    for (const [name, row] of Object.entries(table)) {
      paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: operation(name, row, extension) };
    }
  }
  for (const [path, download] of Object.entries(DOWNLOADS)) paths[path] = { get: downloadOperation(path, download) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Session Capture',
      version,
      description: 'Records what coding agents did on developer machines.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: '{publicUrl}',
        description: 'this service',
        variables: { publicUrl: { default: publicUrl, description: 'its `PUBLIC_URL`' } },
      },
    ],
    tags: TAGS,
    paths,
    components: {
      securitySchemes: {
        secretHeader: { type: 'apiKey', in: 'header', name: 'X-Service-Secret' },
        secretBearer: { type: 'http', scheme: 'bearer', description: 'an organization secret' },
        idToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        directoryToken: { type: 'http', scheme: 'bearer', description: "the token of an organization's directory" },
      },
      schemas: { Problem: problemSchema, ScimError },
    },
  };
}

const problemSchema = {
  type: 'object',
  required: ['error', 'code'],
  properties: {
    error: { type: 'string', description: 'a sentence that says what to do' },
    code: { type: 'string', enum: Object.keys(PROBLEMS) },
  },
};

function operation(name: string, row: Route, extension: boolean): object {
  const kind = {
    public: 'public',
    visitor: 'public',
    secret: 'ingest',
    user: 'dashboard',
    member: 'dashboard',
    admin: 'dashboard',
    directory: 'directory',
  };
  return {
    operationId: name,
    summary: row.summary,
    tags: [extension && row.auth !== 'directory' ? 'extension' : kind[row.auth]],
    ...(extension ? { 'x-extension': true } : {}),
    ...(row.auth === 'member' || row.auth === 'admin' ? { 'x-minimum-role': row.auth } : {}),
    security: SECURITY[row.auth],
    parameters: parameters(row),
    ...(row.body ? { requestBody: requestBody(row, row.body) } : {}),
    responses: { ...successes(row), ...failures(row) },
  };
}

const downloadOperation = (path: string, { about, contentType }: Download): object => ({
  operationId: `download${path.replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/\W/g, '')}`,
  summary: about,
  tags: ['download'],
  security: [],
  parameters: parameters({ path }),
  responses: {
    200: { description: about, content: { [contentType]: { schema: { type: 'string' } } } },
    ...failures({ errors: [429] }),
    503: { description: 'The file is not built', content: { 'text/plain': { schema: { type: 'string' } } } },
  },
});

function parameters(row: Pick<Route, 'path' | 'query' | 'headers'>): object[] {
  const inPath = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(row.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: (row.query?.required as string[] | undefined)?.includes(name) ?? false,
    schema,
  }));
  const inHeader = Object.entries(row.headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
  return [...inPath, ...inQuery, ...inHeader];
}

const successes = (row: Route) =>
  Object.fromEntries(
    Object.entries(row.replies).map(([status, schema]) => [
      status,
      Number(status) === 204
        ? { description: row.summary }
        : { description: row.summary, content: { [row.contentType ?? 'application/json']: { schema } } },
    ]),
  );

const failures = (row: Pick<Route, 'errors' | 'contentType'>) =>
  Object.fromEntries(
    row.errors.map((status) => [
      status,
      {
        description: ERROR_SENTENCES[status],
        content: {
          ...(row.contentType === SCIM_TYPE
            ? { [SCIM_TYPE]: { schema: { $ref: '#/components/schemas/ScimError' } } }
            : { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } }),
        },
      },
    ]),
  );

function requestBody({ frames, bodyOptional, auth }: Route, schema: TSchema): object {
  const type = auth === 'directory' ? SCIM_TYPE : 'application/json';
  if (frames === undefined) return { required: !bodyOptional, content: { [type]: { schema } } };
  const description = `Zstd frames. The first contains the JSON of this schema. ${frames.about}`;
  return { required: true, description, content: { [FRAMES_TYPE]: { schema } } };
}

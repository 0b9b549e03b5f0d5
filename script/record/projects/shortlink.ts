/** A small web service without a rate limit, with its settings in a file. */
import type { Project } from '../scenario.ts';

const server = `import { createServer } from 'node:http';
import { createLinks } from './links.ts';
import { settings } from './settings.ts';

const links = createLinks();

export const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (request.method === 'POST' && url.pathname === '/links') {
    const target = url.searchParams.get('target');
    if (!target) return response.writeHead(400).end('target is missing\\n');
    return response.writeHead(201).end(\`\${links.add(target)}\\n\`);
  }
  const target = links.find(url.pathname.slice(1));
  if (!target) return response.writeHead(404).end('no such link\\n');
  return response.writeHead(302, { location: target }).end();
});

if (import.meta.main) server.listen(settings.port);
`;

const links = `import { randomBytes } from 'node:crypto';

export function createLinks() {
  const targets = new Map<string, string>();
  return {
    add(target: string): string {
      const key = randomBytes(4).toString('base64url');
      targets.set(key, target);
      return key;
    },
    find: (key: string): string | undefined => targets.get(key),
  };
}
`;

const settings = `export const settings = {
  port: Number(process.env.PORT ?? 8080),
  /** Links that one address may create in a minute; not enforced yet. */
  linksPerMinute: Number(process.env.LINKS_PER_MINUTE ?? 30),
};
`;

const test = `import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { server } from '../src/server.ts';

let base = '';
before(async () => {
  server.listen(0);
  await once(server, 'listening');
  base = \`http://localhost:\${(server.address() as AddressInfo).port}\`;
});
after(() => server.close());

test('a link leads to its target', async () => {
  const created = await fetch(\`\${base}/links?target=https://example.com/a\`, { method: 'POST' });
  assert.equal(created.status, 201);
  const key = (await created.text()).trim();
  const followed = await fetch(\`\${base}/\${key}\`, { redirect: 'manual' });
  assert.equal(followed.headers.get('location'), 'https://example.com/a');
});
`;

/** An invented file, so that a reader of the demo sees how redaction masks it. */
const environment = `PORT=8080
LINKS_PER_MINUTE=20
DATABASE_URL=postgres://app:hunter2-correct-horse@db.internal/prod
DEPLOY_TOKEN=ghp_notARealTokenJustASample0123456789ab
`;

export const shortlink: Project = {
  name: 'shortlink',
  files: {
    'package.json': '{\n  "name": "shortlink",\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n',
    'src/server.ts': server,
    'src/links.ts': links,
    'src/settings.ts': settings,
    'test/server.test.ts': test,
    'docs/api.md': '# API\n\n`POST /links?target=…` answers 201 and the key. `GET /<key>` answers 302.\n',
    '.gitignore': 'node_modules/\n.env\n',
    '.env': environment,
  },
};

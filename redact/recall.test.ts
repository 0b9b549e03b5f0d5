import { describe, expect, test } from 'vitest';
import { redactOne } from '../cli/test/redacting.ts';
import type { CapturedEvent } from '../transcript/vocabulary.ts';
import { createRedactor } from './redactor.ts';
import { NAMED_EXAMPLES } from './test/named-examples.ts';
import { RULE_EXAMPLES } from './test/rule-examples.ts';

const redactor = createRedactor({ key: new Uint8Array(32) });
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };

/** The providers that must be recognised, each with the rules for it. */
const PROVIDERS: { [provider: string]: string[] } = {
  'Amazon Web Services': ['aws-access-key', 'aws-secret-key', 'aws-session-token', 'aws-bedrock-key'],
  'Google Cloud': ['google-client-secret', 'google-access-token', 'google-refresh-token'],
  'Google AI, Maps': ['google-api-key'],
  Azure: ['azure-client-secret', 'azure-account-key', 'azure-shared-access-signature', 'azure-service-key'],
  'Azure DevOps': ['azure-devops-token'],
  GitHub: ['github-token', 'github-fine-grained-token', 'github-token-jwt'],
  GitLab: ['gitlab-token', 'gitlab-registration-token'],
  Bitbucket: ['bitbucket-token'],
  npm: ['npm-token', 'npmrc-token'],
  PyPI: ['pypi-token'],
  Docker: ['docker-token'],
  Slack: ['slack-token', 'slack-app-token', 'slack-webhook'],
  Discord: ['discord-token', 'discord-webhook'],
  Telegram: ['telegram-token'],
  Twilio: ['twilio-key', 'twilio-token'],
  SendGrid: ['sendgrid-key'],
  Mailgun: ['mailgun-key', 'mailgun-named-key'],
  Mailchimp: ['mailchimp-key'],
  'Stripe, Session Capture': ['secret-key', 'webhook-secret'],
  'PayPal, Braintree': ['paypal-braintree-token', 'paypal-secret'],
  Square: ['square-token'],
  Shopify: ['shopify-token'],
  OpenAI: ['openai-key', 'openai-session'],
  Anthropic: ['anthropic-key'],
  OpenRouter: ['openrouter-key'],
  'Hugging Face': ['huggingface-token'],
  'Mistral, Cohere': ['named-model-key'],
  Replicate: ['replicate-token'],
  Datadog: ['datadog-key', 'datadog-prefixed-key'],
  'New Relic': ['new-relic-key', 'new-relic-license'],
  Sentry: ['sentry-token', 'sentry-named-token'],
  Grafana: ['grafana-token'],
  Cloudflare: ['cloudflare-token', 'cloudflare-prefixed-token'],
  DigitalOcean: ['digitalocean-token'],
  Heroku: ['heroku-key', 'heroku-prefixed-key'],
  Vercel: ['vercel-token', 'vercel-prefixed-token'],
  Netlify: ['netlify-token', 'netlify-named-token'],
  'Fly.io': ['fly-token'],
  Supabase: ['supabase-key'],
  Firebase: ['firebase-messaging-key'],
  Linear: ['linear-key'],
  Notion: ['notion-token'],
  Atlassian: ['atlassian-token', 'atlassian-named-token'],
  Figma: ['figma-token'],
  Okta: ['okta-token'],
  Auth0: ['auth0-secret'],
  HashiCorp: ['vault-token', 'terraform-token'],
  Doppler: ['doppler-token'],
  Databricks: ['databricks-token'],
  Snowflake: ['snowflake-password'],
  'PlanetScale, MongoDB Atlas': ['database-service-secret'],
  'Databases by address': ['address-password', 'command-line-password'],
  'Private keys': ['private-key', 'encoded-private-key', 'putty-key'],
  'JSON Web Tokens': ['json-web-token', 'encrypted-web-token'],
};

const EXAMPLES = { ...RULE_EXAMPLES, ...NAMED_EXAMPLES };

/** The places in an agent's record that may contain it. */
const PLACES: { [place: string]: (text: string) => unknown } = {
  'a value': (text) => text,
  'the middle of output': (text) => `$ env\nA=1\n${text}\nB=2\n`,
  'a JSON text': (text) => JSON.stringify({ command: text, timeout: 5 }),
  'a JSON text in a JSON text': (text) => JSON.stringify({ arguments: JSON.stringify([text]) }),
  'half of a JSON text': (text) => JSON.stringify({ stdout: `line one\n${text}\nline two` }).slice(0, -1),
  'a key': (text) => ({ [text]: true }),
  'coloured output': (text) => `\u001b[32m${text}\u001b[0m`,
  'a list of arguments': (text) => ['sh', '-c', text],
  'a change of a file': (text) => `@@ -1 +1 @@\n+${text.replaceAll('\n', '\n+')}`,
};

function redact(rest: unknown): string[] {
  const event: CapturedEvent = { eventType: 'record', payload: { source, rest } };
  return Object.keys(redactOne(redactor, event).payload.redactions ?? {});
}

describe.each(Object.entries(PROVIDERS))('%s', (_provider, ids) => {
  const examples = ids.flatMap((id) => EXAMPLES[id]?.hit ?? []);

  test('95 of 100 examples are masked, wherever they stand', () => {
    expect(ids.filter((id) => EXAMPLES[id] === undefined)).toEqual([]);
    const tries = examples.flatMap((example) =>
      Object.entries(PLACES).map(([place, put]) => ({ place, rest: put(example) })),
    );
    const missed = tries.filter(({ rest }) => redact(rest).length === 0).map(({ place }) => place);
    expect(missed.length / tries.length, missed.join(', ')).toBeLessThanOrEqual(0.05);
  });
});

test.each(Object.entries(NAMED_EXAMPLES))('%s is recognised by its name', (_id, { hit, miss }) => {
  expect(hit.filter((text) => redact(text).length === 0)).toEqual([]);
  expect(miss.filter((text) => redact(text).length > 0)).toEqual([]);
});

test('a placeholder for a secret is left alone', () => {
  const harmless = [
    'OPENAI_API_KEY=<YOUR_API_KEY>',
    'const key = process.env.API_KEY;',
    'apiKey: process.env.STRIPE_SECRET_KEY',
    'api_key = os.environ["API_KEY"]',
    'password: xxxxxxxxxxxx',
    'interface Login { password: string; token: string }',
    'function login(password: string, apiKey?: string): Promise<Token> {}',
    'const token = await getToken();',
    'if (token === SyntaxKind.EndOfFileToken) return;',
    'max_tokens: 4096, tokens=12345678901234567890',
    `Authorization: Bearer ${'$'}{token}`,
    'password = "********"',
    'export AWS_SECRET_ACCESS_KEY=AKIAIOSFODNN7EXAMPLEKEYEXAMPLEKEYEXAMPLE',
    'secret: Uint8Array, key: sha256Hex',
    'git commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
    'id: 123e4567-e89b-42d3-a456-426614174000',
    'postgres://user:password@localhost:5432/db',
    '{"aria-valid-attr": {"pass": "ARIA属性が定義されたロールに対して正しく使用されています"}}',
    '{"string_token": "_single_quote_string_token1", "auth": "oauth-personal"}',
    '{"dependencies": {"pg-connection-string": "^2.14.1"}}',
    "const mock = { accessToken: 'access-123', refreshToken: 'refresh-456', authorization: 'Bearer token123' };",
    'TEST_LOGIN_SECRET=e2e-test-secret-do-not-use-in-production',
    'r.attributes.token===118?p.Import_attribute_values_must_be_string:p.Import_assertion_values',
    'ZONE_ID_PAT = "(?:%25|%)(?:[a-z0-9])"',
    "'Lock-Token': 'urn:uuid:a515cfa4-5da4-22e1-f5b5-00a0451e6bf7'",
  ];
  expect(harmless.filter((text) => redact(text).length > 0)).toEqual([]);
});

import { made, madeUuid } from './made.ts';
import type { RuleExamples } from './rule-examples.ts';

/** Secrets without a form of their own and without a rule. A vendor's name with `key`, `token` or `secret` identifies them. */
export const NAMED_EXAMPLES: RuleExamples = {
  'ibm-cloud-key': { hit: [`IBM_CLOUD_API_KEY=${made('url', 44)}`], miss: ['IBM_CLOUD_API_KEY=$KEY'] },
  'cloudflare-token': {
    hit: [`CLOUDFLARE_API_TOKEN=${made('url', 40)}`, `X-Auth-Key: ${made('hex', 37)}`],
    miss: ['CLOUDFLARE_API_TOKEN=your-token'],
  },
  'heroku-key': { hit: [`HEROKU_API_KEY=${madeUuid()}`], miss: [`heroku app ${madeUuid()}`] },
  'vercel-token': { hit: [`VERCEL_TOKEN=${made('alnum', 24)}`], miss: ['VERCEL_TOKEN=process.env.TOKEN'] },
  'netlify-named-token': {
    hit: [`NETLIFY_AUTH_TOKEN="${made('url', 43)}"`],
    miss: ['netlify: https://app.netlify.com'],
  },
  'railway-token': { hit: [`RAILWAY_TOKEN=${madeUuid(2)}`], miss: [`railway project: ${madeUuid(3)}`] },
  'scaleway-linode-token': {
    hit: [`LINODE_TOKEN=${made('hex', 64)}`, `HCLOUD_TOKEN=${made('alnum', 64)}`],
    miss: ['HCLOUD_TOKEN='],
  },
  'named-build-token': {
    hit: [`SNYK_TOKEN=${made('hex', 32)}`, `GITEA_TOKEN: ${made('hex', 40)}`],
    miss: ['CODECOV_TOKEN: <token of the repository>'],
  },
  'paypal-secret': {
    hit: [`PAYPAL_CLIENT_SECRET=E${made('url', 79)}`, `BRAINTREE_PRIVATE_KEY=${made('hex', 32)}`],
    miss: ['paypal: Express'],
  },
  'twilio-token': { hit: [`TWILIO_AUTH_TOKEN=${made('hex', 32)}`], miss: ['TWILIO_AUTH_TOKEN=your_auth_token'] },
  'snowflake-password': {
    hit: [`SNOWFLAKE_PASSWORD=${made('alnum', 14)}!`, `SNOWSQL_PWD="${made('alnum', 12)}"`],
    miss: ['SNOWFLAKE_PASSWORD=<password>'],
  },
  'datadog-key': {
    hit: [`DD_API_KEY=${made('hex', 32)}`, `DD-APPLICATION-KEY: ${made('hex', 40)}`],
    miss: ['DD_API_KEY=<key>'],
  },
  'sentry-named-token': { hit: [`SENTRY_AUTH_TOKEN=${made('hex', 64)}`], miss: ['SENTRY_AUTH_TOKEN='] },
  'atlassian-named-token': { hit: [`JIRA_API_TOKEN=${made('alnum', 24)}`], miss: ['JIRA_API_TOKEN=token'] },
  'asana-token': { hit: [`ASANA_TOKEN=1/${made('digits', 16)}:${made('hex', 32)}`], miss: ['asana: tasks'] },
  'okta-token': {
    hit: [`OKTA_API_TOKEN=00${made('url', 40)}`, `Authorization: SSWS 00${made('url', 40)}`],
    miss: ['okta: 00'],
  },
  'auth0-secret': { hit: [`AUTH0_CLIENT_SECRET=${made('url', 64)}`], miss: ['AUTH0_DOMAIN=dev.eu.auth0.com'] },
  'named-sign-in-secret': {
    hit: [`NEXTAUTH_SECRET=${made('base64', 43)}=`, `SPOTIFY_CLIENT_SECRET: ${made('hex', 32)}`],
    miss: ['NEXTAUTH_SECRET=secret'],
  },
  'mailgun-named-key': {
    hit: [
      `MAILGUN_API_KEY=${made('hex', 32)}-${made('hex', 8)}-${made('hex', 8, 2)}`,
      `mailgun.client({ username: 'api', key: '${made('hex', 32)}' })`,
    ],
    miss: ['mailgun.js', `mailgun/lock.json:${made('hex', 64)}`],
  },
  'discord-named-token': {
    hit: [`DISCORD_TOKEN=O${made('alnum', 25)}.${made('alnum', 6)}.${made('url', 38)}`],
    miss: ['discord.js', 'bot = new Bot()'],
  },
};

import { made, madeUuid } from './made.ts';
import type { RuleExamples } from './rule-examples.ts';

/** Of payments, messaging, databases, work tools, sign-in, and what stands in addresses and commands. */
export const SERVICE_EXAMPLES: RuleExamples = {
  'secret-key': {
    hit: [`sk_live_${made('alnum', 24)}`, `rk_test_${made('alnum', 99)}`, `Bearer sk_test_${made('url', 43)}`],
    miss: ['sk_live_...', 'sk_test_xxxxxxxxxxxxxxxx', 'sk_test_YOUR_KEY_HERE'],
  },
  'webhook-secret': { hit: [`whsec_${made('alnum', 32)}`], miss: ['whsec_...'] },
  'paypal-braintree-token': {
    hit: [`access_token$production$${made('lower', 16)}$${made('hex', 32)}`],
    miss: ['access_token$x'],
  },
  'square-token': {
    hit: [`sq0atp-${made('url', 22)}`, `sq0csp-${made('url', 43)}`, `EAAA${made('url', 60)}`],
    miss: ['EAAAA'],
  },
  'shopify-token': { hit: [`shpat_${made('hex', 32)}`], miss: ['shpat_token'] },
  'razorpay-key': { hit: [`rzp_live_${made('alnum', 14)}`], miss: ['rzp_test_'] },
  'plaid-token': { hit: [`access-sandbox-${madeUuid()}`], miss: ['access-sandbox-mode'] },
  'payment-provider-key': { hit: [`FLWSECK-${made('hex', 32)}-X`], miss: ['EZTK'] },
  'slack-token': {
    hit: [
      `xoxb-${made('digits', 12)}-${made('digits', 13)}-${made('alnum', 24)}`,
      `xoxp-${made('digits', 12)}-${made('hex', 32)}`,
    ],
    miss: ['xoxb-your-token', 'xoxb-xxxxxxxxxxxx-xxxxxxxxxxxx'],
  },
  'slack-app-token': {
    hit: [`xapp-1-A${made('upper', 10)}-${made('digits', 13)}-${made('hex', 64)}`],
    miss: ['xapp-1'],
  },
  'slack-webhook': {
    hit: [`https://hooks.slack.com/services/T${made('upper', 10)}/B${made('upper', 10)}/${made('alnum', 24)}`],
    miss: ['https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX'],
  },
  'discord-webhook': {
    hit: [`https://discord.com/api/webhooks/${made('digits', 18)}/${made('url', 68)}`],
    miss: ['/api/webhooks/1/x'],
  },
  'discord-token': {
    hit: [
      `DISCORD_TOKEN=MTA${made('alnum', 23)}.${made('alnum', 6)}.${made('url', 38)}`,
      `Authorization: Bot NzM${made('alnum', 21)}.${made('alnum', 6)}.${made('url', 27)}`,
    ],
    miss: ['discord.js', 'bot = new Bot()'],
  },
  'telegram-token': {
    hit: [`${made('digits', 10, 3)}:AA${made('url', 33)}`, `/bot7${made('digits', 9)}:AA${made('url', 33)}/`],
    miss: ['00:AA:BB:CC:DD:EE'],
  },
  'twilio-key': { hit: [`SK${made('hex', 32)}`], miss: [`sk${made('hex', 10)}`] },
  'twilio-account': {
    hit: [`twilio('AC${made('hex', 32)}', '${made('hex', 32, 2)}')`, `-u AC${made('hex', 32)}:${made('hex', 32, 2)}`],
    miss: [`AC${made('hex', 32)}`],
  },
  'sendgrid-key': { hit: [`SG.${made('url', 22)}.${made('url', 43)}`], miss: ['msg.id', 'SG.x.y'] },
  'mailgun-key': { hit: [`key-${made('hex', 32)}`], miss: ['key-value'] },
  'mailchimp-key': { hit: [`${made('hex', 32)}-us14`], miss: ['locale-us1'] },
  'mail-service-key': {
    hit: [`xkeysib-${made('hex', 64)}-${made('alnum', 16)}`, `re_${made('alnum', 8)}_${made('alnum', 24)}`],
    miss: ['re_match'],
  },
  'postmark-token': {
    hit: [`X-Postmark-Server-Token: 1a2b3c4d-${made('hex', 4)}-${made('hex', 4)}-${made('hex', 4)}-${made('hex', 12)}`],
    miss: ['postmark: id'],
  },
  'teams-webhook': {
    hit: [
      `https://x.webhook.office.com/webhookb2/${made('hex', 36)}@${made('hex', 36)}/IncomingWebhook/${made('hex', 32)}/${made('hex', 36)}`,
    ],
    miss: ['/webhookb2/'],
  },
  'facebook-token': { hit: [`EAAC${made('alnum', 160)}`], miss: ['EAACAAA'] },
  'twitter-bearer': {
    hit: [`AAAAAAAAAAAAAAAAAAAAA${made('alnum', 30)}%3D${made('alnum', 50)}`],
    miss: ['A'.repeat(90)],
  },
  'databricks-token': { hit: [`dapi${made('hex', 32)}`, `dapi${made('hex', 32)}-2`], miss: ['dapi'] },
  'database-service-secret': {
    hit: [`pscale_pw_${made('url', 43)}`, `pscale_tkn_${made('url', 43)}`],
    miss: ['pscale_branch'],
  },
  'neon-key': { hit: [`napi_${made('lower', 64)}`, `npg_${made('alnum', 12)}`], miss: ['napi_value'] },
  'airtable-token': { hit: [`pat${made('alnum', 14)}.${made('hex', 64)}`], miss: ['path.join'] },
  'command-line-password': {
    hit: [
      `mysql -u root -p${made('alnum', 12)} shop`,
      `redis-cli -h x -a ${made('alnum', 20)} ping`,
      `sshpass -p '${made('alnum', 9)}' ssh x`,
    ],
    miss: ['mysql -u root -p', 'PGPASSWORD=$PASSWORD psql'],
  },
  'algolia-key': { hit: [`algoliasearch('APP', '${made('hex', 32)}')`], miss: ["algoliasearch('APP', key)"] },
  'named-database-key': {
    hit: [`ALGOLIA_ADMIN_KEY=${made('hex', 32)}`, `UPSTASH_REDIS_REST_TOKEN="${made('base64', 56)}"`],
    miss: ['elastic_key: string'],
  },
  'datadog-prefixed-key': { hit: [`ddapp_${made('alnum', 34)}`], miss: ['ddapp_'] },
  'new-relic-key': { hit: [`NRAK-${made('upper', 27)}`, `NRII-${made('url', 32)}`], miss: ['NRAK-'] },
  'new-relic-license': { hit: [`${made('hex', 36)}NRAL`], miss: ['NRAL'] },
  'sentry-token': { hit: [`sntryu_${made('hex', 64)}`, `sntrys_eyJ${made('base64', 120)}`], miss: ['sntrys_'] },
  'grafana-token': {
    hit: [`glsa_${made('alnum', 32)}_${made('hex', 8)}`, `glc_eyJ${made('alnum', 100)}`],
    miss: ['glc_'],
  },
  'dynatrace-token': { hit: [`dt0c01.${made('upper', 24)}.${made('upper', 64)}`], miss: ['dt0c01.'] },
  'analytics-key': { hit: [`phx_${made('alnum', 43)}`, `pylf_v1_eu_${made('alnum', 44)}`], miss: ['phx_new'] },
  'linear-key': { hit: [`lin_api_${made('alnum', 40)}`, `lin_oauth_${made('hex', 64)}`], miss: ['lin_api_key'] },
  'notion-token': {
    hit: [`ntn_${made('digits', 11)}${made('alnum', 35)}`, `secret_${made('alnum', 43)}`],
    miss: ['secret_name'],
  },
  'atlassian-token': { hit: [`ATATT3xFfGF0${made('url', 170)}=${made('hex', 8).toUpperCase()}`], miss: ['ATATT3'] },
  'figma-token': { hit: [`figd_${made('url', 40)}`], miss: ['figd_x'] },
  'postman-key': { hit: [`PMAK-${made('hex', 24)}-${made('hex', 34)}`], miss: ['PMAK-'] },
  'hubspot-token': { hit: [`pat-na1-${madeUuid()}`], miss: ['pat-na1'] },
  'contentful-token': { hit: [`CFPAT-${made('url', 43)}`], miss: ['CFPAT-'] },
  'typeform-token': { hit: [`tfp_${made('alnum', 44)}_${made('alnum', 14)}`], miss: ['tfp_'] },
  'mapbox-token': { hit: [`sk.eyJ${made('url', 84)}.${made('url', 22)}`], miss: ['sk.eyJ'] },
  'dropbox-token': { hit: [`sl.${made('url', 140)}`], miss: ['ssl.key'] },
  'launchdarkly-key': {
    hit: [`sdk-${made('hex', 8)}-${made('hex', 4)}-4${made('hex', 3)}-a${made('hex', 3)}-${made('hex', 12)}`],
    miss: ['api-server'],
  },
  'work-tool-key': {
    hit: [`duffel_live_${made('url', 43)}`, `pk_${made('digits', 8)}_${made('upper', 32)}`],
    miss: ['pk_test'],
  },
  'onepassword-token': {
    hit: [
      `ops_eyJ${made('url', 300)}`,
      `A3-${made('upper', 6)}-${made('upper', 11)}-${made('upper', 5)}-${made('upper', 5, 2)}-${made('upper', 5, 3)}`,
    ],
    miss: ['A3-paper'],
  },
  'age-key': { hit: [`AGE-SECRET-KEY-1${made('upper', 58)}`], miss: ['AGE-SECRET-KEY-1'] },
  'infisical-token': { hit: [`st.${made('hex', 24)}.${made('hex', 32)}.${made('hex', 32)}`], miss: ['test.st.js'] },
  'address-password': {
    hit: [
      `postgres://app:${made('alnum', 12)}@db.internal:5432/app`,
      `mongodb+srv://root:${made('alnum', 16)}@cluster0.mongodb.net`,
      `redis://:${made('alnum', 20)}@cache:6379`,
      `https://deploy:${made('alnum', 10)}!@git.company.test/x.git`,
    ],
    miss: [
      'postgres://user:password@localhost/db',
      'https://$USER:$PASS@host',
      'http://a.test:8080/@scope/pkg',
      'mysql://root:***@x',
    ],
  },
  'address-token': {
    hit: [`https://${made('hex', 40)}@git.company.test/x.git`],
    miss: ['https://someone@git.company.test/x.git'],
  },
  'basic-auth': {
    hit: [`Authorization: Basic ${Buffer.from(`deploy:${made('alnum', 12)}`).toString('base64')}`],
    miss: ['Basic authentication', 'Basic understanding'],
  },
  'bearer-token': {
    hit: [`authorization: Bearer ${made('alnum', 40)}`],
    miss: ['Bearer YOUR_TOKEN', 'bearer authentication scheme'],
  },
  cookie: { hit: [`Cookie: sid=${made('url', 43)}; theme=dark`], miss: ['cookie: string', 'Cookie: name=value'] },
  'cut-token': {
    hit: [`ghp_${made('alnum', 12)}`, `ghp_${made('alnum', 34)}`, `${'x '.repeat(500)}sk-ant-api03-${made('url', 60)}`],
    miss: [
      'what npm_lifecycle_event',
      'see sk-proj-your-key-here-please1',
      'a ghp_xxxxxxxxxxxxxxxxxxxx1',
      `ghp_${made('alnum', 20)} is not at the end`,
      `notghp_${made('alnum', 20)}`,
      'the rule hf_transfer_enabled',
    ],
  },
  'curl-user': {
    hit: [`curl -s -u admin:${made('alnum', 14)} https://x.test`],
    miss: ['curl -u user:password x', 'curl -u $USER:$PASS x'],
  },
  'account-password': {
    hit: [`auth=("ada", "${made('alnum', 12)}")`, `log in as root / ${made('alnum', 10, 5)}7K`],
    miss: ["auth=('user', 'passwd')", 'log in as user/project-2024'],
  },
  'netrc-password': {
    hit: [`machine api.x.test\n  login ada\n  password ${made('alnum', 12)}`, `login ada password ${made('hex', 20)}`],
    miss: ['login ada password $PASSWORD', 'the login page and the password field'],
  },
  'signed-address': { hit: [`?X-Amz-Signature=${made('hex', 64)}`], miss: ['X-Amz-Signature=...'] },
  'named-monitoring-key': {
    hit: [`PAGERDUTY_API_KEY=${made('alnum', 20)}`, `rollbar_access_token: ${made('hex', 32)}`],
    miss: ['ROLLBAR_TOKEN=your-token'],
  },
  'work-tool-token': { hit: [`TRELLO_TOKEN=${made('hex', 64)}`], miss: ['TRELLO_TOKEN=token'] },
};

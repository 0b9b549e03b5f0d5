import { named, type Rule, rule } from './rule.ts';

/** Secrets without a form of their own, recognised by a vendor's name beside them. */
export const VENDOR_NAMES: readonly Rule[] = [
  rule('netlify-build-hook', ['netlify.com/build_hooks/'], /netlify\.com\/build_hooks\/([0-9a-f]{24})/, {
    inside: true,
    yes: 'https://api.netlify.com/build_hooks/<hex 24>',
    no: 'netlify.com/build_hooks/ID',
  }),
  rule(
    'vault-named-token',
    ['vault', 'root token: '],
    /(?:vault[\w-]{0,8}token["'`]?[:= ]{1,4}["'`]?|Root Token: )(s\.[\w-]{24,120})(?![\w-])/i,
    {
      inside: true,
      entropy: 3.3,
      yes: ['VAULT_TOKEN=s.<alnum 24>', 'Initial Root Token: s.<alnum 24>'],
      no: 'vault token s.x',
    },
  ),
  rule(
    'vault-key-share',
    ['unseal key ', 'recovery key ', 'operator unseal '],
    /(?:(?:Unseal|Recovery) Key \d{1,2}:|operator unseal) ([A-Za-z0-9+/]{43,44}={0,2})/i,
    {
      inside: true,
      yes: ['Unseal Key 1: <base64 43>=', 'vault operator unseal <base64 43>='],
      no: 'Unseal Key 1: <share>',
    },
  ),
  named(
    'named-model-key',
    [
      'mistral',
      'cohere',
      'co_api',
      'deepseek',
      'together',
      'wandb',
      'ai21',
      'voyage',
      'stability',
      'azure_openai',
      'assemblyai',
      'deepgram',
    ],
    /(?:mistral|cohere|co_api|deepseek|together|wandb|ai21|voyage|stability|azure_openai|assemblyai|deepgram)/,
    /([a-f0-9]{64}|[A-Za-z0-9]{40}|[A-Za-z0-9]{32})/,
    {
      entropy: 3.3,
      yes: ['MISTRAL_API_KEY=<alnum 32>', 'COHERE_API_KEY: "<alnum 40>"', 'WANDB_API_KEY=<hex 40>'],
      no: ['MISTRAL_API_KEY=your_key', 'model: mistral, large'],
    },
  ),
  // The name is `login`, and everybody who runs an analysis can see it.
  rule(
    'sonar-token',
    ['sonar.login', 'sonarlogin', 'sonar_login'],
    /sonar[._]?login\\{0,3}["']?[ \t]{0,4}[=:,][ \t]{0,4}\\{0,3}["']?([0-9a-f]{40})(?![\w-])/i,
    {
      inside: true,
      yes: ['mvn -Dsonar.login=<hex 40>', "property 'sonar.login', '<hex 40>'", '$sonarLogin = "<hex 40>"'],
      no: ['sonar.login=admin', 'sonar.login'],
    },
  ),
  // `new HubSpotApi("…")`: the only argument of a client is the key. Names in code have fewer digits.
  rule(
    'client-argument',
    ['api(', 'client(', 'sdk('],
    /(?:api|client|sdk)\(\\{0,3}["']((?=[A-Za-z]{0,40}\d[A-Za-z]{0,40}\d[A-Za-z]{0,40}\d)(?=[A-Za-z]{0,40}\d[A-Za-z0-9]{0,40}[A-Za-z]\d?[A-Za-z])(?=[A-Za-z\d]{0,40}[A-Z])[A-Za-z\d]{28,80})\\{0,3}["'][,)]/i,
    {
      inside: true,
      entropy: 3.8,
      yes: ['new ShopClient("k7<alnum 40>")', "api = MailApi('k7<alnum 40>', timeout=3)"],
      no: [
        'new S3Client("my-bucket-of-2024-and-others-here")',
        'client("customerOrderHistoryService")',
        'createClient("getUserByEmailAndTenantIdV2Handler")',
        'fetchApi("ProductCatalogV3SearchResultsPage")',
        'new S3Client("customerOrderHistoryServiceV2Endpoint")',
        'new Api("v2")',
      ],
    },
  ),
  named('postmark-token', ['postmark'], /postmark/, /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/, {
    yes: 'X-Postmark-Server-Token: 1a2b3c4d-<hex 4>-<hex 4>-<hex 4>-<hex 12>',
    no: 'postmark: id',
  }),
  rule('algolia-key', ['algoliasearch('], /algoliasearch\(["'][\w-]{1,20}["'],[ \n]{0,4}["']([0-9a-f]{32})["']/, {
    entropy: 3,
    yes: "algoliasearch('APP', '<hex 32>')",
    no: "algoliasearch('APP', key)",
  }),
  named(
    'named-database-key',
    ['algolia', 'upstash', 'confluent', 'cockroach', 'elastic', 'meili_master', 'typesense', 'qdrant', 'weaviate'],
    /(?:algolia|upstash|confluent|cockroach|elastic|meili_master|typesense|qdrant|weaviate)[\w.-]{0,16}(?:key|token|secret|password)/,
    /([A-Za-z0-9_+/=-]{24,120})/,
    {
      entropy: 3.3,
      yes: ['ALGOLIA_ADMIN_KEY=<hex 32>', 'UPSTASH_REDIS_REST_TOKEN="<base64 56>"'],
      no: 'elastic_key: string',
    },
  ),
  named(
    'named-monitoring-key',
    [
      'pagerduty',
      'honeycomb',
      'rollbar',
      'bugsnag',
      'logtail',
      'loggly',
      'splunk',
      'sumologic',
      'opsgenie',
      'statuspage',
      'amplitude',
      'mixpanel',
    ],
    /(?:pagerduty|honeycomb|rollbar|bugsnag|logtail|loggly|splunk|sumologic|opsgenie|statuspage|amplitude|mixpanel)[\w.-]{0,16}(?:key|token|secret)/,
    /([A-Za-z0-9+_-]{20,64})/,
    {
      entropy: 3.2,
      yes: ['PAGERDUTY_API_KEY=<alnum 20>', 'rollbar_access_token: <hex 32>'],
      no: 'ROLLBAR_TOKEN=your-token',
    },
  ),
  named(
    'work-tool-token',
    ['nylas', 'zapier', 'intercom', 'zendesk', 'trello', 'monday', 'clickup'],
    /(?:nylas|zapier|intercom|zendesk|trello|monday|clickup)[\w.-]{0,16}(?:key|token|secret)/,
    /([A-Za-z0-9=_-]{24,80})/,
    { entropy: 3.5, yes: 'TRELLO_TOKEN=<hex 64>', no: 'TRELLO_TOKEN=token' },
  ),
];

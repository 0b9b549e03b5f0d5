import { type Rule, rule } from './rule.ts';

/** Tokens of databases, monitoring, work tools and sign-in. */
export const SERVICES: readonly Rule[] = [
  rule(
    'alchemy-address',
    ['alchemyapi.io/v2/', 'alchemy.com/v2/'],
    /alchemy(?:api\.io|\.com)\/v2\/([\w-]{32})(?![\w-])/,
    {
      inside: true,
      entropy: 3.3,
      yes: ['https://eth-mainnet.alchemyapi.io/v2/<alnum 32>', 'wss://eth-mainnet.g.alchemy.com/v2/<alnum 32>'],
      no: 'https://eth-mainnet.g.alchemy.com/v2/your-api-key',
    },
  ),
  rule('coderabbit-key', ['cr-'], /cr-[0-9a-f]{58}(?![\w-])/, {
    yes: 'cr-<hex 58>',
    no: 'cr-<hex 40>',
  }),
  rule('runway-key', ['key_'], /key_[0-9a-f]{128}(?![\w-])/, {
    yes: 'key_<hex 128>',
    no: 'key_<hex 32>',
  }),
  rule('databricks-token', ['dapi', 'dose', 'dkea'], /(?:dapi|dose|dkea)[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])/, {
    entropy: 3,
    yes: ['dapi<hex 32>', 'dapi<hex 32>-2'],
    no: 'dapi',
  }),
  rule(
    'database-service-secret',
    ['pscale_', 'mdb_sa_sk_', 'ccdb1_', 'fna'],
    /(?:(?:pscale_(?:tkn|pw|oauth|api)_|mdb_sa_sk_)[\w.=-]{32,64}|CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}|fnA[\w-]{37})(?![\w-])/,
    { entropy: 3.3, yes: ['pscale_pw_<url 43>', 'pscale_tkn_<url 43>'], no: 'pscale_branch' },
  ),
  rule('neon-key', ['napi_', 'npg_'], /(?:napi_[a-z0-9]{50,80}|npg_[A-Za-z0-9]{12,20}(?![A-Za-z0-9]))/, {
    entropy: 3.3,
    yes: ['napi_<lower 64>', 'npg_<alnum 12>'],
    no: 'napi_value',
  }),
  rule(
    'airtable-token',
    ['pat', 'oaa'],
    /(?:pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|oaa[A-Za-z0-9]{14,16}\.v1\.[\w=./+-]{40,600})/,
    { yes: 'pat<alnum 14>.<hex 64>', no: 'path.join' },
  ),
  rule('datadog-prefixed-key', ['ddapp_', 'ddpat_'], /dd(?:app|pat)_[A-Za-z0-9_-]{34,60}/, {
    yes: 'ddapp_<alnum 34>',
    no: 'ddapp_',
  }),
  rule(
    'new-relic-key',
    ['nrak-', 'nrii-', 'nrjs-', 'nraa-', 'nriq-', 'nrbr-', 'nrma-'],
    /NR(?:AK|II|JS|AA|IQ|BR|MA)-[A-Za-z0-9_-]{19,40}/,
    { entropy: 3, yes: ['NRAK-<upper 27>', 'NRII-<url 32>'], no: 'NRAK-' },
  ),
  rule('new-relic-license', ['nral'], /(?:eu01xx|[0-9a-f]{6})[0-9a-f]{30}NRAL(?![A-Za-z0-9])/i, {
    lead: 36,
    yes: '<hex 36>NRAL',
    no: 'NRAL',
  }),
  rule('new-relic-license', ['eu01xx'], /eu01xx[0-9a-f]{20,40}-?NR(?:AL|MA)/i, {
    yes: 'eu01xx<hex 36>NRAL',
    no: 'NRAL',
  }),
  rule(
    'grafana-token',
    ['glsa_', 'glc_', 'eyjrijoi'],
    /(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/]{32,500}={0,2}|eyJrIjoi[A-Za-z0-9]{60,400}={0,2})/,
    { entropy: 3.3, yes: ['glsa_<alnum 32>_<hex 8>', 'glc_eyJ<alnum 100>'], no: 'glc_' },
  ),
  rule('dynatrace-token', ['dt0c01.', 'dt0s[0123456789]'], /dt0[cs]\d{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}/, {
    yes: 'dt0c01.<upper 24>.<upper 64>',
    no: 'dt0c01.',
  }),
  rule(
    'analytics-key',
    ['ph[xcsra]_', 'xaat-', 'xapt-', 'pylf_v', 'hcaik_', 'hcaic_'],
    /(?:ph[xcsra]_[\w-]{40,50}|xa[ap]t-[0-9a-f-]{36}|pylf_v\d_[a-z]{2}_[A-Za-z0-9]{40,50}|hcai[kc]_[a-z0-9]{55,64})/,
    { entropy: 3, yes: ['phx_<alnum 43>', 'pylf_v1_eu_<alnum 44>'], no: 'phx_new' },
  ),
  rule('linear-key', ['lin_api_', 'lin_oauth_', 'lin_wh_'], /lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,64}/, {
    yes: ['lin_api_<alnum 40>', 'lin_oauth_<hex 64>'],
    no: 'lin_api_key',
  }),
  rule('notion-token', ['ntn_', 'secret_'], /(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9]))/, {
    entropy: 3.5,
    yes: ['ntn_<digits 11><alnum 35>', 'secret_<alnum 43>'],
    no: 'secret_name',
  }),
  rule('atlassian-token', ['atatt3', 'atoat3', 'atcat3'], /AT(?:ATT|OAT|CAT)3[\w=.-]{60,400}/, {
    entropy: 3.5,
    yes: 'ATATT3xFfGF0<url 170>=<upper 8>',
    no: 'ATATT3',
  }),
  rule('figma-token', ['figd_', 'figo_', 'figu_', 'fig[our]h_', 'figor_', 'figur_'], /fig[dou][hr]?_[\w-]{32,50}/, {
    yes: 'figd_<url 40>',
    no: 'figd_x',
  }),
  rule('hubspot-token', ['pat-na', 'pat-eu', 'pat-ap'], /pat-(?:na|eu|ap)\d-[0-9a-f-]{36}/i, {
    yes: 'pat-na1-<uuid>',
    no: 'pat-na1',
  }),
  rule('contentful-token', ['cfpat-'], /CFPAT-[\w-]{43}/, { yes: 'CFPAT-<url 43>', no: 'CFPAT-' }),
  rule('typeform-token', ['tfp_'], /tfp_[A-Za-z0-9_.=-]{40,64}/, { yes: 'tfp_<alnum 44>_<alnum 14>', no: 'tfp_' }),
  rule('mapbox-token', ['sk.eyj', 'tk.eyj'], /[st]k\.eyJ[\w-]{20,300}\.[\w-]{20,24}/, {
    yes: 'sk.eyJ<url 84>.<url 22>',
    no: 'sk.eyJ',
  }),
  rule('dropbox-token', ['sl.'], /sl\.(?:u\.)?[\w-]{130,1500}/, { entropy: 4, yes: 'sl.<url 140>', no: 'ssl.key' }),
  rule(
    'launchdarkly-key',
    ['sdk-', 'api-', 'mob-'],
    /(?:sdk|api|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i,
    { yes: 'sdk-<hex 8>-<hex 4>-4<hex 3>-a<hex 3>-<hex 12>', no: 'api-server' },
  ),
  rule('maxmind-key', ['_mmk'], /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])/, {
    lead: 36,
    yes: '<alnum 6>_<alnum 29>_mmk',
    no: 'a_mmk',
  }),
  rule(
    'salesforce-token',
    ['00d', '5aep', '3mvg'],
    /(?:00D[A-Za-z0-9]{12,15}!\.?[\w.]{60,160}|5Aep[\w.=]{70,120}|3MVG[\w.]{70,100})/,
    { entropy: 3.5, yes: '00D<alnum 12>!<alnum 96>', no: '00D0' },
  ),
  rule('adobe-secret', ['p8e-'], /p8e-[a-z0-9-]{32}(?![A-Za-z0-9])/i, {
    entropy: 3,
    yes: 'p8e-<lower 32>',
    no: 'p8e-',
  }),
  rule('adafruit-key', ['aio_'], /aio_[A-Za-z0-9]{28,60}/, {
    entropy: 3,
    yes: 'aio_<alnum 28>',
    no: 'aio_write',
  }),
  rule('intra-42-secret', ['s-s4t2'], /s-s4t2(?:ud|af)-[a-f0-9]{64}/, { yes: 's-s4t2ud-<hex 64>', no: 's-s4t2ud-' }),
  rule('ubidots-token', ['bbff-', 'bbus-', 'bbfe-'], /BB(?:FF|US|FE)-[A-Za-z0-9]{30}/, {
    yes: 'BBFF-<alnum 30>',
    no: 'BBFF-',
  }),
  rule('alchemy-key', ['alcht_'], /alcht_[A-Za-z0-9]{30,60}/, {
    entropy: 3,
    yes: 'alcht_<alnum 30>',
    no: 'alcht_',
  }),
  rule('intercom-token', ['dg9rog'], /dG9rOg[A-Za-z0-9+/=]{40,80}/, { yes: 'dG9rOg<alnum 50>=', no: 'dG9rOg' }),
  rule(
    'work-tool-key',
    ['rdme_', 'fio-u-', 'duffel_', 'atta', 'pk_', 'cal_live_', 'pina_', 'db-'],
    /(?:rdme_[a-z0-9]{70}|fio-u-[\w=-]{64}|duffel_(?:test|live)_[\w=-]{43}|ATTA[0-9a-fA-F]{60,72}|pk_\d{6,10}_[A-Z0-9]{32}|cal_live_[a-f0-9]{32}|pina_[A-Z0-9]{60,100}|db-[A-Za-z0-9]{29}(?![A-Za-z0-9]))/i,
    { entropy: 3.5, yes: ['duffel_live_<url 43>', 'pk_<digits 8>_<upper 32>'], no: 'pk_test' },
  ),
  rule(
    'onepassword-token',
    ['ops_eyj', 'a3-'],
    /(?:ops_eyJ[A-Za-z0-9+/=_-]{200,2000}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})/,
    {
      entropy: 3,
      yes: ['ops_eyJ<url 300>', 'A3-<upper 6>-<upper 11>-<upper 5>-<upper 5 2>-<upper 5 3>'],
      no: 'A3-paper',
    },
  ),
  rule('onepassword-recovery', ['1prk-'], /1PRK(?:-[A-Z0-9]{4}){8,14}/, {
    entropy: 3,
    yes: '1PRK-<upper 4>-<upper 4 2>-<upper 4 3>-<upper 4 4>-<upper 4 5>-<upper 4 6>-<upper 4 7>-<upper 4 8>-<upper 4 9>',
    no: '1PRK-ABCD',
  }),
  rule(
    'bitwarden-token',
    ['=='],
    /0\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}==/,
    { lead: 92, yes: '0.<uuid>.<alnum 30>:<base64 22>==', no: ['a == b', '<uuid>=='] },
  ),
  rule('asana-token', ['1/1', '2/1'], /[12]\/1\d{11,18}(?:\/\d{12,20})?:[0-9a-f]{32}(?![A-Za-z0-9])/, {
    yes: ['1/12<digits 14>:<hex 32>', '2/12<digits 14>/12<digits 14>:<hex 32>'],
    no: 'page 1/10',
  }),
  rule('teamwork-token', ['tkn.v1_'], /tkn\.v1_[A-Za-z0-9+/=_-]{40,120}/, {
    yes: 'tkn.v1_<base64 76>=',
    no: 'tkn.v1_',
  }),
  rule(
    'identity-token',
    ['ory_', 'secret-live-', 'secret-test-'],
    /(?:ory_(?:pat|at|rt|ac|st|wak|apikey)_[\w.-]{20,160}|secret-(?:live|test)-[\w-]{36}=?)(?![\w-])/,
    { entropy: 3.3, yes: ['ory_pat_<alnum 32>', 'secret-live-<url 36>='], no: ['ory_path', 'secret-test-value'] },
  ),
  rule(
    'automation-token',
    ['n8n_api_', 'retool_01', 'dvc_server_', 'hbp_', 'cnvca'],
    /(?:n8n_api_[a-f0-9]{80}|retool_01[a-z0-9]{24,40}|dvc_server_[\w-]{30,80}|hbp_[A-Za-z0-9]{30,40}|cnvca[\w-]{40,70})(?![\w-])/,
    {
      entropy: 3.3,
      yes: ['n8n_api_<hex 80>', 'dvc_server_<hex 36>', 'cnvca<url 50>'],
      no: ['dvc_server_key', 'hbp_x'],
    },
  ),
  // Laravel writes the token's row, a bar, forty letters, and perhaps a checksum.
  rule(
    'laravel-token',
    ['[0123456789]|'],
    /(?<=(?:^|[\s"'`=:]|\\n)\d{0,6})\d\|((?=[A-Za-z]{0,39}\d)[A-Za-z0-9]{40}(?:[a-f0-9]{8})?)(?![\w|-])/,
    {
      entropy: 4,
      inside: true,
      yes: ['Bearer 49|<alnum 40>', '7|<alnum 40><hex 8>'],
      no: ['| 1|<hex 40> |', '1|2'],
    },
  ),
  rule('age-key', ['age-secret-key-1'], /AGE-SECRET-KEY-1[A-Z0-9]{58}/i, {
    yes: 'AGE-SECRET-KEY-1<upper 58>',
    no: 'AGE-SECRET-KEY-1',
  }),
  rule('infisical-token', ['st.'], /st\.[0-9a-f]{8}-?[0-9a-f]{16,28}\.[0-9a-f]{32}\.[0-9a-f]{32}/, {
    yes: 'st.<hex 24>.<hex 32>.<hex 32>',
    no: 'test.st.js',
  }),
];

import { named, type Rule, rule } from './rule.ts';

/** Tokens of clouds and of the software on them, recognised by their own form. */
export const CLOUDS: readonly Rule[] = [
  rule('aws-access-key', ['akia', 'asia', 'abia', 'acca'], /(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/, {
    entropy: 3,
    yes: ['AKIA<base32 16>', 'aws_access_key_id = ASIA<base32 16 2>\n'],
    no: ['AKIAXXXXXXXXXXXXXXXX', 'AKIAIOSFODNN7EXAMPLE', 'asiatic'],
  }),
  named(
    'aws-secret-key',
    ['aws', 'secretaccesskey', 'secret_access_key', 'secret access key'],
    /(?:aws|secret[_ ]?access[_ ]?key)/,
    /(?=[A-Za-z+/]{0,39}\d)(?!policy\/)([A-Za-z0-9+/]{40})/,
    {
      entropy: 4,
      yes: ['aws_secret_access_key = <base64 40>', '"SecretAccessKey": "<base64 40 3>"'],
      no: ['aws_secret_access_key = <your secret access key>', 'aws-sdk: <hex 40>'],
    },
  ),
  named(
    'aws-session-token',
    ['session_token', 'sessiontoken', 'x-amz-security-token'],
    /(?:session_?token|x-amz-security-token)/,
    /([A-Za-z0-9+/%]{100,2000}={0,2})/,
    { entropy: 4, yes: 'AWS_SESSION_TOKEN=<base64 240>', no: 'AWS_SESSION_TOKEN=$TOKEN' },
  ),
  rule('aws-bedrock-key', ['absk', 'bedrock-api-key-'], /(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/]{60,1500}={0,2}/, {
    entropy: 4,
    yes: 'ABSK<base64 128>',
    no: 'ABSKip',
  }),
  rule(
    'aws-service-key',
    ['amzn.mws.', 'da2-'],
    /(?:amzn\.mws\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|da2-[a-z0-9]{26}(?![A-Za-z0-9]))/,
    { yes: ['amzn.mws.<uuid>', 'da2-<lower 26>'], no: 'da2-bit' },
  ),
  rule('google-api-key', ['aiza'], /AIza[\w-]{35}(?![\w-])/, {
    entropy: 3.5,
    yes: ['AIza<url 35>', '?key=AIza<alnum 35>&v=3'],
    no: 'AIzaSyYOUR_API_KEY',
  }),
  rule('google-client-secret', ['gocspx-'], /GOCSPX-[\w-]{28}/, { yes: 'GOCSPX-<url 28>', no: 'GOCSPX-short' }),
  rule('google-access-token', ['ya29.'], /ya29\.[\w-]{30,1500}/, {
    entropy: 3.5,
    yes: 'Bearer ya29.<url 160>',
    no: 'ya29.',
  }),
  rule('google-refresh-token', ['1//0'], /1\/\/0[\w-]{40,200}/, { entropy: 3.5, yes: '1//0<url 60>', no: '1//0' }),
  rule('gemini-key', ['aq.ab'], /AQ\.Ab[\w-]{30,80}/, { yes: 'AQ.Ab8R<url 46>', no: 'AQ.About' }),
  rule('azure-client-secret', ['q~'], /[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])/, {
    entropy: 3.5,
    lead: 4,
    yes: '<alnum 3>8Q~<alnum 34>',
    no: '8Q~short',
  }),
  rule(
    'azure-account-key',
    ['accountkey=', 'sharedaccesskey=', 'sharedsecretkey=', 'shared_access_key='],
    /\w{10,20}=([A-Za-z0-9+/]{43,86}={0,2})/,
    {
      entropy: 4,
      inside: true,
      yes: ['AccountName=a;AccountKey=<base64 86>==;EndpointSuffix=x', ';SharedAccessKey=<base64 43>='],
      no: 'AccountKey=<key>;',
    },
  ),
  // Keys of older storage accounts have no mark of their own, so the columns of `az storage account keys list` tell.
  rule(
    'azure-account-key-list',
    ['full'],
    /full(?:\\{0,7}",(?:\s|\\[nrt]){0,20}\\{0,7}"value\\{0,7}":\s{0,2}\\{0,7}"|[ \t]{2,20})([A-Za-z0-9+/]{86}==)/i,
    {
      entropy: 4,
      yes: [
        'key1     FULL          <base64 86>==',
        '"permissions": "FULL",\n    "value": "<base64 86>=="',
        '\\"permissions\\": \\"FULL\\", \\"value\\": \\"<base64 86>==\\"',
      ],
      no: ['full  text', '"permissions": "FULL", "value": "<base64 40>"'],
    },
  ),
  rule('azure-shared-access-signature', ['sig='], /sig=((?:[A-Za-z0-9+/]|%2[bf]){40,86}(?:%3d|=){0,2})/i, {
    entropy: 4,
    yes: '?sv=2024-01-01&sp=r&sig=<alnum 43>%3D',
    no: '?sig=abc%3D',
  }),
  rule('azure-service-key', ['jqqj9'], /[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{26,30}={0,2}/, {
    lead: 52,
    yes: '<alnum 52>JQQJ9<alnum 27>',
    no: 'JQQJ9',
  }),
  rule('azure-storage-key', ['+ast', '+amc', '+aba'], /[A-Za-z0-9+/]{76}\+A(?:St|MC|Ba)[A-Za-z0-9+/]{5}[AQgw]==/, {
    lead: 76,
    yes: 'AccountKey=<base64 76>+ASt<alnum 5>A==',
    no: ['+ASt', 'AccountKey=<base64 60>'],
  }),
  rule('azure-database-key', ['acdb', 'apim'], /[A-Za-z0-9+/]{76}(?:ACDb|APIM)[A-Za-z0-9+/]{5}[AQgw]==/, {
    lead: 76,
    yes: '<alnum 76>ACDb<alnum 5>Q==',
    no: 'ACDb',
  }),
  rule(
    'azure-bus-key',
    ['aiot', '+asb', '+aeh', '+arm'],
    /[A-Za-z0-9+/]{33}(?:AIoT|\+A(?:Sb|Eh|Rm))[A-Za-z0-9+/]{5}[A-Za-z0-9+/]=/,
    { lead: 33, yes: '<alnum 33>+ASb<alnum 5>E=', no: '+ASb' },
  ),
  rule('azure-cache-key', ['azca', 'azeg'], /[A-Za-z0-9]{33}Az(?:Ca|EG)[A-Za-z0-9]{6}=/i, {
    lead: 33,
    yes: '<alnum 33>AzCaB<alnum 5>=',
    no: 'AzCa',
  }),
  rule('azure-search-key', ['azse', '+acr'], /[A-Za-z0-9+/]{42}(?:AzSe|\+ACR)[A-D][A-Za-z0-9+/]{5}/, {
    lead: 42,
    yes: '<alnum 42>AzSeC<alnum 5>',
    no: 'AzSe',
  }),
  rule('azure-function-key', ['azfu'], /[\w-]{44}AzFu[\w-]{5}[AQgw]==/, {
    lead: 44,
    yes: '<alnum 44>AzFu<alnum 5>Q==',
    no: 'AzFu',
  }),
  rule('azure-devops-token', ['azdo'], /[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])/, {
    lead: 76,
    yes: '<alnum 76>AZDO<alnum 4>',
    no: 'AZDO1234',
  }),
  rule(
    'alibaba-access-key',
    ['ltai', 'sts.'],
    /(?:LTAI[A-Za-z0-9]{12,26}(?![A-Za-z0-9])|STS\.[A-Z](?=[A-Za-z]{0,20}\d)[A-Za-z0-9]{20,40})/,
    {
      entropy: 3.2,
      yes: ['LTAI<alnum 20>', 'STS.N<alnum 24>'],
      no: 'LTAI',
    },
  ),
  rule('tencent-secret-id', ['akid'], /AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])/, {
    entropy: 3.5,
    yes: 'AKID<alnum 32>',
    no: 'AKIDxxxx',
  }),
  rule(
    'yandex-cloud-key',
    ['aqvn', 'y0_', 'ycaj', 'yc[abcdefghijklmnopqrstuvwxyz]'],
    /(?:AQVN[\w-]{35,38}|y0_[\w-]{40,70}|YCAJE[\w-]{20}|YC[A-Z][\w-]{38})(?![\w+/-])/,
    { entropy: 3.8, yes: ['AQVN<url 36>', 'y0_<alnum 55>'], no: 'y0_axis' },
  ),
  rule(
    'cloudflare-prefixed-token',
    ['cfut_', 'cfat_', 'cfk_', 'v1.0-'],
    /(?:cf(?:ut|at|k)_[A-Za-z0-9]{40,60}|v1\.0-[\w.-]{100,400})/,
    { entropy: 3.3, yes: ['v1.0-<hex 24>-<hex 146>', 'cfut_<alnum 48>'], no: 'v1.0-rc1' },
  ),
  rule('digitalocean-token', ['do[oprt]_v1_'], /do[oprt]_v1_[a-f0-9]{64}/, {
    yes: 'dop_v1_<hex 64>',
    no: 'dop_v1_token',
  }),
  rule('heroku-prefixed-key', ['hrku-'], /HRKU-[\w-]{36,80}/, { yes: ['HRKU-<url 60>', 'HRKU-<uuid>'], no: 'HRKU-' }),
  rule(
    'vercel-prefixed-token',
    ['vc[picrak]_', 'vercel_blob_rw_'],
    /(?:vc[picrak]_[\w-]{24,70}|vercel_blob_rw_[A-Za-z0-9]{10,24}_[A-Za-z0-9]{24,40})/,
    { entropy: 3.5, yes: 'vcp_<alnum 56>', no: 'vcp_region' },
  ),
  rule('netlify-token', ['nf[pcoub]_'], /nf[pcoub]_[A-Za-z0-9]{36,40}/, { yes: 'nfp_<alnum 36>', no: 'nfc_reader' }),
  rule(
    'fly-token',
    ['fm1', 'fm2_', 'fo1_'],
    /(?:(?<![\w/+-])|(?<=\\[nrt]))(?:fm[12][ar]?_[A-Za-z0-9+/_-]{80,2000}={0,2}|fo1_[\w-]{43})/,
    { entropy: 3.5, yes: ['FlyV1 fm2_<base64 200>', 'fo1_<url 43>'], no: 'fm1_radio' },
  ),
  rule('supabase-key', ['sbp_', 'sb_secret_'], /(?:sbp_(?:v0_|oauth_)?[a-f0-9]{40}|sb_secret_[\w-]{25,60})/, {
    yes: ['sbp_<hex 40>', 'sb_secret_<url 31>'],
    no: 'sb_publishable_x',
  }),
  rule('firebase-messaging-key', ['aaaa'], /AAAA[\w-]{7}:[\w-]{140}/, {
    entropy: 4,
    yes: 'AAAA<url 7>:<url 140>',
    no: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  }),
  rule('render-key', ['rnd_'], /rnd_[A-Za-z0-9]{28,40}/, { entropy: 3.5, yes: 'rnd_<alnum 32>', no: 'rnd_seed' }),
  rule('tailscale-key', ['tskey-'], /tskey-(?:[a-z]{3,10}-)?[A-Za-z0-9]{8,24}(?:CNTRL)?-[\w-]{20,120}/, {
    yes: 'tskey-auth-<alnum 12>CNTRL-<alnum 32>',
    no: 'tskey-auth',
  }),
  rule('vault-token', ['hvs.', 'hvb.', 'hvr.'], /hv[sbr]\.[\w-]{24,300}/, {
    entropy: 3.3,
    yes: 'hvs.<url 95>',
    no: 'hvs.example',
  }),
  rule('vault-batch-token', ['b.aaaaaq'], /b\.AAAAAQ[\w-]{80,300}/, { yes: 'b.AAAAAQ<url 140>', no: 'b.AAAAAQ' }),
  rule('terraform-token', ['.atlasv1.'], /[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}/, {
    lead: 14,
    yes: '<alnum 14>.atlasv1.<url 67>',
    no: 'token.atlasv1.x',
  }),
  rule('pulumi-token', ['pul-'], /pul-[a-f0-9]{40}/, { yes: 'pul-<hex 40>', no: 'pul-request' }),
  rule(
    'doppler-token',
    ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.', 'dp.said.'],
    /dp\.(?:pt|st|ct|sa|said|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}/,
    { yes: ['dp.pt.<alnum 43>', 'dp.st.dev_api.<alnum 43 2>'], no: 'dp.st.' },
  ),
  rule(
    'storage-key-pair',
    ['goog'],
    /GOOG[0-9A-Z]{16,60}[\s"',:|]{1,8}(?:secret[\s"':=]{1,4})?((?=[A-Za-z+/]{0,39}\d)[A-Za-z0-9+/]{40})(?![\w+/=])/,
    { entropy: 3.3, yes: 'GOOG1E<upper 57>\n<base64 40 3>', no: ['GOOGLE', 'GOOG1E<upper 57> <letters 40>'] },
  ),
  rule('aiven-token', ['aivenv1_'], /aivenv1_[A-Za-z0-9+/_=-]{60,600}/, {
    yes: 'aivenv1_<base64 200>',
    no: 'aivenv1_',
  }),
  rule('akamai-token', ['akab-'], /akab-[a-z0-9]{16}-[a-z0-9]{16}(?![a-z0-9.-])/, {
    entropy: 3.3,
    yes: 'akab-<lower 16>-<lower 16 2>',
    no: 'akab-<lower 16>-<lower 16 2>.luna.akamaiapis.net',
  }),
  rule('appwrite-key', ['standard_'], /standard_[a-f0-9]{256}/, { yes: 'standard_<hex 256>', no: 'standard_output' }),
  rule('device-token', ['thingsboard'], /thingsboard[\w.:-]{0,40}\/api\/v1\/([A-Za-z0-9]{20})\//, {
    inside: true,
    entropy: 3,
    yes: 'https://thingsboard.cloud/api/v1/<alnum 20>/telemetry',
    no: 'https://thingsboard.cloud/api/v1/device/telemetry',
  }),
  rule('scalingo-token', ['tk-us-'], /tk-us-[\w-]{48}/, { yes: 'tk-us-<url 48>', no: 'tk-us-east' }),
  rule('openshift-token', ['sha256~'], /sha256~[\w-]{43}(?![\w-])/, { yes: 'sha256~<url 43>', no: 'sha256~' }),
  rule('docker-swarm-key', ['swmkey-1-', 'swmtkn-1-'], /SWM(?:KEY-1-[\w+/]{43}|TKN-1-[a-z0-9]{50}-[a-z0-9]{25})/, {
    yes: ['SWMKEY-1-<base64 43>', 'SWMTKN-1-<lower 50>-<lower 25>'],
    no: 'SWMTKN-1-token',
  }),
  rule('defined-network-key', ['dnkey-'], /dnkey-[A-Z0-9=_-]{26}-[A-Z0-9=_-]{52}/i, {
    yes: 'dnkey-<upper 26>-<upper 52>',
    no: 'dnkey-x',
  }),
  rule(
    'cloud-tool-key',
    ['ucat_', 'nbp_', 'dbt[cus]_', 'configcat-sdk-', 'ico-', 'pnu_', 'pnb_', 'unkey_'],
    /(?:ucat_[A-Z0-9]{26}|nbp_[A-Za-z0-9]{36}|dbt[cus]_[\w=-]{32,64}|configcat-sdk-\d\/[\w-]{22}\/[\w-]{22}|ico-[A-Za-z0-9]{32}|pn[ub]_[A-Za-z0-9]{36}|unkey_[A-Za-z0-9]{16,44})(?![A-Za-z0-9])/,
    {
      entropy: 3,
      yes: ['ico-<alnum 32>', 'configcat-sdk-1/<url 22>/<url 22 2>', 'pnu_<alnum 36>'],
      no: ['ico-star', 'unkey_name'],
    },
  ),
];

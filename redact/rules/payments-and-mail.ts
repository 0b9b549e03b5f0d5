import { type Rule, rule } from './rule.ts';

/** Keys of payments, messaging and mail. */
export const PAYMENTS_AND_MAIL: readonly Rule[] = [
  rule(
    'secret-key',
    ['[sr]k_live_', '[sr]k_test_', '[sr]k_prod_', 'sk_org_'],
    /[sr]k_(?:org_)?(?:live|test|prod)_[\w-]{10,250}/,
    {
      entropy: 3,
      yes: ['sk_live_<alnum 24>', 'rk_test_<alnum 99>', 'Bearer sk_test_<url 43>'],
      no: ['sk_live_...', 'sk_test_xxxxxxxxxxxxxxxx', 'sk_test_YOUR_KEY_HERE'],
    },
  ),
  rule('webhook-secret', ['whsec_'], /whsec_[A-Za-z0-9+/=]{24,80}/, {
    entropy: 3.5,
    yes: 'whsec_<alnum 32>',
    no: 'whsec_...',
  }),
  rule(
    'paypal-braintree-token',
    ['access_token$'],
    /access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}/,
    { yes: 'access_token$production$<lower 16>$<hex 32>', no: 'access_token$x' },
  ),
  rule('square-token', ['sq0[acigp]', 'eaaa'], /(?:sq0[a-z]{3}-[\w-]{22,43}|EAAA[\w+=-]{56,64}(?![\w-]))/, {
    entropy: 3.5,
    yes: ['sq0atp-<url 22>', 'sq0csp-<url 43>', 'EAAA<url 60>'],
    no: 'EAAAA',
  }),
  rule('shopify-token', ['shp[abcdefghijklmnopqrstuvwxyz]'], /shp[a-z]{2,5}_[A-Za-z0-9]{32}/, {
    entropy: 3,
    yes: 'shpat_<hex 32>',
    no: 'shpat_token',
  }),
  rule('razorpay-key', ['rzp_live_', 'rzp_test_'], /rzp_(?:live|test)_[A-Za-z0-9]{14,24}/, {
    entropy: 3,
    yes: 'rzp_live_<alnum 14>',
    no: 'rzp_test_',
  }),
  rule(
    'plaid-token',
    ['access-sandbox-', 'access-production-', 'access-development-'],
    /access-(?:sandbox|production|development)-[0-9a-f-]{36}/,
    { yes: 'access-sandbox-<uuid>', no: 'access-sandbox-mode' },
  ),
  rule(
    'payment-provider-key',
    ['flwseck', 'pdl_live_', 'pdl_sdbx_', 'ezak', 'eztk', 'aqe', 'mid-server-', 'xnd_'],
    /(?:FLWSECK(?:_TEST|_LIVE)?-[A-Za-z0-9]{12,32}(?:-X)?|pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}|EZ[AT]K[A-Za-z0-9]{54}|AQE[a-z][A-Za-z0-9+/=]{80,200}-[A-Za-z0-9+/=]{40,60}-\S{10,20}|Mid-server-[\w-]{24}|xnd_(?:development|production)_[\w=]{30,80})/,
    { entropy: 3.3, yes: 'FLWSECK-<hex 32>-X', no: 'EZTK' },
  ),
  rule(
    'live-or-test-key',
    ['live_', 'test_', 'shippo_live_', 'shippo_test_', 'sandbox_'],
    /(?:(?:live|sandbox)_(?=[A-Za-z_=-]{0,29}\d)(?:[\w=-]{40}|[0-9a-f]{35}|[A-Za-z0-9]{30})|live_\d{6,10}_[A-Za-z0-9]{30}|test_(?=[A-Za-z]{0,29}\d)(?:[0-9a-f]{35}|[A-Za-z0-9]{30})|shippo_(?:live|test)_[a-f0-9]{40})(?![A-Za-z0-9])/,
    { entropy: 3.5, yes: ['live_<alnum 30>', 'test_<hex 35>'], no: ['live_reload', 'test_case_1'] },
  ),
  rule('slack-token', ['xox[abcdeoprs]-', 'xoxe.'], /xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9%/+=-]{16,400}/, {
    entropy: 2.8,
    yes: ['xoxb-<digits 12>-<digits 13>-<alnum 24>', 'xoxp-<digits 12>-<hex 32>'],
    no: ['xoxb-your-token', 'xoxb-xxxxxxxxxxxx-xxxxxxxxxxxx'],
  }),
  rule('slack-app-token', ['xapp-'], /xapp-\d-[A-Z0-9]{6,20}-\d{8,20}-[a-z0-9]{24,80}/i, {
    yes: 'xapp-1-A<upper 10>-<digits 13>-<hex 64>',
    no: 'xapp-1',
  }),
  rule(
    'slack-webhook',
    ['hooks.slack.com/'],
    /hooks\.slack\.com\/(?:services|workflows|triggers)\/([A-Za-z0-9+/]{30,100})/,
    {
      entropy: 3,
      yes: 'https://hooks.slack.com/services/T<upper 10>/B<upper 10>/<alnum 24>',
      no: 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
    },
  ),
  rule('discord-webhook', ['/api/webhooks/'], /\/api\/webhooks\/\d{17,20}\/([\w-]{60,80})/, {
    inside: true,
    yes: 'https://discord.com/api/webhooks/<digits 18>/<url 68>',
    no: '/api/webhooks/1/x',
  }),
  rule(
    'discord-token',
    ['m[tdjz][aeimquycgk]', 'n[tdjz][aeimquycgk]', 'o[td][aeimquycgk]'],
    /[MNO][TDjz][\w-]{21,26}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/,
    {
      entropy: 4,
      yes: ['DISCORD_TOKEN=MTA<alnum 23>.<alnum 6>.<url 38>', 'Authorization: Bot NzM<alnum 21>.<alnum 6>.<url 27>'],
      no: ['discord.js', 'bot = new Bot()'],
    },
  ),
  rule('telegram-token', [':aa'], /(?<=\d{8,10}):AA[\w-]{32,34}(?![\w-])/, {
    entropy: 3.5,
    inside: true,
    yes: ['<digits 10 3>:AA<url 33>', '/bot7<digits 9>:AA<url 33>/'],
    no: '00:AA:BB:CC:DD:EE',
  }),
  rule('twilio-key', ['sk[0123456789abcdef]'], /SK[0-9a-f]{32}(?![A-Za-z0-9])/i, {
    entropy: 3,
    yes: 'SK<hex 32>',
    no: 'sk<hex 10>',
  }),
  rule('twilio-account', ['ac[0123456789abcdef]'], /AC[0-9a-f]{32}["'`\s:,]{1,6}([0-9a-f]{32})(?![A-Za-z0-9])/, {
    entropy: 3,
    yes: ["twilio('AC<hex 32>', '<hex 32 2>')", '-u AC<hex 32>:<hex 32 2>'],
    no: 'AC<hex 32>',
  }),
  rule('sendgrid-key', ['sg.'], /SG\.[\w-]{16,32}\.[\w-]{32,64}/, {
    entropy: 3.5,
    yes: 'SG.<url 22>.<url 43>',
    no: ['msg.id', 'SG.x.y'],
  }),
  rule('mailgun-key', ['key-'], /key-[0-9a-zA-Z]{32}(?![A-Za-z0-9])/, {
    entropy: 3.2,
    yes: 'key-<hex 32>',
    no: 'key-value',
  }),
  rule('mailchimp-key', ['-us[123456789]'], /[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])/, {
    entropy: 3,
    lead: 32,
    yes: '<hex 32>-us14',
    no: 'locale-us1',
  }),
  rule(
    'mail-service-key',
    ['xkeysib-', 'xsmtpsib-', 're_', 'mlsn.', 'md-', 'os_v2_'],
    /(?:x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{22,26}(?![A-Za-z0-9])|mlsn\.[a-f0-9]{64}|md-(?=[A-Za-z_-]{0,21}\d)[\w-]{22}(?![\w-])|os_v2_[a-z]{3}_[a-z0-9]{60,120})/,
    { entropy: 3.5, yes: ['xkeysib-<hex 64>-<alnum 16>', 're_<alnum 8>_<alnum 24>'], no: 're_match' },
  ),
  rule(
    'teams-webhook',
    ['/webhookb2/', '/incomingwebhook/', 'outlook.office.com/webhook/'],
    /\/(?:webhookb2|IncomingWebhook|webhook)\/([\w@/-]{30,120}(?:IncomingWebhook\/[0-9a-f]{32}\/[0-9a-f-]{36})?)/i,
    {
      inside: true,
      yes: 'https://x.webhook.office.com/webhookb2/<hex 36>@<hex 36>/IncomingWebhook/<hex 32>/<hex 36>',
      no: '/webhookb2/',
    },
  ),
  rule(
    'webhook-address',
    ['tines.com/webhook/', 'zapier.com/hooks/catch/'],
    /(?:tines|zapier)\.com\/(?:webhook|hooks\/catch)\/([\w/]{12,120})/,
    { inside: true, yes: 'https://hooks.zapier.com/hooks/catch/<digits 7>/<lower 7>/', no: 'tines.com/webhook/' },
  ),
  rule(
    'payment-service-token',
    ['bxt_', 'klarna_live_api_', 'klarna_test_api_', 'polar_'],
    /(?:bxt_[A-Za-z0-9]{36}|klarna_(?:live|test)_api_[\w+/=()!@#$%^&*-]{40,250}|polar_(?:oat|pat|at|rt|cs|ci|whs)_[\w-]{32,60})(?![\w-])/,
    { entropy: 3.3, yes: ['bxt_<alnum 36>', 'polar_oat_<alnum 43>', 'klarna_live_api_<alnum 60>'], no: 'polar_bear' },
  ),
  rule('pubnub-secret', ['sec-c-'], /sec-c-[A-Za-z0-9+/]{40,60}={0,2}/, { yes: 'sec-c-<base64 48>', no: 'sec-c-' }),
  rule('telnyx-key', ['key0'], /KEY0[A-F0-9]{31}_[A-Za-z0-9]{22}(?![A-Za-z0-9])/i, {
    yes: 'KEY01<hex 30>_<alnum 22>',
    no: 'KEY01',
  }),
  rule('twitch-token', ['oauth:'], /oauth:((?=[a-z]{0,29}\d)[a-z0-9]{30})(?![a-z0-9])/, {
    entropy: 3.5,
    yes: 'PASS oauth:<lower 30>',
    no: 'grant_type:oauth:token',
  }),
  rule(
    'webhook-address',
    ['make.com/', 'integromat.com/', '/with/key/', '/bot/v2/hook/', 'webhook/send?key='],
    /(?:(?<=hook\.[\w.]{0,8})(?:make|integromat)\.com\/|\/with\/key\/|\/bot\/v2\/hook\/|webhook\/send\?key=)((?=[a-z_-]{0,30}[A-Z\d])[\w-]{20,60})(?![\w-])/,
    {
      inside: true,
      entropy: 3,
      yes: [
        'https://hook.eu1.make.com/<lower 32>',
        'https://maker.ifttt.com/trigger/door/with/key/<url 43>',
        'https://open.feishu.cn/open-apis/bot/v2/hook/<uuid>',
        'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=<uuid>',
      ],
      no: ['https://www.make.com/en/help', '/with/key/name'],
    },
  ),
  rule('facebook-token', ['eaa'], /EAA[A-Z][A-Za-z0-9]{20,400}(?![A-Za-z0-9])/, {
    entropy: 4,
    yes: 'EAAC<alnum 160>',
    no: 'EAACAAA',
  }),
  rule('instagram-token', ['igqv', 'igaa'], /IG(?:QV|AA)[\w-]{60,300}/, {
    entropy: 4,
    yes: 'IGQV<alnum 120>',
    no: 'IGQV',
  }),
  rule(
    'facebook-app-token',
    ['[0123456789]|', '[0123456789]%7c'],
    /(?<=\d{13,16})\d(?:\||%7C)([\w-]{27,40})(?![\w-])/,
    { entropy: 3.5, inside: true, yes: '<digits 15>|<url 27>', no: ['123|456', '| 1 | 2 |'] },
  ),
  rule('twitter-bearer', ['aaaaaaaaaaaaaaaaaaaaa'], /A{21,22}[A-Za-z0-9%]{60,120}(?![A-Za-z0-9])/, {
    entropy: 3.5,
    yes: 'AAAAAAAAAAAAAAAAAAAAA<alnum 30>%3D<alnum 50>',
    no: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  }),
];

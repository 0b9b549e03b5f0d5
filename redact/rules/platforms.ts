import { type Rule, rule } from './rule.ts';

/** Tokens of platforms that developers build on: jobs, documents, maps, data, wallets. */
export const PLATFORMS: readonly Rule[] = [
  rule(
    'aws-session-token',
    ['iqojb3jpz2lux2vj', 'f[wq]ogzxivyxdze'],
    /(?:IQoJb3JpZ2luX2Vj|F[wQ]oGZXIvYXdzE)[A-Za-z0-9+/%]{60,2000}={0,2}/,
    {
      yes: ['IQoJb3JpZ2luX2Vj<base64 300>', 'FwoGZXIvYXdzE<base64 300>'],
      no: 'IQoJb3JpZ2luX2Vj',
    },
  ),
  rule('google-access-token', ['4/0a'], /4\/0A[\w-]{60,120}(?![\w-])/, { entropy: 4, yes: '4/0A<url 70>', no: '4/0a' }),
  rule('discord-token', ['mfa.'], /mfa\.[\w-]{84}(?![\w-])/, { entropy: 4, yes: 'mfa.<url 84>', no: 'mfa.enabled' }),
  // RFC 8959
  rule('secret-token', ['secret-token:'], /secret-token:([\w.~%+-]{12,200})/, {
    entropy: 3,
    inside: true,
    yes: ['secret-token:mercury_production_wma_<alnum 40>', 'secret-token:<url 24>'],
    no: 'secret-token: string',
  }),
  rule(
    'event-platform-key',
    ['cflt', 'signkey-', 'tr_dev_', 'tr_prod_', 'tr_pat_', 'tr_stg_', 'hcx[iml]k_', 'hcamk_', 'cu_'],
    /(?:cflt[A-Za-z0-9+/]{60}|signkey-(?:prod|test|branch)-[a-f0-9]{32,64}|tr_(?:dev|prod|stg|pat)_[A-Za-z0-9]{20,48}|hc[ax][iml]k_[a-z0-9]{55,64}|cu_[a-f0-9]{32})(?![A-Za-z0-9+/])/,
    {
      entropy: 3,
      yes: ['cflt<base64 60>', 'signkey-prod-<hex 64>', 'tr_prod_<alnum 24>', 'hcxik_<lower 58>', 'cu_<hex 32>'],
      no: ['tr_dev_mode', 'cu_count', 'conflict'],
    },
  ),
  rule(
    'data-platform-token',
    ['ver:[123]-hint:', 'p.eyj', 'm0-', 'ctx7sk-', 'zpka_', 'gb_api_', 'plainapikey_'],
    /(?:ver:\d-hint:\d{4,24}-ETMs[\w+/=-]{50,1500}|p\.eyJ[\w-]{20,300}\.[\w-]{20,60}|m0-(?=[A-Za-z]{0,39}\d)[A-Za-z0-9]{40}|ctx7sk-[0-9a-f-]{36}|zpka_[a-z0-9]{32}_[a-f0-9]{8}|gb_api_[A-Za-z0-9]{36,48}|plainApiKey_[A-Za-z0-9_-]{30,80})(?![\w-])/,
    {
      entropy: 3,
      yes: [
        'ver:3-hint:<digits 12>-ETMs<base64 120>',
        'p.eyJ<url 90>.<url 43>',
        'm0-<alnum 40>',
        'ctx7sk-<uuid>',
        'gb_api_<alnum 40>',
      ],
      no: ['m0-m1', 'gb_api_url'],
    },
  ),
  rule('deepl-key', [':fx'], /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:fx(?![\w-])/, {
    lead: 36,
    yes: '<uuid>:fx',
    no: 'a:fx',
  }),
  rule('linkedin-secret', ['wpl_ap'], /WPL_AP\d\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/]{6}={0,2}/, {
    yes: 'WPL_AP1.<alnum 16>.<base64 6>==',
    no: 'WPL_AP1.x',
  }),
  rule(
    'map-key',
    ['mly|', 'prj_live_sk_', 'prj_test_sk_', 'pk.'],
    /(?:MLY\|\d{10,20}\|[a-f0-9]{32}|prj_(?:live|test)_sk_[a-f0-9]{40}|pk\.[a-f0-9]{32})(?![A-Za-z0-9])/,
    { entropy: 3, yes: ['MLY|<digits 16>|<hex 32>', 'prj_live_sk_<hex 40>', 'pk.<hex 32>'], no: ['pk.id', 'MLY|1'] },
  ),
  rule('sales-tool-key', ['api_', 'pk_'], /(?:api_[A-Za-z0-9]{20,24}\.[A-Za-z0-9]{20,24}|pk_[a-f0-9]{34})(?![\w.-])/, {
    entropy: 3,
    yes: ['api_<alnum 22>.<alnum 22 2>', 'pk_<hex 34>'],
    no: ['api_client.request', 'pk_id'],
  }),
  // Their vendors publish these beginnings, so that scanners can recognise them.
  rule(
    'platform-token',
    [
      'xwfp-',
      'prtapi_',
      'pdl_ntfset_',
      'avns_',
      'tsec_',
      'persona_production_',
      'persona_sandbox_',
      'gitpod_pat_',
      'hxt[pw]_',
      'retool_01',
      'bxt_',
      'sktsec_',
      'astracs:',
      'secret-live-',
      'secret-test-',
      'syt_',
      'lip_',
      'dls_',
    ],
    /(?:xwfp-[\w-]{40,200}|prtapi_[0-9a-f]{32}|pdl_ntfset_[a-z0-9]{26}_[A-Za-z0-9+/]{32}|AVNS_[\w-]{19,24}|tsec_[\w+-]{38,80}|persona_(?:production|sandbox)_[0-9a-f-]{36}|gitpod_pat_[\w.-]{40,120}|hxt[pw]_[A-Za-z0-9_-]{40,120}|retool_01[a-z0-9]{24}|bxt_[A-Za-z0-9]{36,44}|sktsec_[\w-]{30,80}_api|AstraCS:[A-Za-z]{24}:[0-9a-f]{64}|secret-(?:live|test)-[\w-]{43}=|syt_[A-Za-z0-9+/]{4,60}_[A-Za-z]{20}_[A-Za-z0-9]{6}|lip_(?=[A-Za-z]{0,19}\d)[A-Za-z0-9]{20}|dls_[A-Z0-9]{16,24}_[\w=+/-]{50,400})(?![\w-])/,
    {
      entropy: 3,
      yes: [
        'xwfp-<digits 12>-<alnum 40>',
        'prtapi_<hex 32>',
        'pdl_ntfset_<lower 26>_<alnum 32>',
        'AVNS_<url 19>',
        'tsec_<alnum 40>',
        'persona_production_<uuid>',
        'gitpod_pat_<alnum 43>',
        'hxtp_<alnum 60>',
        'retool_01<lower 24>',
        'bxt_<alnum 40>',
        'sktsec_<url 50>_api',
        'AstraCS:<letters 24>:<hex 64>',
        'secret-live-<url 43>=',
        'syt_<alnum 8>_<letters 20>_<alnum 6>',
        'lip_7<alnum 19>',
        'dls_<upper 20>_<alnum 60>',
      ],
      no: ['avns_enabled', 'secret-live-reload', 'retool_01', 'lip_sync_animation', 'dls_session'],
    },
  ),
  rule(
    'amazon-login-token',
    ['amzn1.oa2-cs.v1.', 'atz[ar]|'],
    /(?:amzn1\.oa2-cs\.v1\.[0-9a-f]{64}|Atz[ar]\|[\w+/-]{60,2000})/,
    {
      entropy: 3,
      yes: ['amzn1.oa2-cs.v1.<hex 64>', 'Atza|<url 300>', 'Atzr|<url 300>'],
      no: ['amzn1.oa2-cs.v1.id', 'Atza|'],
    },
  ),
  rule('yandex-token', ['t1.'], /t1\.[\w-]{60,2000}={0,2}\.[\w-]{86}={0,2}(?![\w-])/, {
    entropy: 4,
    yes: 't1.<url 90>.<url 86>',
    no: ['t1.id = t2.id', 't1.<url 20>'],
  }),
  // The seed of a NATS key: its type, in base32, with a checksum.
  rule('nats-seed', ['s[uaoncx]a'], /S[UAONCX]A(?=[A-Z]{0,54}[2-7])[A-Z2-7]{55}(?![A-Za-z0-9])/, {
    entropy: 4,
    yes: ['SUA<base32 55>', 'SAA<base32 55>'],
    no: ['SUA', 'usage', 'SUA<letters 55>'],
  }),
  rule('zoho-token', ['1000.'], /1000\.[0-9a-f]{32}\.[0-9a-f]{32}(?![\w.])/, {
    entropy: 3,
    yes: '1000.<hex 32>.<hex 32 2>',
    no: ['1000.0', '1000.<hex 32>'],
  }),
  rule('backblaze-key', ['k00[012345]'], /K00\d(?=[A-Za-z/+]{0,26}\d)[A-Za-z0-9/+]{27}(?![A-Za-z0-9/+])/, {
    entropy: 3.8,
    yes: 'K005<alnum 27>',
    no: ['K001', 'K005<letters 27>'],
  }),
  rule('entra-token', ['[01].a'], /[01]\.A[\w-]{24,160}\.(?:\d\.)?Ag[\w-]{200,4000}(?:\.[\w-]{20,2000})?/, {
    entropy: 4.5,
    yes: ['0.AXoA<url 90>.AgABAwEAAAA<url 300>', '1.AAEA-<url 50>.1.AgABAwEAAAA<url 300>.AQAB<url 120>'],
    no: ['1.0.Alpha', '0.AXoA<url 90>'],
  }),
  // In base58 and Bech32, the formats of the wallets of Bitcoin, Tezos, Cardano and Nostr.
  rule(
    'wallet-key',
    [
      '[xyzt]prv',
      'edsk',
      'nsec1',
      'ed25519_sk1',
      'ed25519e_sk1',
      'addr_sk1',
      'addr_xsk1',
      'root_xsk1',
      'acct_xsk1',
      'qn_',
    ],
    /(?:[xyzt]prv[1-9A-HJ-NP-Za-km-z]{107}|edsk[1-9A-HJ-NP-Za-km-z]{50,94}|nsec1[02-9ac-hj-np-z]{58}|(?:ed25519e?_sk|addr_x?sk|root_xsk|acct_xsk)1[02-9ac-hj-np-z]{58,180}|QN_[a-f0-9]{32})(?![A-Za-z0-9])/,
    {
      entropy: 3,
      yes: ['xprv<base58 107>', 'edsk<base58 50>', 'nsec1<bech32 58>', 'addr_xsk1<bech32 160>', 'QN_<hex 32>'],
      no: ['xprv9', 'edsk', 'nsec1'],
    },
  ),
];

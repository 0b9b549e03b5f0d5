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
  // In base58 and Bech32, as the wallets of Bitcoin, Tezos, Cardano and Nostr write them.
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

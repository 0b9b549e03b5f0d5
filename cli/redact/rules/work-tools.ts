import { made, madeUuid } from './made.ts';
import { assigned, type Rule } from './rule.ts';

/** Trackers, documents, design, customers. */
export const WORK_TOOL_RULES: readonly Rule[] = [
  {
    id: 'linear-key',
    keywords: ['lin_api_', 'lin_oauth_', 'lin_wh_'],
    pattern: /lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,64}/,
    examples: { hit: [`lin_api_${made('alnum', 40)}`, `lin_oauth_${made('hex', 64)}`], miss: ['lin_api_key'] },
  },
  {
    id: 'notion-token',
    keywords: ['ntn_', 'secret_'],
    pattern: /(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9]))/,
    entropy: 3.5,
    examples: {
      hit: [`ntn_${made('digits', 11)}${made('alnum', 35)}`, `secret_${made('alnum', 43)}`],
      miss: ['secret_name'],
    },
  },
  {
    id: 'atlassian-token',
    keywords: ['atatt3', 'atoat3', 'atc'],
    pattern: /AT(?:ATT|OAT|CAT)3[\w=.-]{60,400}/,
    entropy: 3.5,
    examples: { hit: [`ATATT3xFfGF0${made('url', 170)}=${made('hex', 8).toUpperCase()}`], miss: ['ATATT3'] },
  },
  {
    id: 'atlassian-named-token',
    keywords: ['atlassian', 'jira', 'confluence'],
    pattern: assigned('(?:atlassian|jira|confluence)[\\w.-]{0,16}(?:token|key|password)', '[A-Za-z0-9]{24}'),
    group: 1,
    entropy: 3.3,
    inside: true,
    examples: { hit: [`JIRA_API_TOKEN=${made('alnum', 24)}`], miss: ['JIRA_API_TOKEN=token'] },
  },
  {
    id: 'figma-token',
    keywords: ['figd_', 'figo_', 'figu_', 'figoh_', 'figor_', 'figuh_', 'figur_'],
    pattern: /fig[dou][hr]?_[\w-]{40,44}/,
    examples: { hit: [`figd_${made('url', 40)}`], miss: ['figd_x'] },
  },
  {
    id: 'asana-token',
    keywords: ['asana'],
    pattern: assigned('asana', '(?:[012]/\\d{16}(?:/\\d{16})?:[0-9a-f]{32}|[0-9a-f]{32})'),
    group: 1,
    entropy: 3,
    inside: true,
    examples: { hit: [`ASANA_TOKEN=1/${made('digits', 16)}:${made('hex', 32)}`], miss: ['asana: tasks'] },
  },
  {
    id: 'postman-key',
    keywords: ['pmak-', 'pmat-'],
    pattern: /(?:PMAK-[a-fA-F0-9]{24}-[a-fA-F0-9]{34}|PMAT-[A-Z0-9]{26})/,
    examples: { hit: [`PMAK-${made('hex', 24)}-${made('hex', 34)}`], miss: ['PMAK-'] },
  },
  {
    id: 'hubspot-token',
    keywords: ['pat-na', 'pat-eu', 'pat-ap'],
    pattern: /pat-(?:na|eu|ap)\d-[0-9a-f-]{36}/i,
    examples: { hit: [`pat-na1-${madeUuid()}`], miss: ['pat-na1'] },
  },
  {
    id: 'contentful-token',
    keywords: ['cfpat-'],
    pattern: /CFPAT-[\w-]{43}/,
    examples: { hit: [`CFPAT-${made('url', 43)}`], miss: ['CFPAT-'] },
  },
  {
    id: 'typeform-token',
    keywords: ['tfp_'],
    pattern: /tfp_[A-Za-z0-9_.=-]{40,64}/,
    examples: { hit: [`tfp_${made('alnum', 44)}_${made('alnum', 14)}`], miss: ['tfp_'] },
  },
  {
    id: 'mapbox-token',
    keywords: ['sk.eyj', 'tk.eyj'],
    pattern: /[st]k\.eyJ[\w-]{60,300}\.[\w-]{20,24}/,
    examples: { hit: [`sk.eyJ${made('url', 84)}.${made('url', 22)}`], miss: ['sk.eyJ'] },
  },
  {
    id: 'dropbox-token',
    keywords: ['sl.'],
    pattern: /sl\.(?:u\.)?[\w-]{130,1500}/,
    entropy: 4,
    examples: { hit: [`sl.${made('url', 140)}`], miss: ['ssl.key'] },
  },
  {
    id: 'launchdarkly-key',
    keywords: ['launchdarkly', 'ld_sdk', 'sdk-', 'api-'],
    pattern:
      /(?:(?:launchdarkly|ld_sdk)[\w.:=\x20"']{0,30})?((?:sdk|api|mob)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})/i,
    group: 1,
    examples: {
      hit: [`sdk-${made('hex', 8)}-${made('hex', 4)}-4${made('hex', 3)}-a${made('hex', 3)}-${made('hex', 12)}`],
      miss: ['api-server'],
    },
  },
  {
    id: 'work-tool-key',
    keywords: [
      'rdme_',
      'fio-u-',
      'duffel_',
      'sgp_',
      'nylas',
      'zapier',
      'intercom',
      'zendesk',
      'trello',
      'monday',
      'clickup',
      'pk_',
      'cal_live_',
    ],
    pattern:
      /(?:rdme_[a-z0-9]{70}|fio-u-[\w-]{64}|duffel_(?:test|live)_[\w-]{43}|pk_\d{6,10}_[A-Z0-9]{32}|cal_live_[a-f0-9]{32}|(?:nylas|zapier|intercom|zendesk|trello|monday|clickup)[\w.-]{0,20}(?:key|token|secret)["'`]?\x20?[:=]\x20?["'`]?[A-Za-z0-9=_-]{24,80})/i,
    entropy: 3.5,
    inside: true,
    examples: {
      hit: [
        `duffel_live_${made('url', 43)}`,
        `pk_${made('digits', 8)}_${made('upper', 32)}`,
        `TRELLO_TOKEN=${made('hex', 64)}`,
      ],
      miss: ['pk_test'],
    },
  },
];

import { made } from './made.ts';
import { assigned, type Rule } from './rule.ts';

/** Metrics, logs, errors, product analytics. */
export const OBSERVABILITY_RULES: readonly Rule[] = [
  {
    id: 'datadog-key',
    keywords: ['datadog', 'dd_api', 'dd-api', 'dd_app', 'dd-app', 'dd-application'],
    pattern: assigned('(?:datadog|dd[_-]ap[ip])', '(?:[0-9a-f]{40}|[0-9a-f]{32})'),
    group: 1,
    entropy: 3,
    inside: true,
    examples: {
      hit: [`DD_API_KEY=${made('hex', 32)}`, `DD-APPLICATION-KEY: ${made('hex', 40)}`],
      miss: ['DD_API_KEY=<key>'],
    },
  },
  {
    id: 'datadog-prefixed-key',
    keywords: ['ddapp_', 'ddpat_'],
    pattern: /dd(?:app|pat)_[A-Za-z0-9_-]{34,60}/,
    examples: { hit: [`ddapp_${made('alnum', 34)}`], miss: ['ddapp_'] },
  },
  {
    id: 'new-relic-key',
    keywords: ['nrak-', 'nrii-', 'nrjs-', 'nraa-', 'nriq-'],
    pattern: /NR(?:AK|II|JS|AA|IQ)-[A-Za-z0-9_-]{19,40}/,
    entropy: 3,
    examples: { hit: [`NRAK-${made('upper', 27)}`, `NRII-${made('url', 32)}`], miss: ['NRAK-'] },
  },
  {
    id: 'new-relic-license',
    keywords: ['nral', 'ffffnral'],
    lead: 36,
    pattern: /[0-9a-f]{36}NRAL(?![0-9A-Za-z])/,
    examples: { hit: [`${made('hex', 36)}NRAL`], miss: ['NRAL'] },
  },
  {
    id: 'sentry-token',
    keywords: ['sntrys_', 'sntryu_', 'sntrya_'],
    pattern: /sntry(?:s_[A-Za-z0-9+/=_-]{60,500}|[ua]_[a-f0-9]{64})/,
    examples: { hit: [`sntryu_${made('hex', 64)}`, `sntrys_eyJ${made('base64', 120)}`], miss: ['sntrys_'] },
  },
  {
    id: 'sentry-named-token',
    keywords: ['sentry_auth'],
    pattern: assigned('sentry_auth', '[0-9a-f]{64}'),
    group: 1,
    inside: true,
    examples: { hit: [`SENTRY_AUTH_TOKEN=${made('hex', 64)}`], miss: ['SENTRY_AUTH_TOKEN='] },
  },
  {
    id: 'grafana-token',
    keywords: ['glsa_', 'glc_', 'eyjrijoi'],
    pattern:
      /(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/]{32,500}={0,2}|eyJrIjoi[A-Za-z0-9]{60,400}={0,2})/,
    entropy: 3.3,
    examples: { hit: [`glsa_${made('alnum', 32)}_${made('hex', 8)}`, `glc_eyJ${made('alnum', 100)}`], miss: ['glc_'] },
  },
  {
    id: 'dynatrace-token',
    keywords: ['dt0c01.', 'dt0s01.', 'dt0s16.'],
    pattern: /dt0[cs]\d{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}/,
    examples: { hit: [`dt0c01.${made('upper', 24)}.${made('upper', 64)}`], miss: ['dt0c01.'] },
  },
  {
    id: 'analytics-key',
    keywords: ['phx_', 'xaat-', 'xapt-', 'pylf_v', 'hcaik_', 'hcaic_'],
    pattern:
      /(?:phx_[A-Za-z0-9]{40,50}|xa[ap]t-[0-9a-f-]{36}|pylf_v\d_[a-z]{2}_[A-Za-z0-9]{40,50}|hcai[kc]_[a-z0-9]{55,64})/,
    entropy: 3,
    examples: { hit: [`phx_${made('alnum', 43)}`, `pylf_v1_eu_${made('alnum', 44)}`], miss: ['phx_new'] },
  },
  {
    id: 'named-monitoring-key',
    keywords: [
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
    pattern: assigned(
      '(?:pagerduty|honeycomb|rollbar|bugsnag|logtail|loggly|splunk|sumologic|opsgenie|statuspage|amplitude|mixpanel)[\\w.-]{0,16}(?:key|token|secret)',
      '[A-Za-z0-9+_-]{20,64}',
    ),
    group: 1,
    entropy: 3.2,
    inside: true,
    examples: {
      hit: [`PAGERDUTY_API_KEY=${made('alnum', 20)}`, `rollbar_access_token: ${made('hex', 32)}`],
      miss: ['ROLLBAR_TOKEN=your-token'],
    },
  },
];

import { made } from './made.ts';
import type { Rule } from './rule.ts';

/** Registries of packages and images. */
export const PACKAGE_RULES: readonly Rule[] = [
  {
    id: 'npm-token',
    keywords: ['npm_'],
    pattern: /npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/,
    entropy: 3,
    examples: { hit: [`npm_${made('alnum', 36)}`], miss: ['npm_config_registry', 'npm_lifecycle_event'] },
  },
  {
    id: 'npmrc-token',
    keywords: ['_authtoken', '_auth', '_password'],
    pattern:
      /_(?:authToken|auth|password)[\x20\t]{0,3}=[\x20\t]{0,3}"?(?![A-Za-z_]{1,40}\.[A-Za-z_]{1,40}(?![\w.-]))([\w+/=.-]{16,500})/,
    group: 1,
    entropy: 3,
    examples: {
      hit: [`//registry/:_authToken=${made('hex', 36)}`, `_auth=${made('base64', 24)}`],
      miss: ['_authToken=$NPM_TOKEN', 'self._password = handler.password'],
    },
  },
  {
    id: 'pypi-token',
    keywords: ['pypi-'],
    pattern: /pypi-[\w-]{60,400}/,
    entropy: 3.8,
    examples: { hit: [`pypi-AgEIcHlwaS5vcmc${made('url', 120)}`], miss: ['pypi-publish'] },
  },
  {
    id: 'docker-token',
    keywords: ['dckr_pat_', 'dckr_oat_', 'dckr_sat_'],
    pattern: /dckr_[ops]at_[\w-]{27,60}/,
    examples: { hit: [`dckr_pat_${made('url', 27)}`], miss: ['dckr_pat_'] },
  },
  {
    id: 'rubygems-key',
    keywords: ['rubygems_'],
    pattern: /rubygems_[a-f0-9]{48}/,
    examples: { hit: [`rubygems_${made('hex', 48)}`], miss: ['rubygems_version'] },
  },
  {
    id: 'crates-token',
    keywords: ['cio'],
    pattern: /cio[A-Za-z0-9]{32}(?![A-Za-z0-9])/,
    entropy: 4,
    examples: { hit: [`cio${made('alnum', 32)}`], miss: ['cio'] },
  },
  {
    id: 'nuget-key',
    keywords: ['oy2'],
    pattern: /oy2[a-z0-9]{43}(?![A-Za-z0-9])/,
    entropy: 4,
    examples: { hit: [`oy2${made('lower', 43)}`], miss: ['oy2'] },
  },
  {
    id: 'clojars-token',
    keywords: ['clojars_'],
    pattern: /CLOJARS_[a-z0-9]{60}/i,
    examples: { hit: [`CLOJARS_${made('lower', 60)}`], miss: ['CLOJARS_USERNAME'] },
  },
  {
    id: 'artifactory-token',
    keywords: ['akcp', 'cmvmdgtu', 'ap'],
    pattern: /(?:AKCp[A-Za-z0-9]{60,80}|cmVmdGtu[A-Za-z0-9]{56}|AP[\dABCDEF][A-Za-z0-9]{68})(?![A-Za-z0-9])/,
    entropy: 4,
    examples: { hit: [`AKCp${made('alnum', 69)}`, `cmVmdGtu${made('alnum', 56)}`], miss: ['AP1'] },
  },
  {
    id: 'packagist-token',
    keywords: ['packagist_'],
    pattern: /packagist_[ou][ru]t_[a-f0-9]{68}/,
    examples: { hit: [`packagist_out_${made('hex', 68)}`], miss: ['packagist_url'] },
  },
];

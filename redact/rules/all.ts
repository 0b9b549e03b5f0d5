import { CLOUDS } from './clouds.ts';
import { CODE_HOSTS } from './code-hosts.ts';
import { COMMANDS } from './commands.ts';
import { KEYS } from './keys.ts';
import { MODELS } from './models.ts';
import { PAYMENTS_AND_MAIL } from './payments-and-mail.ts';
import { PLATFORMS } from './platforms.ts';
import type { Rule } from './rule.ts';
import { SERVICES } from './services.ts';
import { VENDOR_NAMES } from './vendor-names.ts';

/** Listed in this order. An id may have several rows. */
export const RULES: readonly Rule[] = [
  ...KEYS,
  ...CLOUDS,
  ...CODE_HOSTS,
  ...MODELS,
  ...PAYMENTS_AND_MAIL,
  ...SERVICES,
  ...PLATFORMS,
  ...VENDOR_NAMES,
  ...COMMANDS,
];

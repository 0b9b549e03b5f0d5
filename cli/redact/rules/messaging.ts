import { made } from './made.ts';
import { assigned, type Rule } from './rule.ts';

/** Chat, mail, telephone. */
export const MESSAGING_RULES: readonly Rule[] = [
  {
    id: 'slack-token',
    keywords: ['xoxa-', 'xoxb-', 'xoxc-', 'xoxd-', 'xoxe-', 'xoxe.', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-'],
    pattern: /xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9%/+=-]{16,400}/,
    entropy: 2.8,
    examples: {
      hit: [
        `xoxb-${made('digits', 12)}-${made('digits', 13)}-${made('alnum', 24)}`,
        `xoxp-${made('digits', 12)}-${made('hex', 32)}`,
      ],
      miss: ['xoxb-your-token', 'xoxb-xxxxxxxxxxxx-xxxxxxxxxxxx'],
    },
  },
  {
    id: 'slack-app-token',
    keywords: ['xapp-'],
    pattern: /xapp-\d-[A-Z0-9]{6,20}-\d{8,20}-[a-z0-9]{32,80}/,
    examples: { hit: [`xapp-1-A${made('upper', 10)}-${made('digits', 13)}-${made('hex', 64)}`], miss: ['xapp-1'] },
  },
  {
    id: 'slack-webhook',
    keywords: ['hooks.slack.com/'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/([A-Za-z0-9+/]{30,100})/,
    group: 1,
    entropy: 3,
    examples: {
      hit: [`https://hooks.slack.com/services/T${made('upper', 10)}/B${made('upper', 10)}/${made('alnum', 24)}`],
      miss: ['https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX'],
    },
  },
  {
    id: 'discord-webhook',
    keywords: ['/api/webhooks/'],
    pattern: /\/api\/webhooks\/\d{17,20}\/([\w-]{60,80})/,
    group: 1,
    inside: true,
    examples: {
      hit: [`https://discord.com/api/webhooks/${made('digits', 18)}/${made('url', 68)}`],
      miss: ['/api/webhooks/1/x'],
    },
  },
  {
    id: 'discord-token',
    keywords: ['discord', 'bot_token', 'bot ', 'client.login(', 'bot.run('],
    pattern:
      /(?:discord[\w.\x20-]{0,30}|bot_token|bot\x20|client\.login\(|bot\.run\()["'`:=\x20]{0,6}([MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40})/i,
    group: 1,
    inside: true,
    examples: {
      hit: [
        `DISCORD_TOKEN=M${made('alnum', 25)}.${made('alnum', 6)}.${made('url', 38)}`,
        `Authorization: Bot N${made('alnum', 23)}.${made('alnum', 6)}.${made('url', 27)}`,
      ],
      miss: ['discord.js', 'bot = new Bot()'],
    },
  },
  {
    id: 'telegram-token',
    keywords: [':aa'],
    pattern: /(?<=\d{8,10}):AA[\w-]{33}(?![\w-])/,
    entropy: 3.5,
    inside: true,
    examples: {
      hit: [`${made('digits', 10, 3)}:AA${made('url', 33)}`, `/bot7${made('digits', 9)}:AA${made('url', 33)}/`],
      miss: ['00:AA:BB:CC:DD:EE'],
    },
  },
  {
    id: 'twilio-key',
    keywords: [...'0123456789abcdef'].map((digit) => `sk${digit}`),
    pattern: /SK[0-9a-f]{32}(?![0-9A-Za-z])/,
    entropy: 3,
    examples: { hit: [`SK${made('hex', 32)}`], miss: [`sk${made('hex', 10)}`] },
  },
  {
    id: 'twilio-token',
    keywords: ['twilio'],
    pattern: assigned('twilio', '[A-Za-z0-9]{32}'),
    group: 1,
    entropy: 3,
    inside: true,
    examples: { hit: [`TWILIO_AUTH_TOKEN=${made('hex', 32)}`], miss: ['TWILIO_AUTH_TOKEN=your_auth_token'] },
  },
  {
    id: 'twilio-account',
    keywords: [...'0123456789abcdef'].map((digit) => `ac${digit}`),
    pattern: /AC[0-9a-f]{32}["'`\s:,]{1,6}([0-9a-f]{32})(?![0-9A-Za-z])/,
    group: 1,
    entropy: 3,
    examples: {
      hit: [`twilio('AC${made('hex', 32)}', '${made('hex', 32, 2)}')`, `-u AC${made('hex', 32)}:${made('hex', 32, 2)}`],
      miss: [`AC${made('hex', 32)}`],
    },
  },
  {
    id: 'sendgrid-key',
    keywords: ['sg.'],
    pattern: /SG\.[\w-]{20,24}\.[\w-]{39,50}/,
    entropy: 3.5,
    examples: { hit: [`SG.${made('url', 22)}.${made('url', 43)}`], miss: ['msg.id', 'SG.x.y'] },
  },
  {
    id: 'mailgun-key',
    keywords: ['key-'],
    pattern: /key-[0-9a-f]{32}(?![0-9A-Za-z])/,
    entropy: 3,
    examples: { hit: [`key-${made('hex', 32)}`], miss: ['key-value'] },
  },
  {
    id: 'mailgun-named-key',
    keywords: ['mailgun'],
    pattern: /mailgun[^\n]{0,80}?(?<![0-9a-z])([0-9a-f]{32}(?:-[0-9a-f]{8}-[0-9a-f]{8})?)(?![\w-])/i,
    group: 1,
    entropy: 3,
    inside: true,
    examples: {
      hit: [
        `MAILGUN_API_KEY=${made('hex', 32)}-${made('hex', 8)}-${made('hex', 8, 2)}`,
        `mailgun.client({ username: 'api', key: '${made('hex', 32)}' })`,
      ],
      miss: ['mailgun.js', `mailgun/lock.json:${made('hex', 64)}`],
    },
  },
  {
    id: 'mailchimp-key',
    keywords: ['-us'],
    lead: 32,
    pattern: /[0-9a-f]{32}-us\d{1,2}(?![0-9A-Za-z])/,
    entropy: 3,
    examples: { hit: [`${made('hex', 32)}-us14`], miss: ['locale-us1'] },
  },
  {
    id: 'mail-service-key',
    keywords: ['xkeysib-', 'xsmtpsib-', 're_', 'mlsn.'],
    pattern:
      /(?:x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{22,26}(?![A-Za-z0-9])|mlsn\.[a-f0-9]{64})/,
    entropy: 3.5,
    examples: {
      hit: [`xkeysib-${made('hex', 64)}-${made('alnum', 16)}`, `re_${made('alnum', 8)}_${made('alnum', 24)}`],
      miss: ['re_match'],
    },
  },
  {
    id: 'postmark-token',
    keywords: ['postmark'],
    pattern: assigned('postmark', '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'),
    group: 1,
    inside: true,
    examples: {
      hit: [
        `X-Postmark-Server-Token: 1a2b3c4d-${made('hex', 4)}-${made('hex', 4)}-${made('hex', 4)}-${made('hex', 12)}`,
      ],
      miss: ['postmark: id'],
    },
  },
  {
    id: 'teams-webhook',
    keywords: ['/webhookb2/', '/incomingwebhook/'],
    pattern:
      /\/(?:webhookb2|IncomingWebhook)\/([0-9a-fA-F@/-]{30,120}(?:IncomingWebhook\/[0-9a-f]{32}\/[0-9a-f-]{36})?)/i,
    group: 1,
    inside: true,
    examples: {
      hit: [
        `https://x.webhook.office.com/webhookb2/${made('hex', 36)}@${made('hex', 36)}/IncomingWebhook/${made('hex', 32)}/${made('hex', 36)}`,
      ],
      miss: ['/webhookb2/'],
    },
  },
  {
    id: 'facebook-token',
    keywords: ['eaa'],
    pattern: /EAA[MC][A-Za-z0-9]{60,400}(?![A-Za-z0-9])/,
    entropy: 4,
    examples: { hit: [`EAAC${made('alnum', 160)}`], miss: ['EAACAAA'] },
  },
  {
    id: 'twitter-bearer',
    keywords: ['aaaaaaaaaaaaaaaaaaaaa'],
    pattern: /A{21,22}[A-Za-z0-9%]{60,120}(?![A-Za-z0-9])/,
    entropy: 3.5,
    examples: { hit: [`AAAAAAAAAAAAAAAAAAAAA${made('alnum', 30)}%3D${made('alnum', 50)}`], miss: ['A'.repeat(90)] },
  },
];

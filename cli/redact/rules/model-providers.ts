import { made, madeUuid } from './made.ts';
import { assigned, type Rule } from './rule.ts';

/** Those who serve models, and the tools around them. */
export const MODEL_PROVIDER_RULES: readonly Rule[] = [
  {
    id: 'anthropic-key',
    keywords: ['sk-ant-'],
    pattern: /sk-ant-(?:[a-z]{2,10}\d{0,3}-)?[\w-]{32,200}/,
    entropy: 3.5,
    examples: {
      hit: [`sk-ant-api03-${made('url', 93)}AA`, `ANTHROPIC_API_KEY=sk-ant-oat01-${made('url', 93)}AA`],
      miss: ['sk-ant-...', 'sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
    },
  },
  {
    id: 'openrouter-key',
    keywords: ['sk-or-'],
    pattern: /sk-or-(?:v\d-)?[a-f0-9]{48,64}/,
    examples: { hit: [`sk-or-v1-${made('hex', 64)}`], miss: ['sk-or-v1-…'] },
  },
  {
    id: 'openai-key',
    keywords: ['sk-'],
    pattern: /sk-(?:(?:proj|svcacct|admin|None|service)-[\w-]{30,250}|[A-Za-z0-9]{32,64}(?![\w-]))/,
    entropy: 3.3,
    examples: {
      hit: [`sk-proj-${made('url', 74)}T3Blbk${made('url', 74)}`, `sk-${made('alnum', 48)}`, `sk-${made('hex', 32)}`],
      miss: ['sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 'sk-circle-fade-dot', 'task-1'],
    },
  },
  {
    id: 'openai-session',
    keywords: ['sess-'],
    pattern: /sess-[A-Za-z0-9]{40}(?![A-Za-z0-9])/,
    entropy: 4,
    examples: { hit: [`sess-${made('alnum', 40)}`], miss: [`sess-${madeUuid()}`] },
  },
  {
    id: 'huggingface-token',
    keywords: ['hf_', 'api_org_'],
    pattern: /(?:hf_|api_org_)[A-Za-z0-9]{34,40}(?![A-Za-z0-9])/,
    entropy: 3.5,
    examples: { hit: [`hf_${made('letters', 34)}`, `api_org_${made('letters', 34)}`], miss: ['hf_transfer'] },
  },
  {
    id: 'replicate-token',
    keywords: ['r8_'],
    pattern: /r8_[A-Za-z0-9]{37,40}/,
    examples: { hit: [`r8_${made('alnum', 37)}`], miss: ['r8_g8'] },
  },
  {
    id: 'groq-key',
    keywords: ['gsk_'],
    pattern: /gsk_[A-Za-z0-9]{48,60}/,
    examples: { hit: [`gsk_${made('alnum', 52)}`], miss: ['gsk_'] },
  },
  {
    id: 'perplexity-key',
    keywords: ['pplx-'],
    pattern: /pplx-[A-Za-z0-9]{48,64}/,
    examples: { hit: [`pplx-${made('alnum', 48)}`], miss: ['pplx-70b-online'] },
  },
  {
    id: 'xai-key',
    keywords: ['xai-'],
    pattern: /xai-[A-Za-z0-9]{70,90}/,
    examples: { hit: [`xai-${made('alnum', 80)}`], miss: ['xai-org'] },
  },
  {
    id: 'nvidia-key',
    keywords: ['nvapi-'],
    pattern: /nvapi-[\w-]{60,70}/,
    examples: { hit: [`nvapi-${made('url', 64)}`], miss: ['nvapi-'] },
  },
  {
    id: 'elevenlabs-key',
    keywords: ['sk_'],
    pattern: /sk_[0-9a-f]{48}(?![0-9A-Za-z])/,
    examples: { hit: [`sk_${made('hex', 48)}`], miss: ['sk_buff'] },
  },
  {
    id: 'langsmith-key',
    keywords: ['lsv2_', 'sk-lf-'],
    pattern: /(?:lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|sk-lf-[0-9a-f-]{36})/,
    examples: { hit: [`lsv2_pt_${made('hex', 32)}_${made('hex', 10)}`, `sk-lf-${madeUuid()}`], miss: ['lsv2_pt_'] },
  },
  {
    id: 'pinecone-key',
    keywords: ['pcsk_'],
    pattern: /pcsk_[A-Za-z0-9_]{60,80}/,
    examples: { hit: [`pcsk_${made('alnum', 5)}_${made('alnum', 63)}`], miss: ['pcsk_'] },
  },
  {
    id: 'model-tool-key',
    keywords: ['tvly-', 'fc-', 'jina_', 'csk-', 'fw_', 'tgp_v1_', 'sk-lc', 'co-', 'voyage', 'pa-', 'crsr_', 'api-key-'],
    pattern:
      /(?:tvly-(?:dev-)?[A-Za-z0-9]{32}|fc-[0-9a-f]{32}|jina_[A-Za-z0-9_-]{60}|csk-[a-z0-9]{48}|fw_[A-Za-z0-9]{22,30}|tgp_v1_[\w-]{43}|pa-[\w-]{43}|crsr_[0-9a-f]{64})(?![\w-])/,
    entropy: 3.5,
    examples: {
      hit: [`tvly-${made('alnum', 32)}`, `fc-${made('hex', 32)}`, `fw_${made('alnum', 24)}`],
      miss: ['fc-match'],
    },
  },
  {
    id: 'named-model-key',
    keywords: [
      'mistral',
      'cohere',
      'co_api',
      'deepseek',
      'together',
      'wandb',
      'ai21',
      'voyage',
      'stability',
      'azure_openai',
      'assemblyai',
      'deepgram',
    ],
    pattern: assigned(
      '(?:mistral|cohere|co_api|deepseek|together|wandb|ai21|voyage|stability|azure_openai|assemblyai|deepgram)',
      '(?:[A-Za-z0-9]{32}|[A-Za-z0-9]{40}|[a-f0-9]{64})',
    ),
    group: 1,
    entropy: 3.3,
    inside: true,
    examples: {
      hit: [
        `MISTRAL_API_KEY=${made('alnum', 32)}`,
        `COHERE_API_KEY: "${made('alnum', 40)}"`,
        `WANDB_API_KEY=${made('hex', 40)}`,
      ],
      miss: ['MISTRAL_API_KEY=your_key', 'model: mistral, large'],
    },
  },
];

import { type Rule, rule } from './rule.ts';

/** Keys of model providers and of tools built on them. */
export const MODELS: readonly Rule[] = [
  rule('anthropic-key', ['sk-ant-'], /sk-ant-(?:[a-z]{2,10}\d{0,3}-)?[\w-]{32,200}/, {
    entropy: 3.5,
    yes: ['sk-ant-api03-<url 93>AA', 'ANTHROPIC_API_KEY=sk-ant-oat01-<url 93>AA'],
    no: ['sk-ant-...', 'sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
  }),
  rule('openrouter-key', ['sk-or-'], /sk-or-(?:v\d-)?[a-f0-9]{48,64}/, { yes: 'sk-or-v1-<hex 64>', no: 'sk-or-v1-…' }),
  rule('openai-key', ['sk-'], /sk-(?:(?:proj|svcacct|admin|None|service)-[\w-]{30,250}|[A-Za-z0-9]{32,64}(?![\w-]))/, {
    entropy: 3.3,
    yes: ['sk-proj-<url 74>T3Blbk<url 74>', 'sk-<alnum 48>', 'sk-<hex 32>'],
    no: ['sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 'sk-circle-fade-dot', 'task-1'],
  }),
  rule('openai-session', ['sess-'], /sess-[A-Za-z0-9]{40}(?![A-Za-z0-9])/, {
    entropy: 4,
    yes: 'sess-<alnum 40>',
    no: 'sess-<uuid>',
  }),
  rule('huggingface-token', ['hf_', 'api_org_'], /(?:hf_|api_org_)[A-Za-z0-9]{34,80}/, {
    entropy: 3.5,
    yes: ['hf_<letters 34>', 'api_org_<letters 34>'],
    no: 'hf_transfer',
  }),
  rule('replicate-token', ['r8_'], /r8_[A-Za-z0-9]{37,40}/, { yes: 'r8_<alnum 37>', no: 'r8_g8' }),
  rule('groq-key', ['gsk_'], /gsk_[A-Za-z0-9]{48,60}/, { yes: 'gsk_<alnum 52>', no: 'gsk_' }),
  rule('perplexity-key', ['pplx-'], /pplx-[A-Za-z0-9]{48,64}/, { yes: 'pplx-<alnum 48>', no: 'pplx-70b-online' }),
  rule('xai-key', ['xai-'], /xai-(?:token-)?[\w-]{70,90}/, { yes: 'xai-<alnum 80>', no: 'xai-org' }),
  rule('nvidia-key', ['nvapi-'], /nvapi-[\w-]{60,70}/, { yes: 'nvapi-<url 64>', no: 'nvapi-' }),
  rule('elevenlabs-key', ['sk_'], /sk_[0-9a-f]{48,80}(?![A-Za-z0-9])/, { yes: 'sk_<hex 48>', no: 'sk_buff' }),
  rule('langsmith-key', ['lsv2_', 'sk-lf-'], /(?:lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|sk-lf-[0-9a-f-]{36})/, {
    yes: ['lsv2_pt_<hex 32>_<hex 10>', 'sk-lf-<uuid>'],
    no: 'lsv2_pt_',
  }),
  rule('cursor-key', ['key_'], /key_(?:[a-f0-9]{28}|[a-f0-9]{64})(?![A-Za-z0-9])/, {
    yes: 'key_<hex 64>',
    no: ['key_id', 'key_<hex 40>'],
  }),
  rule('helicone-key', ['sk-helicone-'], /sk-helicone-(?:[a-z]{2}-)?[a-z0-9]{7}(?:-[a-z0-9]{7}){3}/, {
    yes: 'sk-helicone-<lower 7>-<lower 7 2>-<lower 7 3>-<lower 7 4>',
    no: 'sk-helicone-key',
  }),
  rule('modal-token', ['ak-', 'as-'], /a[ks]-(?=[A-Za-z]{0,21}\d)[A-Za-z0-9]{22}(?![\w-])/, {
    entropy: 3.8,
    yes: ['ak-<alnum 22 3>', 'as-<alnum 22 3>'],
    no: ['as-is', 'ak-<letters 22>'],
  }),
  rule('pinecone-key', ['pcsk_'], /pcsk_[A-Za-z0-9_]{60,80}/, { yes: 'pcsk_<alnum 5>_<alnum 63>', no: 'pcsk_' }),
  rule(
    'agent-platform-key',
    ['cog_', 'esecret_', 'aph0_', 'bt-st-', 'sk_car_', 'luma-', 'ydc-sk-', 'scp-live-', 'scp-test-', 'bsa'],
    /(?:cog_[a-z0-9]{48,56}|esecret_[a-z0-9]{24,32}|aph0_[\w-]{40,90}|bt-st-[A-Za-z0-9]{40,60}|sk_car_[A-Za-z0-9]{20,40}|luma-[0-9a-f-]{36}-[0-9a-f-]{36}|ydc-sk-[\w-]{24,100}|scp-(?:live|test)-[0-9a-f]{32}|BSA(?=[A-Z_a-z-]{0,27}\d)[\w-]{28})(?![\w-])/,
    {
      entropy: 3.3,
      yes: [
        'cog_<lower 52>',
        'esecret_<lower 26>',
        'bt-st-<alnum 48>',
        'sk_car_<alnum 22>',
        'luma-<uuid>-<uuid 2>',
        'ydc-sk-<alnum 30>',
        'scp-live-<hex 32>',
        'BSA7<url 27>',
      ],
      no: ['cog_wheel', 'luma-key', 'BSAfoundation', 'bt-st-1'],
    },
  ),
  rule(
    'model-tool-key',
    ['tvly-', 'fc-', 'jina_', 'csk-', 'fw_', 'tgp_v1_', 'pa-', 'crsr_', 'llx-', 'flp_', 'pplx-', 'rpa_', 'wandb_v1_'],
    /(?:tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}|fc-[0-9a-f]{32}|jina_[\w-]{50,64}|csk-[a-z0-9]{48}|fw_[A-Za-z0-9]{22,30}|tgp_v1_[\w-]{40,48}|pa-[\w-]{43}|crsr_[0-9a-f]{64}|llx-[\w-]{46,52}|flp_[A-Za-z0-9]{40,50}|rpa_[A-Z0-9]{30,50}|wandb_v1_[\w-]{60,90})(?![\w-])/,
    { entropy: 3.5, yes: ['tvly-<alnum 32>', 'fc-<hex 32>', 'fw_<alnum 24>'], no: 'fc-match' },
  ),
];

import { made, madeUuid } from './made.ts';
import { assigned, type Rule } from './rule.ts';

/** Payments and shops. `sk_live_` and `sk_test_` are Stripe's and this product's own alike. */
export const PAYMENT_RULES: readonly Rule[] = [
  {
    id: 'secret-key',
    keywords: ['sk_live_', 'sk_test_', 'sk_prod_', 'rk_live_', 'rk_test_', 'rk_prod_'],
    pattern: /[sr]k_(?:live|test|prod)_[\w-]{10,250}/,
    entropy: 3,
    examples: {
      hit: [`sk_live_${made('alnum', 24)}`, `rk_test_${made('alnum', 99)}`, `Bearer sk_test_${made('url', 43)}`],
      miss: ['sk_live_...', 'sk_test_xxxxxxxxxxxxxxxx', 'sk_test_YOUR_KEY_HERE'],
    },
  },
  {
    id: 'webhook-secret',
    keywords: ['whsec_'],
    pattern: /whsec_[A-Za-z0-9+/=]{24,80}/,
    entropy: 3.5,
    examples: { hit: [`whsec_${made('alnum', 32)}`], miss: ['whsec_...'] },
  },
  {
    id: 'paypal-braintree-token',
    keywords: ['access_token$'],
    pattern: /access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}/,
    examples: { hit: [`access_token$production$${made('lower', 16)}$${made('hex', 32)}`], miss: ['access_token$x'] },
  },
  {
    id: 'paypal-secret',
    keywords: ['paypal', 'braintree'],
    pattern: assigned('(?:paypal|braintree)', '(?:E[\\w-]{79}|[0-9a-f]{32})'),
    group: 1,
    entropy: 3,
    inside: true,
    examples: {
      hit: [`PAYPAL_CLIENT_SECRET=E${made('url', 79)}`, `BRAINTREE_PRIVATE_KEY=${made('hex', 32)}`],
      miss: ['paypal: Express'],
    },
  },
  {
    id: 'square-token',
    keywords: ['sq0atp-', 'sq0csp-', 'sq0idp-', 'eaaa'],
    pattern: /(?:sq0(?:atp|csp|idp)-[\w-]{22,43}|EAAA[\w+=-]{60,64}(?![\w-]))/,
    entropy: 3.5,
    examples: {
      hit: [`sq0atp-${made('url', 22)}`, `sq0csp-${made('url', 43)}`, `EAAA${made('url', 60)}`],
      miss: ['EAAAA'],
    },
  },
  {
    id: 'shopify-token',
    keywords: ['shpat_', 'shpca_', 'shppa_', 'shpss_', 'shpua_'],
    pattern: /shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{32}/,
    examples: { hit: [`shpat_${made('hex', 32)}`], miss: ['shpat_token'] },
  },
  {
    id: 'razorpay-key',
    keywords: ['rzp_live_', 'rzp_test_'],
    pattern: /rzp_(?:live|test)_[A-Za-z0-9]{14,24}/,
    entropy: 3,
    examples: { hit: [`rzp_live_${made('alnum', 14)}`], miss: ['rzp_test_'] },
  },
  {
    id: 'plaid-token',
    keywords: ['access-sandbox-', 'access-production-', 'access-development-'],
    pattern: /access-(?:sandbox|production|development)-[0-9a-f-]{36}/,
    examples: { hit: [`access-sandbox-${madeUuid()}`], miss: ['access-sandbox-mode'] },
  },
  {
    id: 'payment-provider-key',
    keywords: ['flwseck', 'pdl_live_', 'pdl_sdbx_', 'ezak', 'eztk', 'shippo_live_', 'shippo_test_', 'aqe'],
    pattern:
      /(?:FLWSECK(?:_TEST|_LIVE)?-[A-Za-z0-9]{12,32}(?:-X)?|pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}|EZ[AT]K[A-Za-z0-9]{54}|shippo_(?:live|test)_[a-f0-9]{40}|AQE[a-z][A-Za-z0-9+/=]{80,200}-[A-Za-z0-9+/=]{40,60}-\S{10,20})/,
    entropy: 3.3,
    examples: { hit: [`FLWSECK-${made('hex', 32)}-X`, `shippo_live_${made('hex', 40)}`], miss: ['EZTK'] },
  },
];

import type { Scenario } from '../scenarios.ts';

export const BOOTSTRAP: readonly Scenario[] = [
  {
    route: 'getHealth',
    name: 'needs no credential',
    status: 200,
    body: () => ({ status: 'ok', service: 'session-capture', version: '0.1.0' }),
  },
  { route: 'getHealth', name: 'a wrong credential is ignored', as: () => 'nonsense', status: 200 },
  {
    route: 'getConfig',
    name: 'needs no credential',
    status: 200,
    body: () => ({ apiUrl: 'http://capture.test', idpClientId: 'dashboard', idpDomain: 'https://identity.test' }),
  },
];

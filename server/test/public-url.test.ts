import { describe, expect, test } from 'vitest';
import { publicUrlOf } from '../public-url.ts';

describe('the public address', () => {
  test.each([
    { config: { PUBLIC_URL: undefined, HOST: '127.0.0.1' }, url: 'http://127.0.0.1:4400' },
    { config: { PUBLIC_URL: undefined, HOST: '0.0.0.0' }, url: 'http://localhost:4400' },
    { config: { PUBLIC_URL: undefined, HOST: '::1' }, url: 'http://[::1]:4400' },
    { config: { PUBLIC_URL: 'https://capture.example.com', HOST: '0.0.0.0' }, url: 'https://capture.example.com' },
  ])('of $config is $url', ({ config, url }) => {
    expect(publicUrlOf(config, 4400)).toBe(url);
  });
});

import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compress } from './build/compress.ts';
import { routeAddresses } from './build/route-addresses.ts';

const SERVICE = process.env.SERVICE_URL ?? 'http://localhost:4400';
const ROUTES_OF_THE_SERVICE = ['/v1', '/config', '/health', '/oidc'];

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), routeAddresses(), compress()],
  build: {
    // The content security policy takes no data: fonts and no inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    rolldownOptions: {
      output: {
        // By this name the pages of signing in find it.
        assetFileNames: ({ names }) =>
          names.includes('inter-latin-wght-normal.woff2') ? 'fonts/[name][extname]' : 'assets/[name]-[hash][extname]',
        chunkFileNames: ({ name }) => `assets/${name.split('~')[0]}-[hash].js`,
        // A response costs a kilobyte of headers, and a browser asks for six at a time: what is small goes along with others.
        codeSplitting: {
          groups: [
            { name: 'index', tags: ['$initial'], priority: 1 },
            // What opens over a page is not needed to show one.
            {
              name: 'overlays',
              test: /node_modules.(@radix-ui|react-remove-scroll|aria-hidden|use-sidecar|react-style-singleton)/,
            },
            // The first page has no long list.
            { name: 'long-lists', test: /node_modules.@tanstack.(virtual-core|react-virtual)|kit.use-virtual-list/ },
            { name: 'common', minShareCount: 7 },
            // With twice the threshold the first page would get what only other pages use.
            { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 8_000 },
          ],
        },
      },
    },
    // light-dark() as it is written.
    cssTarget: ['chrome125', 'firefox128', 'safari18'],
  },
  worker: { format: 'es' },
  server: { proxy: Object.fromEntries(ROUTES_OF_THE_SERVICE.map((path) => [path, SERVICE])) },
});

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
  experimental: {
    // The same build serves every path, so files find each other by relative addresses. The service adds the path to the page.
    renderBuiltUrl: (_file, { hostType }) => (hostType === 'html' ? undefined : { relative: true }),
  },
  build: {
    // The content security policy forbids `data:` fonts and inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    rolldownOptions: {
      output: {
        // The sign-in pages find the font by this name.
        assetFileNames: ({ names }) =>
          names.includes('inter-latin-wght-normal.woff2') ? 'fonts/[name][extname]' : 'assets/[name]-[hash][extname]',
        chunkFileNames: ({ name }) => `assets/${name.split('~')[0]}-[hash].js`,
        // A response costs a kilobyte of headers, and a browser sends six requests at a time. So small modules share a file.
        codeSplitting: {
          groups: [
            { name: 'index', tags: ['$initial'], priority: 1 },
            // Menus and dialogs are not needed to show a page.
            {
              name: 'overlays',
              test: /node_modules.(@radix-ui|react-remove-scroll|aria-hidden|use-sidecar|react-style-singleton)/,
            },
            // The first page has no long lists.
            { name: 'long-lists', test: /node_modules.@tanstack.(virtual-core|react-virtual)|kit.use-virtual-list/ },
            // Otherwise they would share a file with code of the palette, and pages without sessions would load them.
            { name: 'session-styles', test: /session.session\.css$/ },
            { name: 'common', minShareCount: 7 },
            // With twice the threshold, the first page would also load modules that only other pages use.
            { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 5_000 },
          ],
        },
      },
    },
    // These versions support light-dark(), so it is not compiled away.
    cssTarget: ['chrome125', 'firefox128', 'safari18'],
  },
  worker: { format: 'es' },
  server: { proxy: Object.fromEntries(ROUTES_OF_THE_SERVICE.map((path) => [path, SERVICE])) },
});

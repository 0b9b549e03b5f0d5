import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import type { Route } from '../../contract/route.ts';

const TABLES = /\/contract\/(?:routes|extensions)\.ts$/;

/**
 * Of the route tables, the browser needs methods and addresses. Their schemas, and the library that makes them, would be a
 * fifth of all that is loaded before the first page is there.
 */
export const routeAddresses = (): Plugin => ({
  name: 'route-addresses',
  async load(id) {
    if (!TABLES.test(id)) return undefined;
    const tables: Record<string, Record<string, Route>> = await import(pathToFileURL(id).href);
    return Object.entries(tables)
      .filter(([name]) => name === 'ROUTES' || name === 'EXTENSIONS')
      .map(([name, table]) => `export const ${name} = ${JSON.stringify(addressesOf(table))};`)
      .join('\n');
  },
});

const addressesOf = (table: Record<string, Route>) =>
  Object.fromEntries(Object.entries(table).map(([name, { method, path }]) => [name, { method, path }]));

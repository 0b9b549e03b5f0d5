import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import type { Route } from '../../contract/route.ts';

const TABLES = /\/contract\/(?:routes|extensions)\.ts$/;

/**
 * Reduces the route tables to methods and addresses, which are all that the browser needs. The schemas and their library
 * would be a fifth of the code that is loaded before the first page is shown.
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

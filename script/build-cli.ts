import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './release/bundle.ts';
import { makePackage } from './release/package.ts';

/** Builds the npm package of the command line in `cli/dist`. */
const folder = join(ROOT, 'cli/dist');
await makePackage(folder);
console.log(`cli/dist/capture.js written, ${(statSync(join(folder, 'capture.js')).size / 1000).toFixed(0)} kB`);

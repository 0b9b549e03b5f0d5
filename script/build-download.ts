import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './release/bundle.ts';
import { makeDownloads } from './release/download.ts';

/** Builds the files that machines download from the service, in `dist/download`. */
const folder = join(ROOT, 'dist/download');
await makeDownloads(folder);
console.log(readFileSync(join(folder, 'install/SHA256SUMS'), 'utf8').trim());

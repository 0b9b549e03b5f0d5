import { join } from 'node:path';
import { ROOT } from './release/bundle.ts';
import { makeService } from './release/service.ts';

/** Bundles the service into a few files in `server/dist`. */
const { bytes } = await makeService(join(ROOT, 'server/dist'));
console.log(`server/dist/main.cjs written, with ${(bytes / 1e6).toFixed(1)} MB of code`);

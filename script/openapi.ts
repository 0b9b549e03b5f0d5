import { openapi } from '../contract/openapi.ts';
import { VERSION } from '../server/version.ts';

/** The OpenAPI document of this version, in lines that two versions can be compared by. */
export const openapiText = (): string => `${JSON.stringify(openapi(VERSION), null, 2)}\n`;

if (import.meta.main) process.stdout.write(openapiText());

/** The path below which the service serves its pages, without a slash at the end; empty at the root. The service adds it to the page. */
export const basePath = (): string => document.documentElement.dataset.base ?? '';

/** The address of a path, for the browser: for plain links and requests. The router adds the base path by itself. */
export const hrefOf = (path: string): string => basePath() + path;

/** The public address of the service, without a slash at the end. */
export const serviceAddress = (): string => window.location.origin + basePath();

/**
 * The name under which the browser stores a value. Services below different paths of a host share the storage, and must not read
 * each other's values. `public/theme.js` follows the same rule.
 */
export const storageName = (name: string): string => (basePath() === '' ? name : `${basePath()}:${name}`);

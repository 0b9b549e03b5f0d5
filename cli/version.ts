import manifest from './package.json' with { type: 'json' };

/** Shown by `capture --version` and sent with every registration. */
export const VERSION = manifest.version;

/** Versions of agents on npm. */
export const isRelease = (version: string): boolean => /^\d+\.\d+\.\d+$/.test(version);

/** A preview such as `1.0.84-4` or `0.61.0-nightly.20260909.ged2ac40df`. Codex has versions for platforms, such as `0.169.0-linux-x64`. */
export const isPreview = (version: string): boolean =>
  /^\d+\.\d+\.\d+-(\d|alpha|beta|canary|dev|next|nightly|preview|rc)/.test(version);

/** Orders versions from the newest to the oldest. A release is newer than its previews. */
export function byAge(one: string, other: string): number {
  const [first, second] = [one, other].map((version) => version.replace(/^([^-]*)$/, '$1-zz'));
  return (second ?? '').localeCompare(first ?? '', 'en', { numeric: true });
}

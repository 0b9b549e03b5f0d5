/** The cause for which tests of a file may be skipped. */
export interface Skip {
  files: RegExp;
  cause: string;
  /** Continuous integration accepts the cause, since installing packages cannot remove it. */
  isAccepted?: true;
}

/** The known causes. Any other skipped test is a fault, since a test that never runs looks like one that passes. */
export const SKIPS: readonly Skip[] = [
  {
    files:
      /^redact\/false-alarms\.test\.ts$|^cli\/(test\/series|test\/agents\/(corpus|corpus-claims|codex-usage|test-runs))\.test\.ts$|^dashboard\/e2e\/real\.test\.ts$/,
    cause: 'the collection of real transcripts is private and does not lie beside the repository',
    isAccepted: true,
  },
  {
    files: /^dashboard\/e2e\/firefox\.test\.ts$/,
    cause: 'there is no Firefox (Debian: firefox-esr)',
  },
  {
    files: /^server\/test\/pooler\.test\.ts$/,
    cause: 'no PgBouncer runs here (Debian: pgbouncer)',
  },
  {
    files: /^server\/test\/postgres-backup\.test\.ts$/,
    cause: 'there is no PostgreSQL of Debian with its client (Debian: postgresql)',
  },
  {
    files: /^server\/test\/(bus[\w-]*|numbering|dead-letters|deploy)\.test\.ts$|^faults\//,
    cause: 'there is no nats-server (Debian: nats-server)',
  },
  {
    files: /^server\/test\/lost-store\.test\.ts$/,
    cause: 'there is no C compiler to make a disk fail (Debian: build-essential)',
  },
  {
    files: /^cli\/test\/disk\.test\.ts$|^server\/test\/full-disk\.test\.ts$/,
    cause: 'mounting a small disk takes root and, in a container, CAP_SYS_ADMIN',
    isAccepted: true,
  },
  {
    files: /^(cli\/daemon\/processes|script\/release\/install)\.test\.ts$/,
    cause: 'it is about Linux',
    isAccepted: true,
  },
];

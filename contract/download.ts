/** The oldest major version of Node.js that the command line runs on. */
export const NODE_FLOOR = 24;

/** A file that the service serves to anybody. It is not a route, because its content is not JSON. */
export interface Download {
  about: string;
  contentType: string;
}

const TEXT = 'text/plain; charset=utf-8';
const ARCHIVE = 'application/gzip';

/** The downloads by path. A machine gets the matching command line from the service alone. */
export const DOWNLOADS = {
  '/install': { about: 'Script that installs the command line on Linux and macOS', contentType: TEXT },
  '/install.ps1': { about: 'Script that installs the command line on Windows', contentType: TEXT },
  '/capture.tgz': { about: 'The command line as an npm package without dependencies', contentType: ARCHIVE },
  '/install/SHA256SUMS': { about: 'SHA-256 of each archive and of both scripts', contentType: TEXT },
  '/install/node-{platform}.tgz': {
    about: 'Node.js for machines without a recent version, if the service has one for their platform',
    contentType: ARCHIVE,
  },
} satisfies Record<string, Download>;

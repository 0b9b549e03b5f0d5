import { type DestinationStream, type Logger, pino } from 'pino';

/** Fields that may hold a credential. */
const REDACTED = [
  'req.headers.authorization',
  'req.headers.cookie',
  'req.headers["x-service-secret"]',
  'headers.authorization',
  'headers.cookie',
  'headers["x-service-secret"]',
  'err.config',
  'err.parameters',
];

/** The service's log as JSON lines, without credentials; on the standard output unless told otherwise. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = { level, redact: { paths: REDACTED, censor: '[redacted]' } };
  return destination ? pino(options, destination) : pino(options);
}

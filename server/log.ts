/** Log fields that may hold a credential. */
export const REDACTED_PATHS = [
  'req.headers.authorization',
  'req.headers.cookie',
  'req.headers["x-service-secret"]',
  'headers.authorization',
  'headers.cookie',
  'headers["x-service-secret"]',
  'err.config',
  'err.parameters',
];

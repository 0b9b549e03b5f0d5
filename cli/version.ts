/** Sent with every registration. */
export const VERSION = '0.1.0';

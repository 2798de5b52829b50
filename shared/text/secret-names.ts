/** Which headers carry what clients and hosts prove who they are with, by their names. */
const SECRET = /authorization|cookie|token|secret|password|api-?key/i;

/** What is shown in place of a secret. */
export const REDACTED = '[redacted]';

export const isSecretHeader = (name: string): boolean => SECRET.test(name);

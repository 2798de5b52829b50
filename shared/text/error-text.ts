/**
 * What went wrong, in words for a log or an answer: the message of an error, or whatever was thrown
 * instead.
 */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** RFC 3339 in UTC with milliseconds, without a fraction where there is none. */
export function timestamp(unixMs: number): string {
  return new Date(unixMs).toISOString().replace('.000Z', 'Z');
}

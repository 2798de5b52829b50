/** What the doctor says: of each thing that was looked at, how it is, why, and what helps. */

type Health = 'ok' | 'unknown' | 'warning' | 'error';

export interface Finding {
  /** What was looked at, in one word or two. */
  readonly check: string;
  readonly health: Health;
  readonly found: string;
  /** The cause of a warning or an error. */
  readonly cause?: string;
  readonly cure?: string;
}

const MARKS: Readonly<Record<Health, string>> = {
  ok: 'ok     ',
  unknown: 'unknown',
  warning: 'WARNING',
  error: 'ERROR  ',
};

export function findingLines({ check, health, found, cause, cure }: Finding): string {
  const lines = [`${MARKS[health]} ${check}: ${found}`];
  if (cause !== undefined) lines.push(`        cause: ${cause}`);
  if (cure !== undefined) lines.push(`        cure:  ${cure}`);
  return `${lines.join('\n')}\n`;
}

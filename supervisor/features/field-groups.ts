/** Which fields of messages are refused or have no effect; the table is made from the resolvers. */
import { REFUSED_FIELDS } from './refused-fields.ts';

export interface FieldGroup {
  /** The message's full name. */
  readonly message: string;
  /** How many of its fields are acted on. */
  readonly served: number;
  /** Accepted, and without effect here. */
  readonly harmless: readonly string[];
  readonly refused: readonly string[];
}

/** Messages of which something is refused or has no effect, by name. */
export function fieldGroups(): readonly FieldGroup[] {
  return REFUSED_FIELDS.trim()
    .split('\n')
    .map((line) => {
      const [message = '', served = '0', refused = '', harmless = ''] = line.split(' ');
      return {
        message,
        served: Number(served),
        refused: wordsOf(refused),
        harmless: wordsOf(harmless),
      };
    });
}

/** The text of refused-fields.ts. */
export function printFieldGroups(groups: readonly FieldGroup[]): string {
  const lines = groups
    .filter(({ refused, harmless }) => refused.length + harmless.length > 0)
    .map(({ message, served, refused, harmless }) =>
      [message, served, refused.join(',') || '-', harmless.join(',') || '-'].join(' '),
    );
  return `/**
 * Message, how many of its fields are served, those refused, those without effect.
 * Made by \`node dist/scripts/pages/write-pages.js\` from the resolvers.
 */
export const REFUSED_FIELDS = \`
${lines.join('\n')}
\`;
`;
}

function wordsOf(list: string): readonly string[] {
  return list === '-' ? [] : list.split(',');
}

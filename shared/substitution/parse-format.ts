/**
 * Reads substitution formats: literal text with commands such as `%REQ(X?Y):10%` and `%%` for a
 * percent sign. Checks everything that can be checked without a request.
 */
import { checkCommand } from './command-arguments.ts';
import type { FormatCommand, FormatResult } from './format.ts';

/** Never throws; the error texts are Envoy's own. */
export function parseFormat(text: string): FormatResult {
  const parts: (string | FormatCommand)[] = [];
  let literal = '';
  let position = 0;
  while (position < text.length) {
    const percent = text.indexOf('%', position);
    if (percent < 0) {
      literal += text.slice(position);
      break;
    }
    literal += text.slice(position, percent);
    if (text[percent + 1] === '%') {
      literal += '%';
      position = percent + 2;
      continue;
    }
    COMMAND.lastIndex = percent;
    const match = COMMAND.exec(text);
    if (match === null) return { ok: false, error: noCommandAt(text, percent) };
    const [whole, name = '', argument, length] = match;
    if (length !== undefined && BigInt(length) > MAX_LENGTH) {
      return { ok: false, error: noCommandAt(text, percent) };
    }
    const command = checkCommand(
      name,
      argument ?? '',
      length === undefined ? undefined : Number(length),
    );
    if (typeof command === 'string') return { ok: false, error: command };
    if (literal !== '') parts.push(literal);
    literal = '';
    parts.push(command);
    position = percent + whole.length;
  }
  if (literal !== '') parts.push(literal);
  return { ok: true, format: { parts } };
}

/** Name, text between brackets (which cannot hold a closing one), length. */
const COMMAND = /%([A-Z0-9_]+)(?:\(([^)\n]*)\))?(?::([0-9]+))?%/y;
const MAX_LENGTH = (1n << 64n) - 1n;

function noCommandAt(text: string, position: number): string {
  const bytes = Buffer.byteLength(text.slice(0, position));
  return `Incorrect configuration: ${text}. Couldn't find valid command at position ${bytes}`;
}

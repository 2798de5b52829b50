/**
 * Joins the lines of `[...]` and `{...}` in a YAML text. The YAML library wants them indented more
 * than what is around them; Envoy does not, and users write closing brackets at the left
 * margin. Newlines and comments inside become spaces, so that every offset stays what it was.
 */
import { Lexer } from 'yaml';

/** Returns the same text when there is nothing to join. */
export function joinFlowLines(text: string): string {
  const pieces: string[] = [];
  let copied = 0;
  let offset = 0;
  for (const token of new Lexer().lex(text)) {
    if ((token === '[' || token === '{') && offset >= copied) {
      const end = flowEnd(text, offset);
      pieces.push(text.slice(copied, offset), joined(text.slice(offset, end)));
      copied = end;
    }
    offset += controlTokens.has(token) ? 0 : token.length;
  }
  return pieces.length === 0 ? text : pieces.join('') + text.slice(copied);
}

/** Marks of the lexer that stand for no text: document start, flow end, scalar. */
const controlTokens: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);

const flowPart =
  /"(?:[^"\\]|\\[^])*"|'(?:[^']|'')*'|(?<=\s)#[^\n]*|[^\s"'[\]{},][^\s[\]{},]*|[^]/gy;

/** Behind the bracket that closes the one at `start`; the end of the text if none does. */
function flowEnd(text: string, start: number): number {
  let depth = 0;
  flowPart.lastIndex = start;
  for (let found = flowPart.exec(text); found !== null; found = flowPart.exec(text)) {
    const [part] = found;
    if (part === '[' || part === '{') {
      depth += 1;
    } else if (part === ']' || part === '}') {
      depth -= 1;
    }
    if (depth === 0) {
      return found.index + part.length;
    }
  }
  return text.length;
}

/** A newline inside quotes is folded to a space as well. */
function joined(flow: string): string {
  return flow.replace(flowPart, (part) =>
    part.startsWith('#') ? ' '.repeat(part.length) : part.replace(/[\r\n]/g, ' '),
  );
}

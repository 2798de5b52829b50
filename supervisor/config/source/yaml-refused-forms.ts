/** Spellings of scalars that the YAML library takes and Envoy refuses. */
import { Scalar } from 'yaml';

interface RefusedForm {
  readonly message: string;
  readonly offset: number;
  /** Envoy's words, and the offset it gives. */
  readonly reference: { readonly words: string; readonly offset: number };
}

/**
 * `text` is what the scalar was read from; `isInFlow` says that it stands within brackets or
 * braces.
 */
export function refusedForm(
  text: string,
  { type, range }: Scalar,
  isInFlow: boolean,
): RefusedForm | undefined {
  if (range == null) return undefined;
  const source = text.slice(range[0], range[1]);
  if (type === Scalar.QUOTE_DOUBLE) return refusedEscape(source, range[0]);
  const at = isInFlow && type === Scalar.PLAIN ? source.indexOf('?') : -1;
  if (at < 0) return undefined;
  const message = "a word within brackets or braces that holds a '?' has to be quoted";
  const offset = range[0] + at;
  return { message, offset, reference: { words: 'unknown token', offset } };
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[^])/g;

/** Halves of a surrogate pair, together or alone. */
function refusedEscape(source: string, start: number): RefusedForm | undefined {
  if (!source.includes('\\')) return undefined;
  for (const { 0: escape, 1: short, 2: long, index } of source.matchAll(ESCAPE)) {
    const code = Number.parseInt(short ?? long ?? '0', 16);
    if (code < 0xd800 || code > 0xdfff) continue;
    return {
      message: `${escape} is no character; write the character itself or \\U and eight digits`,
      offset: start + index,
      reference: { words: `invalid unicode: ${code}`, offset: start + index + escape.length },
    };
  }
  return undefined;
}

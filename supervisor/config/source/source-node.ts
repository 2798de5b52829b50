/**
 * A configuration text as a tree with positions, the same for YAML and JSON. Numbers stay text, so
 * that 64-bit values keep every digit; only the conversion to a message gives values a type.
 */

/** `offset` counts UTF-16 units from the start of the text. */
export type SourceNode = SourceScalar | SourceMap | SourceList;

type SourceScalar =
  | { readonly kind: 'string' | 'number'; readonly value: string; readonly offset: number }
  | { readonly kind: 'boolean'; readonly value: boolean; readonly offset: number }
  | { readonly kind: 'null'; readonly value: null; readonly offset: number };

export interface SourceMap {
  readonly kind: 'map';
  readonly entries: readonly SourceEntry[];
  readonly offset: number;
  /** Keys stand there more than once, which is only kept for JSON. */
  readonly hasRepeats?: true;
}

export interface SourceEntry {
  readonly key: string;
  readonly keyOffset: number;
  readonly value: SourceNode;
}

interface SourceList {
  readonly kind: 'list';
  readonly items: readonly SourceNode[];
  readonly offset: number;
}

/** Why a text could not be read as a tree. */
export interface SyntaxProblem {
  readonly message: string;
  readonly offset: number;
  readonly rule: string;
  /** What Envoy says of it. */
  readonly reference?: string;
  /** The fault of a text that is no JSON: what Envoy says depends on the fields around it. */
  readonly json?: JsonFault;
  /** The place where a key that stands twice in one map stood before. */
  readonly earlierOffset?: number;
}

export interface JsonFault {
  readonly words: string;
  /** Keys and indices of what it stands in. */
  readonly path: readonly (string | number)[];
  /** A value was to begin here. */
  readonly isValueStart: boolean;
  /** Where the text ends there is no place to name. */
  readonly hasPlace: boolean;
}

export interface ParsedSource {
  /** Undefined when the text could not be read. */
  readonly root: SourceNode | undefined;
  readonly problems: readonly SyntaxProblem[];
}

/** Line and column of an offset, both from 1; columns count UTF-16 units. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const end = Math.min(offset, text.length);
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  return { line, column: end - lineStart + 1 };
}

/** Notes keys that stand twice in one map. */
export class DuplicateKeys {
  readonly problems: SyntaxProblem[] = [];

  /** Whether its key stands in the same map before. */
  check({ key, keyOffset: offset }: SourceEntry, earlier: SourceEntry | undefined): boolean {
    if (earlier === undefined) return false;
    const { keyOffset: earlierOffset } = earlier;
    const message = `duplicate key '${key}'`;
    this.problems.push({ message, offset, rule: 'duplicate_key', earlierOffset });
    return true;
  }
}

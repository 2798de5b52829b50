/**
 * What Envoy says of a broken YAML text. Its reader finds other places and has other words than
 * ours, and tools match on them; so a text that is refused is gone through once more the way that
 * one goes.
 */
import { YamlFault, type Mark } from './yaml-characters.ts';
import { YamlScanner } from './yaml-scanner.ts';
import type { Token, TokenKind } from './yaml-structure.ts';

/** Longer texts keep the words of our own reader. */
const MAX_LENGTH = 4_194_304;
/** Envoy gives up below this many collections. */
const MAX_DEPTH = 250;

/** The first line that Envoy would print, or undefined when it would read the text. */
export function envoyYamlFault(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  try {
    new DocumentWalk(new YamlScanner(text)).walk();
    return undefined;
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    return yamlFaultLine(error.mark, error.message);
  }
}

export function yamlFaultLine({ line, column }: Mark, words: string): string {
  return `yaml-cpp: error at line ${line}, column ${column}: ${words}`;
}

const NO_END = {
  sequence: 'end of sequence not found',
  map: 'end of map not found',
  flowSequence: 'end of sequence flow not found',
  flowMap: 'end of map flow not found',
};

class DocumentWalk {
  readonly #scanner: YamlScanner;
  readonly #anchors = new Set<string>();
  readonly #inFlowSequence: boolean[] = [];

  constructor(scanner: YamlScanner) {
    this.#scanner = scanner;
  }

  walk(): void {
    this.#directives();
    if (this.#scanner.peek() === undefined) return;
    this.#takeIf('document start');
    this.#node();
    // Envoy looks whether the document ends here.
    this.#scanner.peek();
  }

  #directives(): void {
    const seen = new Set<string>();
    for (;;) {
      const token = this.#scanner.peek();
      if (token?.kind !== 'directive') return;
      checkDirective(token, seen);
      this.#scanner.pop();
    }
  }

  #node(): void {
    const first = this.#scanner.peek();
    if (first === undefined) return;
    if (this.#inFlowSequence.length > MAX_DEPTH)
      throw new YamlFault(this.#scanner.mark, 'bad file');
    if (first.kind === 'value') {
      // A value without a key is a map by itself.
      if (this.#inFlowSequence.at(-1) === true) this.#compactMap();
      else this.#inside(false, () => this.#blockMap());
      return;
    }
    if (first.kind === 'alias') {
      if (!this.#anchors.has(first.text)) {
        throw new YamlFault(first.mark, `the referenced anchor is not defined: ${first.text}`);
      }
      this.#scanner.pop();
      return;
    }
    this.#properties();
    this.#content();
  }

  #properties(): void {
    const seen = new Set<TokenKind>();
    for (;;) {
      const token = this.#scanner.peek();
      if (token?.kind !== 'tag' && token?.kind !== 'anchor') return;
      if (seen.has(token.kind)) {
        throw new YamlFault(token.mark, `cannot assign multiple ${token.kind}s to the same node`);
      }
      seen.add(token.kind);
      if (token.kind === 'anchor') this.#anchors.add(token.text);
      this.#scanner.pop();
    }
  }

  #content(): void {
    switch (this.#scanner.peek()?.kind) {
      case 'scalar':
        this.#scanner.pop();
        return;
      case 'block sequence':
        this.#opened(false, () => this.#blockSequence());
        return;
      case 'block map':
        this.#opened(false, () => this.#blockMap());
        return;
      case 'flow sequence':
        this.#opened(true, () => this.#flowSequence());
        return;
      case 'flow map':
        this.#opened(false, () => this.#flowMap());
        return;
      case 'key':
        if (this.#inFlowSequence.at(-1) === true) this.#compactMap();
        return;
      default:
        // An empty node.
        return;
    }
  }

  #opened(isFlowSequence: boolean, read: () => void): void {
    this.#scanner.pop();
    this.#inside(isFlowSequence, read);
  }

  #inside(isFlowSequence: boolean, read: () => void): void {
    this.#inFlowSequence.push(isFlowSequence);
    read();
    this.#inFlowSequence.pop();
  }

  #blockSequence(): void {
    for (;;) {
      const token = this.#expect(NO_END.sequence);
      if (token.kind !== 'block entry' && token.kind !== 'block sequence end') {
        throw new YamlFault(token.mark, NO_END.sequence);
      }
      this.#scanner.pop();
      if (token.kind === 'block sequence end') return;
      const next = this.#scanner.peek()?.kind;
      if (next !== 'block entry' && next !== 'block sequence end') this.#node();
    }
  }

  #blockMap(): void {
    for (;;) {
      const token = this.#expect(NO_END.map);
      if (token.kind !== 'key' && token.kind !== 'value' && token.kind !== 'block map end') {
        throw new YamlFault(token.mark, NO_END.map);
      }
      if (this.#takeIf('block map end')) return;
      if (this.#takeIf('key')) this.#node();
      if (this.#takeIf('value')) this.#node();
    }
  }

  #flowSequence(): void {
    for (;;) {
      this.#expect(NO_END.flowSequence);
      if (this.#takeIf('flow sequence end')) return;
      this.#node();
      const token = this.#expect(NO_END.flowSequence);
      if (!this.#takeIf('flow entry') && token.kind !== 'flow sequence end') {
        throw new YamlFault(token.mark, NO_END.flowSequence);
      }
    }
  }

  #flowMap(): void {
    for (;;) {
      this.#expect(NO_END.flowMap);
      if (this.#takeIf('flow map end')) return;
      if (this.#takeIf('key')) this.#node();
      if (this.#takeIf('value')) this.#node();
      const token = this.#expect(NO_END.flowMap);
      if (!this.#takeIf('flow entry') && token.kind !== 'flow map end') {
        throw new YamlFault(token.mark, NO_END.flowMap);
      }
    }
  }

  /** One pair within brackets: `[a: b]`. */
  #compactMap(): void {
    this.#inside(false, () => {
      if (this.#takeIf('key')) this.#node();
      if (this.#takeIf('value')) this.#node();
    });
  }

  #expect(words: string): Token {
    const token = this.#scanner.peek();
    if (token === undefined) throw new YamlFault(this.#scanner.mark, words);
    return token;
  }

  #takeIf(kind: TokenKind): boolean {
    if (this.#scanner.peek()?.kind !== kind) return false;
    this.#scanner.pop();
    return true;
  }
}

function checkDirective({ mark, text }: Token, seen: Set<string>): void {
  const [name = '', ...values] = text.split(/[ \t]+/);
  if (name === 'YAML') {
    const [version = ''] = values;
    if (values.length !== 1) {
      throw new YamlFault(mark, 'YAML directives must have exactly one argument');
    }
    if (seen.has('YAML')) throw new YamlFault(mark, 'repeated YAML directive');
    seen.add('YAML');
    const [, major] = /^(\d+)\.(\d+)$/.exec(version) ?? [];
    if (major === undefined) throw new YamlFault(mark, `bad YAML version: ${version}`);
    if (Number(major) > 1) throw new YamlFault(mark, 'YAML major version too large');
  }
  if (name === 'TAG') {
    if (values.length !== 2) {
      throw new YamlFault(mark, 'TAG directives must have exactly two arguments');
    }
    const handle = `TAG ${values[0] ?? ''}`;
    if (seen.has(handle)) throw new YamlFault(mark, 'repeated TAG directive');
    seen.add(handle);
  }
}

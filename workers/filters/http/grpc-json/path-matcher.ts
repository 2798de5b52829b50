/** Finds the method that a path of HTTP leads to, and the parts of the path that are its variables. */
import type {
  HttpBinding,
  PathVariable,
  TranscoderOptions,
} from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';

interface MatchedPath {
  readonly binding: HttpBinding;
  readonly variables: readonly { readonly field: readonly string[]; readonly text: string }[];
}

/** A segment in the tree of all templates. */
class TemplateNode {
  readonly literals = new Map<string, TemplateNode>();
  single: TemplateNode | undefined = undefined;
  /** `**`: itself takes any number of segments. */
  rest: TemplateNode | undefined = undefined;
  isRest = false;
  readonly bindings = new Map<string, HttpBinding>();

  child(segment: string): TemplateNode {
    if (segment === '*') return (this.single ??= new TemplateNode());
    if (segment === '**') {
      this.rest ??= new TemplateNode();
      this.rest.isRest = true;
      return this.rest;
    }
    let child = this.literals.get(segment);
    if (child === undefined) this.literals.set(segment, (child = new TemplateNode()));
    return child;
  }
}

type Unescapes = TranscoderOptions['unescapes'];

export class PathMatcher {
  readonly #root = new TemplateNode();
  readonly #customVerbs = new Set<string>();
  readonly #matchesAnyVerb: boolean;
  readonly #unescapes: Unescapes;

  constructor({ bindings, matchesUnregisteredVerb, unescapes }: TranscoderOptions) {
    this.#matchesAnyVerb = matchesUnregisteredVerb;
    this.#unescapes = unescapes;
    for (const binding of bindings) {
      let node = this.#root;
      for (const segment of binding.segments) node = node.child(segment);
      if (binding.customVerb !== '') {
        node = node.child(binding.customVerb);
        this.#customVerbs.add(binding.customVerb);
      }
      if (!node.bindings.has(binding.verb)) node.bindings.set(binding.verb, binding);
    }
  }

  /** `path` without its query. */
  match(verb: string, path: string): MatchedPath | undefined {
    const parts = this.#partsOf(path);
    const binding = find(this.#root, parts, 0, verb);
    if (binding === undefined) return undefined;
    const segments = binding.customVerb === '' ? parts : parts.slice(0, -1);
    const variables = binding.variables.map((variable) => ({
      field: variable.field,
      text: this.#textOf(variable, segments),
    }));
    return { binding, variables };
  }

  #partsOf(path: string): readonly string[] {
    const colon = path.lastIndexOf(':');
    const customVerb = colon > path.lastIndexOf('/') ? path.slice(colon + 1) : undefined;
    const isVerb =
      customVerb !== undefined && (this.#matchesAnyVerb || this.#customVerbs.has(customVerb));
    const parts = (isVerb ? path.slice(0, colon) : path).slice(1).split('/');
    if (isVerb) parts.push(customVerb);
    while (parts.at(-1) === '') parts.pop();
    return parts;
  }

  #textOf({ start, end, isMultiple }: PathVariable, segments: readonly string[]): string {
    const last = end >= 0 ? end : segments.length + end + 1;
    const kept = isMultiple ? this.#unescapes : 'all';
    return segments
      .slice(start, last)
      .map((segment) => unescapeText(segment, kept))
      .join('/');
  }
}

/** Literals first, then `*`, then `**`. */
function find(
  node: TemplateNode,
  parts: readonly string[],
  at: number,
  verb: string,
): HttpBinding | undefined {
  const part = parts[at];
  if (part === undefined) {
    const own = node.bindings.get(verb);
    if (own !== undefined || node.rest === undefined) return own;
    return find(node.rest, parts, at, verb);
  }
  const literal = node.literals.get(part);
  const byLiteral = literal && find(literal, parts, at + 1, verb);
  if (byLiteral !== undefined) return byLiteral;
  if (node.isRest) {
    const further = find(node, parts, at + 1, verb);
    if (further !== undefined) return further;
  }
  for (const child of [node.single, node.rest]) {
    const found = child && find(child, parts, at + 1, verb);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** RFC 6570: characters that mean something in a path or query. */
const RESERVED = new Set(Buffer.from(":/?#[]@!$&'()*+,;=", 'latin1'));
const SLASH = 0x2f;

/** `text` has one character per byte; what is no `%XX` stays. Gives characters of UTF-8. */
export function unescapeText(text: string, unescapes: Unescapes, plusIsSpace = false): string {
  const spaced = plusIsSpace ? text.replaceAll('+', ' ') : text;
  const bytes = spaced.replace(/%[0-9a-fA-F]{2}/g, (escaped) => {
    const code = Number.parseInt(escaped.slice(1), 16);
    const stays =
      (unescapes === 'except_reserved' && RESERVED.has(code)) ||
      (unescapes === 'except_slash' && code === SLASH);
    return stays ? escaped : String.fromCharCode(code);
  });
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

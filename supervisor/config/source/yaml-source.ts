/**
 * Reads YAML into a source tree the way Envoy's YAML reader does: the first document only,
 * YAML 1.1 booleans, C-style integers that fit 32 bits as numbers, everything else as strings,
 * aliases followed, `<<` an ordinary key, map entries tagged `!ignore` left out.
 */
import {
  type CST,
  Composer,
  type Document,
  Lexer,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  type YAMLError,
  isAlias,
  isMap,
  isScalar,
  isSeq,
} from 'yaml';
import { takeLiberties } from './yaml-liberties.ts';
import { joinFlowLines } from './yaml-flow-lines.ts';
import {
  DuplicateKeys,
  type ParsedSource,
  type SourceEntry,
  type SourceNode,
  type SyntaxProblem,
  lineAndColumn,
} from './source-node.ts';
import { plainScalar } from './yaml-scalars.ts';
import { refusedForm } from './yaml-refused-forms.ts';
import { envoyYamlFault, yamlFaultLine } from './yaml-words/yaml-words.ts';

/** Deeper nesting than any message of the API needs; the tree is walked by recursion. */
const maximumDepth = 200;
/** Tokens that the library's parser has open: a pair within a collection may be one of its own. */
const STACK_MAX = 2 * maximumDepth + 10;

/** Messages of the library about mistakes that may be none to Envoy. */
const FLOW_RELATED = /flow|implicit/i;

/** Nodes that aliases may multiply a text into: a small file must not become a huge tree. */
const maximumAliasedNodes = 2_000_000;

export function parseYaml(text: string): ParsedSource {
  try {
    const document = readDocument(text);
    const errors = document.errors.filter((error) => !isHarmless(error));
    if (errors.length > 0) {
      const problems = errors.map((error) => syntaxProblem(text, error));
      return { root: undefined, problems: inEnvoysWords(text, problems) };
    }
    const directive = text.startsWith('%') ? directiveProblem(text) : undefined;
    if (directive !== undefined) return { root: undefined, problems: [directive] };
    const builder = new TreeBuilder(text);
    const root = document.contents === null ? undefined : builder.build(document.contents, 0);
    return { root, problems: builder.problems };
  } catch (error) {
    if (error instanceof TreeError) {
      return { root: undefined, problems: inEnvoysWords(text, [error.problem]) };
    }
    if (error instanceof RangeError) {
      // The library reads nested collections by recursion.
      const problem = { message: 'nested too deeply', offset: 0, rule: 'yaml.syntax' };
      return { root: undefined, problems: inEnvoysWords(text, [problem]) };
    }
    throw error;
  }
}

function readDocument(text: string): Document.Parsed {
  const document = compose(text, (token) => token);
  if (!document.errors.some((error) => FLOW_RELATED.test(error.message))) {
    return document;
  }
  const again = compose(joinFlowLines(text), takeLiberties);
  return again.errors.every(isHarmless) ? again : document;
}

/** The first document, or an empty one; `prepare` may change the tokens of its text. */
function compose(text: string, prepare: (token: CST.Token) => CST.Token): Document.Parsed {
  const composer = new Composer({
    version: '1.1',
    schema: 'failsafe',
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  function* tokens(): Generator<CST.Token> {
    for (const token of parse(text)) yield prepare(token);
  }
  for (const document of composer.compose(tokens(), true, text.length)) return document;
  throw new RangeError('the YAML library made no document');
}

/**
 * The library's parser, ended as soon as collections stand too deep in each other: what follows
 * walks them by recursion, and V8 ends the process when it has to compile a pattern where the stack
 * is full.
 */
function* parse(text: string): Generator<CST.Token> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > STACK_MAX) throw new RangeError('nested too deeply');
  }
  yield* parser.end();
}

/** Envoy takes a comment right after a bracket. */
function isHarmless(error: YAMLError): boolean {
  return error.message.startsWith('Comments must be separated');
}

class TreeError extends Error {
  readonly problem: SyntaxProblem;

  constructor(problem: SyntaxProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

interface Nesting {
  readonly depth: number;
  /** Within brackets or braces. */
  readonly isInFlow: boolean;
}

class TreeBuilder {
  readonly #text: string;
  readonly #anchors = new Map<string, SourceNode>();
  readonly #duplicates = new DuplicateKeys();
  #aliased = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get problems(): readonly SyntaxProblem[] {
    return this.#duplicates.problems;
  }

  /** `isInFlow`: within brackets or braces. */
  build(node: Node, depth: number, isInFlow = false): SourceNode {
    const offset = node.range?.[0] ?? 0;
    if (depth > maximumDepth) {
      throw new TreeError({ message: 'nested too deeply', offset, rule: 'nesting' });
    }
    if (isAlias(node)) {
      return this.#followAlias(node.source, offset);
    }
    const built = this.#buildOwn(node, offset, { depth, isInFlow });
    const anchor = 'anchor' in node ? node.anchor : undefined;
    if (anchor !== undefined) {
      this.#anchors.set(anchor, built);
    }
    return built;
  }

  #followAlias(name: string, offset: number): SourceNode {
    const target = this.#anchors.get(name);
    if (target === undefined) {
      const mark = lineAndColumn(this.#text, offset);
      throw new TreeError({
        message: `the anchor '${name}' is not defined before this alias`,
        offset,
        rule: 'yaml.alias',
        reference: yamlFaultLine(mark, `the referenced anchor is not defined: ${name}`),
      });
    }
    this.#aliased += countNodes(target, maximumAliasedNodes - this.#aliased);
    if (this.#aliased >= maximumAliasedNodes) {
      throw new TreeError({
        message: `aliases repeat more than ${maximumAliasedNodes} nodes`,
        offset,
        rule: 'yaml.alias',
      });
    }
    return target;
  }

  #buildOwn(node: Node, offset: number, { depth, isInFlow }: Nesting): SourceNode {
    if (isMap(node)) {
      const inside = { depth, isInFlow: isInFlow || node.flow === true };
      return { kind: 'map', entries: this.#entries(node.items as Pair[], inside), offset };
    }
    if (isSeq(node)) {
      const isFlow = isInFlow || node.flow === true;
      const items = (node.items as Node[]).map((item) => this.build(item, depth + 1, isFlow));
      return { kind: 'list', items, offset };
    }
    this.#checkForm(node as Scalar, isInFlow);
    return scalarNode(node as Scalar, offset);
  }

  #checkForm(node: Scalar, isInFlow: boolean): void {
    const refused = refusedForm(this.#text, node, isInFlow);
    if (refused === undefined) return;
    const { message, offset, reference } = refused;
    const words = yamlFaultLine(lineAndColumn(this.#text, reference.offset), reference.words);
    throw new TreeError({ message, offset, rule: 'yaml.syntax', reference: words });
  }

  #entries(pairs: readonly Pair[], { depth, isInFlow }: Nesting): SourceEntry[] {
    // Envoy sees the last value alone of a key that stands twice.
    const entries = new Map<string, SourceEntry>();
    for (const pair of pairs) {
      const key = pair.key as Node;
      const keyOffset = key.range?.[0] ?? 0;
      if (!isScalar(key)) {
        throw new TreeError({
          message: 'a key must be a plain word or a string',
          offset: keyOffset,
          rule: 'yaml.key',
          reference: yamlFaultLine(lineAndColumn(this.#text, keyOffset), 'bad conversion'),
        });
      }
      this.#checkForm(key, isInFlow);
      const value =
        pair.value === null
          ? ({ kind: 'null', value: null, offset: keyOffset } as const)
          : this.build(pair.value as Node, depth + 1, isInFlow);
      const name = keyName(key);
      if (key.tag === '!ignore') continue;
      const entry = { key: name, keyOffset, value };
      this.#duplicates.check(entry, entries.get(name));
      entries.set(name, entry);
    }
    return [...entries.values()];
  }
}

/** Envoy names a key that is null so. */
function keyName(key: Scalar): string {
  const name = key.source ?? String(key.value);
  return key.type === 'PLAIN' && plainScalar(name, 0).kind === 'null' ? 'null' : name;
}

function countNodes(node: SourceNode, limit: number): number {
  let count = 1;
  const children =
    node.kind === 'map'
      ? node.entries.map((entry) => entry.value)
      : node.kind === 'list'
        ? node.items
        : [];
  for (const child of children) {
    if (count >= limit) {
      break;
    }
    count += countNodes(child, limit - count);
  }
  return count;
}

/** Quoted and block scalars are strings, unless an explicit tag asks to read them as plain ones. */
function scalarNode(node: Scalar, offset: number): SourceNode {
  const text = typeof node.value === 'string' ? node.value : (node.source ?? '');
  const tagged = node.tag !== undefined && node.tag !== '!';
  if ((node.type !== 'PLAIN' && !tagged) || node.tag === '!') {
    return { kind: 'string', value: text, offset };
  }
  return plainScalar(text, offset);
}

function syntaxProblem(text: string, error: YAMLError): SyntaxProblem {
  const { message } = error;
  const offset = error.pos[0];
  const reference = yamlFaultLine(lineAndColumn(text, offset), message);
  const quoting = /^(?:Alias|Anchor) cannot|^Unresolved alias/.test(message) ? QUOTED : '';
  return { message: `${message}${quoting}`, offset, rule: 'yaml.syntax', reference };
}

/** Who writes a star or an ampersand at the beginning of a value seldom means YAML's own. */
const QUOTED = "; a text that begins with * or & stands in quotes: '*'";

/** Directives that the library takes and Envoy does not. */
function directiveProblem(text: string): SyntaxProblem | undefined {
  const reference = envoyYamlFault(text);
  if (reference === undefined) return undefined;
  return { message: "directives must be Envoy's", offset: 0, rule: 'yaml.syntax', reference };
}

/** The first problem is introduced by what Envoy says of the text, if it says anything. */
function inEnvoysWords(text: string, problems: readonly SyntaxProblem[]): readonly SyntaxProblem[] {
  const reference = envoyYamlFault(text);
  return reference === undefined
    ? problems
    : problems.map((problem, index) => (index === 0 ? { ...problem, reference } : problem));
}

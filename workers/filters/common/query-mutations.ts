/**
 * Changes of a path's query parameters. As in Envoy they are in the order of their names afterwards,
 * those of one name as they came. What is not changed stays as it was written: Envoy decodes it, and
 * a space or a line break would be part of the request line then.
 */
import type {
  QueryAppendAction,
  QueryMutationRule,
} from '../../../shared/resources/filters/http/header-mutation.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { compileTextFormat } from '../../substitution/compile-format.ts';

type Change = (parameters: Parameters, info: StreamInfo) => void;

/** Changes the request's path; undefined where there is nothing to change. */
export function compileQueryMutations(
  rules: readonly QueryMutationRule[] = [],
): ((headers: HeaderMap, info: StreamInfo) => void) | undefined {
  if (rules.length === 0) return undefined;
  const changes = rules.map(compileRule);
  return (headers, info) => {
    const parameters = new Parameters(headers.path);
    for (const change of changes) change(parameters, info);
    headers.path = parameters.toPath();
  };
}

function compileRule(rule: QueryMutationRule): Change {
  const { key } = rule;
  if (rule.kind === 'remove') return (parameters) => parameters.remove(key);
  const format = compileTextFormat(rule.format, { omitEmptyValues: true });
  const act = ACTS[rule.action];
  const name = encode(key);
  return (parameters, info) => act(parameters, key, `${name}=${encode(format(info))}`);
}

const ACTS: Readonly<
  Record<QueryAppendAction, (parameters: Parameters, key: string, pair: string) => void>
> = {
  append: (parameters, key, pair) => parameters.add(key, pair),
  add_if_absent(parameters, key, pair) {
    if (!parameters.has(key)) parameters.add(key, pair);
  },
  overwrite: (parameters, key, pair) => parameters.set(key, pair),
  overwrite_if_exists(parameters, key, pair) {
    if (parameters.has(key)) parameters.set(key, pair);
  },
};

class Parameters {
  readonly #path: string;
  /** Pairs as they are written, by their decoded names. */
  readonly #pairs = new Map<string, string[]>();

  constructor(whole: string) {
    const mark = whole.indexOf('?');
    this.#path = mark < 0 ? whole : whole.slice(0, mark);
    const query = mark < 0 ? '' : whole.slice(mark + 1);
    if (query === '') return;
    for (const pair of query.split('&')) {
      const equal = pair.indexOf('=');
      if (equal < 0) this.add(decode(pair), `${pair}=`);
      else this.add(decode(pair.slice(0, equal)), pair);
    }
  }

  has(key: string): boolean {
    return this.#pairs.has(key);
  }

  add(key: string, pair: string): void {
    const known = this.#pairs.get(key);
    if (known === undefined) this.#pairs.set(key, [pair]);
    else known.push(pair);
  }

  set(key: string, pair: string): void {
    this.#pairs.set(key, [pair]);
  }

  remove(key: string): void {
    this.#pairs.delete(key);
  }

  toPath(): string {
    if (this.#pairs.size === 0) return this.#path;
    const keys = [...this.#pairs.keys()].sort();
    return `${this.#path}?${keys.flatMap((key) => this.#pairs.get(key) ?? []).join('&')}`;
  }
}

/** Characters are bytes. */
function decode(text: string): string {
  return text.replaceAll(/%([\dA-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

function encode(text: string): string {
  return text.replaceAll(
    /[^\w.*-]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

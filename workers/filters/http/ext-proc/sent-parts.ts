/** What a processor is sent beside the messages: headers by rules, attributes, metadata. */
import type {
  ExtProcOptions,
  SentAttribute,
} from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import {
  type MutableDictionary,
  dictionary,
  type Struct,
} from '../../../../shared/text/dictionary.ts';
import { compileCel, type CelProgram } from '../../../cel/compile-cel.ts';
import { celText } from '../../../cel/print.ts';
import { CelFailure, CelUint, type CelValue } from '../../../cel/values.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { namesInOrder } from '../../../stream/pseudo-order.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import { knownMetadata } from '../../common/check-attributes.ts';
import { matcherOf, type NamePredicate } from '../ext-authz/asked-headers.ts';
import type { FilterContext } from '../../filter-context.ts';
import type { HeaderPair } from './messages.ts';
import type { RequestSettings } from './settings.ts';

export type HeaderReader = (headers: HeaderMap) => readonly HeaderPair[];

export function compileForwarding({
  allowedHeaders,
  disallowedHeaders,
}: Pick<ExtProcOptions, 'allowedHeaders' | 'disallowedHeaders'>): HeaderReader {
  const allowed = allowedHeaders && matcherOf(allowedHeaders);
  const disallowed = matcherOf(disallowedHeaders);
  const isSent: NamePredicate = (name) => allowed?.(name) !== false && !disallowed(name);
  return (headers) => {
    const found: HeaderPair[] = [];
    const visit = (name: string, value: string | undefined): void => {
      if (value !== undefined && isSent(name)) found.push([name, value]);
    };
    if (headers.status !== 0) visit(':status', headers.get(':status'));
    for (const name of namesInOrder(headers.pseudoOrder)) visit(name, headers.get(name));
    visit(':protocol', headers.get(':protocol'));
    headers.forEach(visit);
    return found;
  };
}

export type AttributeReader = (info: StreamInfo) => Struct;

/** Compiled once for each list. */
export class AttributeReaders {
  readonly #compiled = new WeakMap<readonly SentAttribute[], AttributeReader>();

  /** Undefined where nothing is to be sent. */
  of(attributes: readonly SentAttribute[]): AttributeReader | undefined {
    if (attributes.length === 0) return undefined;
    let reader = this.#compiled.get(attributes);
    if (reader === undefined) {
      reader = compileAttributes(attributes);
      this.#compiled.set(attributes, reader);
    }
    return reader;
  }
}

function compileAttributes(attributes: readonly SentAttribute[]): AttributeReader {
  const programs = attributes.map(({ name, expression }): readonly [string, CelProgram] => [
    name,
    compileCel(expression),
  ]);
  return (info) => {
    const found: MutableDictionary<unknown> = dictionary<unknown>();
    for (const [name, program] of programs) {
      const value = plainValue(program(info));
      if (value !== undefined) found[name] = value;
    }
    return found;
  };
}

/** As a member of a Struct; undefined for what went wrong. */
function plainValue(value: CelValue): string | number | boolean | undefined {
  if (value instanceof CelFailure) return undefined;
  if (typeof value === 'boolean' || typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof CelUint) return Number(value.value);
  // Texts of CEL have one character per byte.
  return Buffer.from(celText(value), 'latin1').toString('utf8');
}

export function sentMetadata(
  info: StreamInfo,
  { metadata }: RequestSettings,
  context: FilterContext,
): readonly (readonly [string, Struct])[] {
  const { sent, sentOfCluster } = metadata;
  if (sent.length === 0 && sentOfCluster.length === 0) return [];
  const { route } = info;
  const ofCluster =
    route?.kind === 'cluster' ? context.clusterMetadata(route.clusterName) : undefined;
  const found = new Map<string, Struct>();
  for (const name of sent) {
    const value = knownMetadata(info, name);
    if (value !== undefined) found.set(name, value);
  }
  for (const name of sentOfCluster) {
    const value =
      ofCluster !== undefined && Object.hasOwn(ofCluster, name) ? ofCluster[name] : undefined;
    if (value !== undefined && !found.has(name)) found.set(name, value);
  }
  return [...found];
}

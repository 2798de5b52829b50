/** Metadata as expressions see it: the message of the API with its namespaces. */
import { toByteString } from '../../shared/regex/byte-string.ts';
import type { Dictionary, Struct } from '../../shared/text/dictionary.ts';
import { JsonMap, NamespaceMap, type CelMap, type CelValue } from './values.ts';

type Namespaces = ReadonlyMap<string, Struct> | Dictionary<Struct> | undefined;

export function metadataMessage(namespaces: Namespaces): CelMap {
  return new MetadataMessage(namespaces ?? new Map());
}

class MetadataMessage implements CelMap {
  readonly isMap = true;
  readonly #namespaces: Exclude<Namespaces, undefined>;

  constructor(namespaces: Exclude<Namespaces, undefined>) {
    this.#namespaces = namespaces;
  }

  get #members(): CelMap {
    const namespaces = this.#namespaces;
    return namespaces instanceof Map ? new NamespaceMap(namespaces) : new JsonMap(namespaces);
  }

  get size(): number {
    return this.keys().length;
  }

  /** An empty field is not there for `has`, as in every message. */
  get(key: CelValue): CelValue | undefined {
    return key === 'filter_metadata' ? this.#members : undefined;
  }

  keys(): readonly CelValue[] {
    return ['filter_metadata'];
  }

  text(): string {
    const namespaces = this.#namespaces;
    const entries = isMapOfNamespaces(namespaces) ? [...namespaces] : Object.entries(namespaces);
    return entries
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => `filter_metadata { key: ${quoted(name)} value { ${fields(value)}} } `)
      .join('');
  }
}

function isMapOfNamespaces(
  namespaces: Exclude<Namespaces, undefined>,
): namespaces is ReadonlyMap<string, Struct> {
  return namespaces instanceof Map;
}

/** Members of a google.protobuf.Struct in protobuf's text format, by name. */
function fields(object: object): string {
  return Object.entries(object)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `fields { key: ${quoted(name)} value { ${valueText(value)} } } `)
    .join('');
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return `string_value: ${quoted(value)}`;
  if (typeof value === 'number') return `number_value: ${value}`;
  if (typeof value === 'boolean') return `bool_value: ${value}`;
  if (Array.isArray(value)) {
    return `list_value { ${value.map((item) => `values { ${valueText(item)} } `).join('')}}`;
  }
  if (typeof value !== 'object' || value === null) return 'null_value: NULL_VALUE';
  return `struct_value { ${fields(value)}}`;
}

function quoted(text: string): string {
  return toByteString(JSON.stringify(text));
}

/**
 * Gives requests dynamic metadata from the configuration, which access logs, matchers and other
 * filters read. Source: envoy.filters.http.set_metadata.
 */
import { dictionary, type Struct } from '../../../shared/text/dictionary.ts';
import type {
  SetMetadataOptions,
  SetMetadataFilterSettings,
} from '../../../shared/resources/filters/http/set-metadata.ts';
import { SET_METADATA } from '../../../shared/resources/filters/http/set-metadata.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import type { FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

export function makeSetMetadataFilter(
  { name, options }: SetMetadataFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { stats, statScope } = context;
  const base = stats.defineBlock(SET_METADATA, `${statScope}set_metadata.`);
  context.onBlock(base);
  const countDenied = (): void => stats.increment(base + SET_METADATA.index.overwrite_denied);
  return {
    name,
    create: (callbacks) => new SetMetadataFilter(options, callbacks, countDenied),
  };
}

class SetMetadataFilter extends PassThroughFilter {
  readonly #options: SetMetadataOptions;
  readonly #callbacks: FilterCallbacks;
  readonly #countDenied: () => void;

  constructor(options: SetMetadataOptions, callbacks: FilterCallbacks, countDenied: () => void) {
    super();
    this.#options = options;
    this.#callbacks = callbacks;
    this.#countDenied = countDenied;
  }

  override decodeHeaders(): HeadersStatus {
    const { untyped, typed } = this.#options;
    if (untyped.length > 0) this.#setUntyped(untyped);
    if (typed.length > 0) this.#setTyped(typed);
    return 'continue';
  }

  #setUntyped(entries: SetMetadataOptions['untyped']): void {
    const { info } = this.#callbacks;
    const metadata = (info.dynamicMetadata ??= new Map<string, Struct>());
    for (const { namespace, allowOverwrite, value } of entries) {
      const known = metadata.get(namespace);
      if (known === undefined) metadata.set(namespace, value);
      else if (allowOverwrite) metadata.set(namespace, merged(known, value));
      else this.#countDenied();
    }
  }

  #setTyped(entries: SetMetadataOptions['typed']): void {
    const { info } = this.#callbacks;
    const metadata = (info.typedMetadata ??= new Map<string, Uint8Array>());
    for (const { namespace, allowOverwrite, value } of entries) {
      if (allowOverwrite || !metadata.has(namespace)) metadata.set(namespace, value);
      else this.#countDenied();
    }
  }
}

/** Structs are merged, lists put one behind the other, everything else is replaced. */
function merged(known: Struct, value: Struct): Struct {
  const result = dictionary<unknown>(Object.entries(known));
  for (const [key, item] of Object.entries(value)) {
    const old = result[key];
    if (isList(old) && isList(item)) result[key] = [...old, ...item];
    else if (isStruct(old) && isStruct(item)) result[key] = merged(old, item);
    else result[key] = item;
  }
  return result;
}

function isStruct(value: unknown): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

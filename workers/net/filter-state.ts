/** What filters keep under keys for those behind them: texts, of which some may be hashed. */
import type { SharedWith } from '../../shared/resources/filters/common/filter-state-value.ts';
import type { SharedValue } from './mesh/shared-state.ts';
import type { Struct } from '../../shared/text/dictionary.ts';

export class FilterState extends Map<string, string> {
  readonly #hashable = new Set<string>();
  /** The JSON form of what is more than a text. */
  #messages: Map<string, string> | undefined = undefined;
  #shared: Map<string, SharedWith> | undefined = undefined;
  #structs: Map<string, Struct> | undefined = undefined;
  /** The fields of those whose fields may be asked for. */
  #fields: Map<string, ReadonlyMap<string, string>> | undefined = undefined;

  /**
   * Replaces what was under the key; only kinds of objects that Envoy can hash are `isHashable`.
   */
  keep(key: string, value: string, isHashable: boolean): void {
    this.set(key, value);
    if (isHashable) this.#hashable.add(key);
    else this.#hashable.delete(key);
    this.#messages?.delete(key);
    this.#fields?.delete(key);
    this.#structs?.delete(key);
    this.#shared?.delete(key);
  }

  /** Likewise an object that logs may write as JSON. */
  keepMessage(
    key: string,
    value: string,
    json: string,
    fields?: ReadonlyMap<string, string>,
  ): void {
    this.keep(key, value, false);
    (this.#messages ??= new Map()).set(key, json);
    if (fields !== undefined) (this.#fields ??= new Map()).set(key, fields);
  }

  /** Says that what is under the key is handed on to a listener inside. */
  share(key: string, how: SharedWith): void {
    (this.#shared ??= new Map()).set(key, how);
  }

  sharedValues(): readonly SharedValue[] {
    return [...(this.#shared ?? [])].map(([key, shared]) => ({
      key,
      value: this.get(key) ?? '',
      isHashable: this.#hashable.has(key),
      shared,
    }));
  }

  /** As JSON, undefined when there is nothing under the key. */
  jsonOf(key: string): string | undefined {
    const value = this.get(key);
    return value === undefined ? undefined : (this.#messages?.get(key) ?? JSON.stringify(value));
  }

  /** A google.protobuf.Struct that is kept under the key; undefined for everything else. */
  structOf(key: string): Struct | undefined {
    return this.#structs?.get(key);
  }

  /** Keeps a google.protobuf.Struct: its bytes, and what expressions read. */
  keepStruct(key: string, bytes: string, struct: Struct): void {
    const json = { '@type': 'type.googleapis.com/google.protobuf.Struct', value: struct };
    this.keepMessage(key, bytes, JSON.stringify(json));
    (this.#structs ??= new Map()).set(key, struct);
  }

  /** The field of an object that has fields. */
  fieldOf(key: string, name: string): string | undefined {
    return this.#fields?.get(key)?.get(name);
  }

  /** What balancers that hash take from the key, undefined when there is nothing to be hashed. */
  hashedText(key: string): string | undefined {
    return this.#hashable.has(key) ? this.get(key) : undefined;
  }
}

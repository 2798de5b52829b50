/**
 * Objects whose keys are texts from outside: names that an operator, a control plane or a peer
 * chose. A dictionary inherits nothing, so that a key such as `constructor` or `__proto__` is one
 * like any other, there or not there. Channels between processes keep it as it is
 * (shared/channel/frame-codec.ts). Where nobody needs an object, a Map is the better choice.
 */

/** Made by this file alone; an object literal inherits from Object.prototype and is none. */
export interface Dictionary<Value> {
  readonly [key: string]: Value;
}
export interface MutableDictionary<Value> {
  [key: string]: Value;
}

/** JSON as google.protobuf.Struct has it, whose objects are dictionaries. */
export type Struct = Dictionary<unknown>;

/** Its instances inherit from an object that has no members and no prototype. */
export class DictionaryObject {}
Reflect.deleteProperty(DictionaryObject.prototype, 'constructor');
Object.setPrototypeOf(DictionaryObject.prototype, null);
Object.freeze(DictionaryObject.prototype);

export function dictionary<Value>(
  entries: Iterable<readonly [string, Value]> = [],
): MutableDictionary<Value> {
  const made = new DictionaryObject() as MutableDictionary<Value>;
  for (const [key, value] of entries) made[key] = value;
  return made;
}

/** The members of both; where both have one, that of the second. */
export function joined<Value>(
  first: Dictionary<Value> | undefined,
  second: Dictionary<Value> | undefined,
): Dictionary<Value> {
  const made = dictionary<Value>(Object.entries(first ?? {}));
  for (const [key, value] of Object.entries(second ?? {})) made[key] = value;
  return made;
}

/** A copy of a message's Struct: all objects in it are dictionaries. */
export function structOf(object: object): Struct {
  return dictionary(Object.entries(object).map(([key, value]) => [key, valueOf(value)]));
}

function valueOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(valueOf);
  return typeof value === 'object' && value !== null ? structOf(value) : value;
}

/** An own member of an object; undefined for what is none, and for a member that it inherits. */
export function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as Struct)[key] : undefined;
}

/**
 * The short way for JSON in which nothing is to be said of anything: the runtime's own parser reads
 * it and one walk checks and normalises what came. Whatever is unusual, or may be a mistake, ends
 * the walk, and the long way with its positions decides. Fields that are no plain messages, texts
 * or numbers are read and checked by the long way's own parts.
 */
import type { ApiCatalog, FieldType, MessageType } from './api/api-catalog.ts';
import { type MessageObject, isMessageObject } from './convert/message-object.ts';
import { MessageReader } from './convert/message-reader.ts';
import { Invalid, readScalar } from './convert/scalars.ts';
import { isWellKnown } from './convert/well-known-reader.ts';
import type { ProblemSink } from './problem.ts';
import type { SourceNode } from './source/source-node.ts';
import { checkApiStatus } from './validate/api-status.ts';
import { checkValue } from './validate/check-value.ts';
import { checkConstraints } from './validate/constraint-checker.ts';
import { planOf, type FastPathField } from './validate/message-plan.ts';

/** Messages and texts nested deeper than the limits of both are beyond this one too. */
const DEEPEST = 90;
const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const SMALL_U = 'u'.charCodeAt(0);
/** Numbers of more digits are looked at by their text. */
const SMALL_NUMBERS = 1e9;

/** Something that the long way has to look at. */
class Unusual extends Error {}

/**
 * The normalised message, which no check has anything to say of; undefined where the long way has
 * to read the source. `text` is what `content` decodes to.
 */
export function readJsonFastPath(
  catalog: ApiCatalog,
  type: MessageType,
  { content, text }: { readonly content: Uint8Array; readonly text: string },
): MessageObject | undefined {
  const texts = countTexts(content);
  if (texts === undefined || isWellKnown(type.fullName)) return undefined;
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return undefined;
  }
  try {
    const reader = new FastPathReader(catalog);
    const message = reader.message(type, root, 0);
    // The parser keeps one value of a key that stands twice in an object.
    return reader.texts === texts ? message : undefined;
  } catch (error) {
    if (error instanceof Unusual) return undefined;
    throw error;
  }
}

/** Counts the texts of well-formed JSON; undefined where it has escapes that need a look. */
function countTexts(content: Uint8Array): number | undefined {
  let quotes = 0;
  for (let at = 0; at < content.length; at++) {
    const byte = content[at];
    if (byte === QUOTE) quotes += 1;
    else if (byte === BACKSLASH) {
      at += 1;
      if (content[at] === SMALL_U) return undefined;
    }
  }
  return quotes / 2;
}

const ANY = 'google.protobuf.Any';
const TYPE_URL = '@type';

class FastPathReader {
  /** Keys and texts that were met. */
  texts = 0;
  readonly #catalog: ApiCatalog;
  readonly #reader: MessageReader;
  readonly #sink: ProblemSink = { report: unusual };

  constructor(catalog: ApiCatalog) {
    this.#catalog = catalog;
    this.#reader = new MessageReader({ catalog, unknownFields: 'refuse', report: unusual });
  }

  /**
   * Changes `given` to what it is normalised; where fields are left out, the result is another
   * object.
   */
  message(type: MessageType, given: unknown, depth: number): MessageObject {
    if (!isMessageObject(given) || depth > DEEPEST) return unusual();
    return type.fullName === ANY ? this.#any(given, depth) : this.#fields(type, given, depth);
  }

  /** `skip`: a name that is of no field. */
  #fields(type: MessageType, given: MessageObject, depth: number, skip?: string): MessageObject {
    const plan = planOf(type).fastPath ?? unusual();
    let [needed, oneofs, dropped] = [0, 0, 0];
    for (const name in given) {
      if (name === skip) continue;
      const field = plan.fields.get(name);
      if (field === undefined || (oneofs & field.oneof) !== 0) return unusual();
      oneofs |= field.oneof;
      this.texts += 1;
      const value = this.#inPlace(type, field, given, depth + 1);
      if (value === undefined) dropped += 1;
      else if (field.isNeeded) needed += 1;
    }
    const { requiredOneofs } = plan;
    if (needed !== plan.needed || (oneofs & requiredOneofs) !== requiredOneofs) return unusual();
    return dropped === 0 ? given : withoutDropped(given);
  }

  /** Undefined for what counts as not given. */
  #inPlace(type: MessageType, plan: FastPathField, given: MessageObject, depth: number): unknown {
    const { name } = plan.field;
    const before = given[name];
    // Null stands for a field that is not there, but for some that know it.
    if (before === null || before === undefined) return unusual();
    const value = this.#value(type, plan, before, depth);
    if (value !== before) given[name] = value;
    return value;
  }

  #any(given: MessageObject, depth: number): MessageObject {
    const url = given[TYPE_URL];
    if (typeof url !== 'string' || Object.keys(given)[0] !== TYPE_URL) return unusual();
    const slash = url.lastIndexOf('/');
    const type = this.#catalog.findMessage(url.slice(slash + 1));
    // The well-known types have forms of their own.
    if (slash <= 0 || type === undefined || type.fullName.startsWith('google.')) return unusual();
    // The type stands there as a key and a text.
    this.texts += 2;
    return this.#fields(type, given, depth, TYPE_URL);
  }

  /** Undefined for what counts as not given. */
  #value(type: MessageType, plan: FastPathField, given: unknown, depth: number): unknown {
    const { field } = plan;
    switch (plan.way) {
      case 'message':
        return this.message(field.message, given, depth);
      case 'messages':
        return this.#messages(field, given, depth);
      case 'text':
        if (typeof given !== 'string') return unusual();
        this.texts += 1;
        return this.#checked(plan, given, '');
      case 'number':
        return this.#checked(plan, this.#number(field, given), 0);
      case 'boolean':
        if (typeof given !== 'boolean') return unusual();
        return this.#checked(plan, given, false);
      case 'enum':
        return this.#checked(plan, this.#enum(field, given), field.enum.nameOf(0));
      case 'long':
        return this.#byLongWay(type, field, given, depth);
    }
  }

  #checked(plan: FastPathField, value: unknown, byDefault: unknown): unknown {
    const { field, hasRules } = plan;
    if (value === byDefault && !field.hasPresence) return undefined;
    if (hasRules && checkValue(field, field.descriptor.rules, value) !== undefined) unusual();
    return value;
  }

  #messages(field: FieldType, given: unknown, depth: number): unknown {
    if (!Array.isArray(given)) return unusual();
    const rules = field.descriptor.rules?.repeated;
    const { length } = given;
    if (rules !== undefined) {
      const { min_items: least = 0, max_items: most = length } = rules;
      if (length < least || length > most) unusual();
    }
    if (length === 0) return undefined;
    const type = field.message;
    for (let at = 0; at < length; at++) {
      const before: unknown = given[at];
      const item = this.message(type, before, depth + 1);
      if (item !== before) given[at] = item;
    }
    return given;
  }

  #number({ kind }: FieldType, given: unknown): unknown {
    const isSmall = typeof given === 'number' && given > 0 && given < SMALL_NUMBERS;
    if (isSmall && kind !== 'float' && Number.isInteger(given)) return given;
    const value =
      kind === 'message' || kind === 'enum' ? unusual() : readScalar(kind, this.#nodeOf(given, 0));
    return value instanceof Invalid ? unusual() : value;
  }

  #enum({ enum: type }: FieldType, given: unknown): unknown {
    const { values, deprecated } = type.descriptor;
    if (typeof given !== 'string' || !Object.hasOwn(values, given)) return unusual();
    const name = type.nameOf(values[given] ?? 0) ?? unusual();
    if (deprecated !== undefined && Object.hasOwn(deprecated, name)) return unusual();
    this.texts += 1;
    return name;
  }

  #byLongWay(type: MessageType, field: FieldType, given: unknown, depth: number): unknown {
    const message = this.#readField(type, field, this.#nodeOf(given, depth));
    const { incomplete } = this.#reader;
    const [catalog, sink] = [this.#catalog, this.#sink];
    // It says nothing of the fields that are not in this one.
    incomplete.add(message);
    const policy = { allows: () => false, failOnAny: false };
    const uses = { deprecated: 0, workInProgress: 0 };
    checkApiStatus({ catalog, sink, policy, uses }, type, message);
    checkConstraints({ catalog, sink, incomplete }, type, message);
    return message[field.name];
  }

  /** A message of this field alone. */
  #readField(type: MessageType, { name: key }: FieldType, value: SourceNode): MessageObject {
    const entries = [{ key, keyOffset: 0, value }];
    return this.#reader.fields(type, { kind: 'map', entries, offset: 0 }, undefined);
  }

  #nodeOf(given: unknown, depth: number): SourceNode {
    if (depth > DEEPEST) return unusual();
    const offset = 0;
    switch (typeof given) {
      case 'string':
        this.texts += 1;
        return { kind: 'string', value: given, offset };
      case 'boolean':
        return { kind: 'boolean', value: given, offset };
      case 'number': {
        const isExact = Number.isFinite(given) && !Object.is(given, -0);
        const isText = Math.abs(given) <= Number.MAX_SAFE_INTEGER || !Number.isInteger(given);
        return isExact && isText ? { kind: 'number', value: String(given), offset } : unusual();
      }
      default:
        break;
    }
    if (given === null) return { kind: 'null', value: null, offset };
    if (Array.isArray(given)) {
      return { kind: 'list', items: given.map((item) => this.#nodeOf(item, depth + 1)), offset };
    }
    const entries = Object.entries(given as MessageObject).map(([key, item]) => {
      this.texts += 1;
      return { key, keyOffset: 0, value: this.#nodeOf(item, depth + 1) };
    });
    return { kind: 'map', entries, offset };
  }
}

function unusual(): never {
  throw new Unusual();
}

function withoutDropped(given: MessageObject): MessageObject {
  const message: MessageObject = {};
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) message[name] = value;
  }
  return message;
}

/**
 * Parameters of pages, declared once: a declaration says how help, forms and docs show a parameter
 * and reads it from a query, or refuses the request in Envoy's words.
 */
import type { Query } from './query.ts';

/** How a parameter is shown. */
export type ShownParam =
  | { readonly kind: 'boolean' | 'string'; readonly name: string; readonly help: string }
  | {
      readonly kind: 'enum';
      readonly name: string;
      readonly help: string;
      readonly choices: readonly string[];
    };

/** Why a request gets 400. */
export class BadParam {
  readonly text: string;
  /** Where it is not that of other texts. */
  readonly contentType: string | undefined;

  constructor(text: string, contentType?: string) {
    this.text = text;
    this.contentType = contentType;
  }
}

export interface Param<Value> {
  /** Absent: read, and shown nowhere. */
  readonly shown?: (name: string) => ShownParam;
  readonly read: (query: Query, name: string) => Value | BadParam;
}

/** By their names, in the order in which they are checked and shown. */
export type Params = Readonly<Record<string, Param<unknown>>>;

/** What is read of a request. */
export type ParamValues<Declared extends Params> = {
  readonly [Name in keyof Declared]: Declared[Name] extends Param<infer Value> ? Value : never;
};

/** The first parameter that is refused decides. */
export function readParams<Declared extends Params>(
  params: Declared,
  query: Query,
): ParamValues<Declared> | BadParam {
  const values = Object.create(null) as Record<string, unknown>;
  for (const [name, { read }] of Object.entries(params)) {
    const value = read(query, name);
    if (value instanceof BadParam) return value;
    values[name] = value;
  }
  return values as ParamValues<Declared>;
}

export function shownParams(
  params: Params,
  names: readonly string[] = Object.keys(params),
): readonly ShownParam[] {
  return names.flatMap((name) => params[name]?.shown?.(name) ?? []);
}

/** Given or not; its value says nothing. */
export function flag(help?: string): Param<boolean> {
  return {
    ...(help !== undefined && { shown: (name) => ({ kind: 'boolean', name, help }) }),
    read: (query, name) => query.has(name),
  };
}

/** Undefined when it is not given, or empty. */
export function text(help: string): Param<string | undefined> {
  return parsed(help, (given) => given, undefined);
}

/** A text that stands for something else; without one, or with an empty one, `byDefault`. */
export function parsed<Value, Default>(
  help: string | undefined,
  parse: (given: string) => Value | BadParam,
  byDefault: Default,
): Param<Value | Default> {
  return {
    ...(help !== undefined && { shown: (name) => ({ kind: 'string', name, help }) }),
    read: (query, name) => {
      const given = query.nonEmpty(name);
      return given === undefined ? byDefault : parse(given);
    },
  };
}

/** A text that may be given several times, each read by `parse`. */
export function several<Value>(
  help: string,
  parse: (given: string) => Value | BadParam,
): Param<readonly Value[]> {
  return {
    shown: (name) => ({ kind: 'string', name, help }),
    read: (query, name) => {
      const values: Value[] = [];
      for (const given of query.all(name)) {
        if (given === '') continue;
        const value = parse(given);
        if (value instanceof BadParam) return value;
        values.push(value);
      }
      return values;
    },
  };
}

export interface Choices<Value, Other> {
  readonly help?: string;
  /** What is shown of them; absent: all. */
  readonly shown?: readonly string[];
  readonly values: ReadonlyMap<string, Value>;
  /** When nothing is given, or an empty text. */
  readonly byDefault: Value | Other;
  /** When something else is given; absent: as if nothing were. */
  readonly otherwise?: BadParam;
}

/** One of a few words. */
export function oneOf<Value, Other = Value>({
  help,
  values,
  shown = [...values.keys()],
  byDefault,
  otherwise,
}: Choices<Value, Other>): Param<Value | Other> {
  return {
    ...(help !== undefined && {
      shown: (name) => ({ kind: 'enum', name, help, choices: shown }),
    }),
    read: (query, name) => {
      const given = query.nonEmpty(name);
      if (given === undefined) return byDefault;
      return values.has(given) ? (values.get(given) as Value) : (otherwise ?? byDefault);
    },
  };
}

/** Words that stand for themselves. */
export function words<const Word extends string>(
  ...list: readonly Word[]
): ReadonlyMap<string, Word> {
  return new Map(list.map((word) => [word, word]));
}

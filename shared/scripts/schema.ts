/**
 * Schemas of settings. Any library of the Standard Schema interface will do (zod, valibot, arktype);
 * the few functions here are enough for most modules.
 */

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** The interface that libraries of schemas share, as far as it is used here. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a schema gives. */
export type SettingsOf<Schema> = Schema extends StandardSchema<infer Output> ? Output : never;

type Read<Output> = (value: unknown, path: readonly PropertyKey[], issues: SchemaIssue[]) => Output;

/** A schema of this file; `optional` takes what is absent too. */
export class Schema<Output> implements StandardSchema<Output> {
  readonly '~standard': StandardSchema<Output>['~standard'];
  readonly read: Read<Output>;

  constructor(read: Read<Output>) {
    this.read = read;
    this['~standard'] = {
      version: 1,
      vendor: 'sluice',
      validate: (value) => {
        const issues: SchemaIssue[] = [];
        const output = read(value, [], issues);
        return issues.length > 0 ? { issues } : { value: output };
      },
    };
  }

  optional(): Schema<Output | undefined>;
  optional(byDefault: Output): Schema<Output>;
  optional(byDefault?: Output): Schema<Output | undefined> {
    return new Schema((value, path, issues) =>
      value === undefined ? byDefault : this.read(value, path, issues),
    );
  }

  /** Refuses what `test` is false for. */
  where(test: (value: Output) => boolean, message: string): Schema<Output> {
    return new Schema((value, path, issues) => {
      const before = issues.length;
      const output = this.read(value, path, issues);
      if (issues.length === before && !test(output)) issues.push({ message, path });
      return output;
    });
  }
}

function primitive<Output>(type: 'string' | 'number' | 'boolean'): Schema<Output> {
  return new Schema((value, path, issues) => {
    if (typeof value !== type) issues.push({ message: `must be a ${type}`, path });
    return value as Output;
  });
}

export function string(): Schema<string> {
  return primitive('string');
}

export function number(): Schema<number> {
  return primitive('number');
}

export function boolean(): Schema<boolean> {
  return primitive('boolean');
}

export function oneOf<const Value extends string>(...values: readonly Value[]): Schema<Value> {
  return new Schema((value, path, issues) => {
    if (!values.includes(value as Value)) {
      issues.push({ message: `must be one of ${values.join(', ')}`, path });
    }
    return value as Value;
  });
}

export function array<Item>(item: Schema<Item>): Schema<readonly Item[]> {
  return new Schema((value, path, issues) => {
    if (Array.isArray(value)) {
      return value.map((each, at) => item.read(each, [...path, at], issues));
    }
    issues.push({ message: 'must be a list', path });
    return [];
  });
}

/** Text keys of any name, with values of one kind. */
export function record<Value>(value: Schema<Value>): Schema<ReadonlyMap<string, Value>> {
  return new Schema((given, path, issues) => {
    const entries = isObject(given) ? Object.entries(given) : undefined;
    if (entries === undefined) issues.push({ message: 'must be an object', path });
    return new Map(
      (entries ?? []).map(([key, each]) => [key, value.read(each, [...path, key], issues)]),
    );
  });
}

type Members = Readonly<Record<string, Schema<unknown>>>;

/** Members that are not named are refused. */
export function object<const Of extends Members>(
  members: Of,
): Schema<{ readonly [Name in keyof Of]: SettingsOf<Of[Name]> }> {
  return new Schema((value, path, issues) => {
    const given = isObject(value) ? value : {};
    if (!isObject(value)) issues.push({ message: 'must be an object', path });
    const read = Object.entries(members).map(([name, member]) => [
      name,
      member.read(Object.hasOwn(given, name) ? given[name] : undefined, [...path, name], issues),
    ]);
    for (const name of Object.keys(given)) {
      if (!Object.hasOwn(members, name)) {
        issues.push({ message: `there is no setting '${name}'`, path: [...path, name] });
      }
    }
    return Object.fromEntries(read) as { readonly [Name in keyof Of]: SettingsOf<Of[Name]> };
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

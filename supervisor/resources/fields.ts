/**
 * Makes sure that no field of a message is silently ignored: each resolver names the fields that it
 * acts on and those without effect here; whatever else a message carries is refused by name.
 */
import { SEE_FEATURES, type Scope } from './scope.ts';

export interface KnownFields {
  readonly fields: ReadonlySet<string>;
}

/**
 * `acted` are read by the resolver. `harmless` change nothing that Sluice does, with or without the
 * feature that they belong to.
 */
export function knownFields<Message>(
  acted: readonly (keyof Message & string)[],
  harmless: readonly (keyof Message & string)[] = [],
): KnownFields {
  return { fields: new Set<string>([...acted, ...harmless]) };
}

export function refuseOtherFields(message: object, { fields }: KnownFields, scope: Scope): void {
  // Runs for every message of a configuration: the usual case makes no objects.
  for (const name in message) {
    if (!fields.has(name)) refuseField(message, name, scope);
  }
}

function refuseField(message: object, name: string, scope: Scope): void {
  if (name === '@type' || isUnset((message as Readonly<Record<string, unknown>>)[name])) return;
  scope.at(name).unsupported(`field '${name}' is`, `leave it out; ${SEE_FEATURES}`);
}

/** Values that say the same as an absent field. */
function isUnset(value: unknown): boolean {
  return (
    value === undefined ||
    value === false ||
    value === 0 ||
    value === '' ||
    value === '0' ||
    (Array.isArray(value) && value.length === 0)
  );
}

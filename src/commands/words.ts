/** Reads the words of a command: flags, and options with a value each. */
import { splitOption } from '../split-option.ts';
import type { AdminPlace } from './admin-place.ts';

export interface WordNames {
  /** Names by the words that stand for them. */
  readonly flags?: ReadonlyMap<string, string>;
  readonly values: ReadonlyMap<string, string>;
}

/** Where a running server is found. */
export const ADMIN_VALUES = [
  ['--admin', 'admin'],
  ['--admin-address-path', 'address_path'],
  ['--admin-token-path', 'token_path'],
] as const;

export const ADMIN_HELP = `  --admin ADDRESS            the server's admin interface as host:port or unix socket path (127.0.0.1:9901)
  --admin-address-path FILE  the file that the server's option of that name wrote
  --admin-token-path FILE    the token that the server's option of that name wants
`;

/** What was given by its name, flags with an empty text; a text says what is wrong. */
export function readWords(
  argv: readonly string[],
  { flags, values }: WordNames,
): ReadonlyMap<string, string> | string {
  const given = new Map<string, string>();
  for (let at = 0; at < argv.length; at++) {
    const [name, inline] = splitOption(argv[at] ?? '');
    const flag = flags?.get(name);
    const value = values.get(name);
    if (flag !== undefined) given.set(flag, '');
    else if (value === undefined) return `unknown word ${name}`;
    else {
      const text = inline ?? argv[++at];
      if (text === undefined || text === '') return `${name} needs a value`;
      given.set(value, text);
    }
  }
  return given;
}

export function adminPlaceOf(given: ReadonlyMap<string, string>): AdminPlace {
  return {
    address: given.get('admin') ?? '127.0.0.1:9901',
    addressPath: given.get('address_path'),
    tokenPath: given.get('token_path'),
  };
}

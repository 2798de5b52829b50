/**
 * Regular expressions that clients send, in RE2 syntax and in RE2's linear time: a hostile pattern
 * costs its length, never an exponent of it.
 */

export interface NameMatcher {
  /** The pattern matches somewhere in the name. */
  contains(name: string): boolean;
  /** The pattern matches the whole name. */
  matches(name: string): boolean;
}

export type CompiledName =
  | { readonly ok: true; readonly matcher: NameMatcher }
  /** `reason` is RE2's own text, such as `missing ]: [`. */
  | { readonly ok: false; readonly matcher?: undefined; readonly reason: string };

export async function compileNameMatcher(pattern: string): Promise<CompiledName> {
  const { RE2JS, RE2JSSyntaxException } = await import('re2js');
  try {
    const compiled = RE2JS.compile(pattern);
    return {
      ok: true,
      matcher: {
        contains: (name) => compiled.matcher(name).find(),
        matches: (name) => compiled.matches(name),
      },
    };
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return { ok: false, reason: describe(error.getDescription(), error.getPattern() ?? '') };
  }
}

/** The library has Go's wording; clients of the reference know RE2's. */
const RE2_WORDING: Readonly<Record<string, string>> = {
  'missing closing ]': 'missing ]',
  'missing closing )': 'missing )',
  'missing argument to repetition operator': 'no argument for repetition operator',
  'invalid nested repetition operator': 'bad repetition operator',
  'invalid repeat count': 'invalid repetition size',
  'invalid named capture': 'invalid named capture group',
  'invalid or unsupported Perl syntax': 'invalid perl operator',
  'duplicate capture group name': 'duplicate capture group name',
};

function describe(description: string, fragment: string): string {
  if (description === 'trailing backslash at end of expression') return 'trailing \\';
  return `${RE2_WORDING[description] ?? description}: ${fragment}`;
}

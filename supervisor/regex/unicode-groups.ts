/**
 * `\p{Name}` within the 256 bytes that a pattern can match (as Latin-1 characters). Names are RE2's:
 * the short general categories, the long script names, `Any`.
 */
import { ByteSetBuilder } from './byte-set.ts';
import type { ByteSet } from './tree.ts';

const CATEGORY = /^(?:C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/;
/** Names of four letters that are a script's long name; all others of that length are ISO codes. */
const FOUR_LETTER_SCRIPTS: readonly string[] = ['Ahom', 'Cham', 'Lisu', 'Newa', 'Thai', 'Toto'];

/** Undefined for a name that RE2 does not know. */
export function unicodeGroup(name: string): ByteSet | undefined {
  if (name === 'Any') return [[0, 255]];
  const property = propertyOf(name);
  if (property === undefined) return undefined;
  let matcher: RegExp;
  try {
    matcher = new RegExp(`^\\p{${property}}$`, 'u');
  } catch {
    return undefined;
  }
  const builder = new ByteSetBuilder();
  for (let byte = 0; byte < 256; byte++) {
    if (matcher.test(String.fromCharCode(byte))) builder.addRange(byte, byte);
  }
  return builder.build();
}

function propertyOf(name: string): string | undefined {
  // RE2's C is Cc, Cf, Co and Cs; below 256 every character is assigned, so both agree there.
  if (CATEGORY.test(name)) return name;
  if (!/^[A-Z][A-Za-z_]+$/.test(name)) return undefined;
  if (name.length === 4 && !FOUR_LETTER_SCRIPTS.includes(name)) return undefined;
  return `Script=${name}`;
}

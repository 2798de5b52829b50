/**
 * Takes secrets out of texts whose form is not known, such as logs: by what stands around them, and
 * by their own text where it is known.
 */
import { REDACTED } from '../../../shared/text/secret-names.ts';
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';

/** Shorter ones would be found in everything. */
const KNOWN_MIN = 6;
const KNOWN_MAX = 10_000;

/** What carries secrets by its name: of headers, of query parameters, of members. */
const NAMES =
  '(?:proxy-)?authorization|(?:set-)?cookie|x-api-key|api[-_]?key|x-auth-token|x-amz-security-token|access[-_]?token|refresh[-_]?token|id[-_]?token|token|password|passwd|secret|client[-_]?secret|private[-_]?key|signature|sig';

/** A name may begin with other words, such as `x-`. */
const NAMED = `(?:[a-z0-9]+[-_])*(?:${NAMES})`;

type Rule = readonly [pattern: RegExp, replacement: string];

const RULES: readonly Rule[] = [
  // Keys in PEM, also where line ends are written as \n.
  [
    /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[^]*?(?:-----END \1-----|$)/g,
    `-----BEGIN $1----- ${REDACTED} -----END $1-----`,
  ],
  [/\b(bearer|basic|digest|negotiate)\s+[A-Za-z0-9+/=._~-]{6,}/gi, `$1 ${REDACTED}`],
  // JSON Web Tokens, wherever they stand.
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, REDACTED],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${REDACTED}@`],
  // A header of a configuration: its name and its value are members beside each other.
  [
    new RegExp(`("key":\\s*"${NAMED}",\\s*"(?:value|raw_value)":\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'gi'),
    `$1"${REDACTED}"`,
  ],
  [new RegExp(`("${NAMED}":\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'gi'), `$1"${REDACTED}"`],
  // The same in JSON that is a string of other JSON.
  [new RegExp(`(\\\\+"${NAMED}\\\\+":\\s*\\\\+")[^"\\\\]+`, 'gi'), `$1${REDACTED}`],
  // Private members of JSON Web Keys, in a string too.
  [/(\\*"(?:k|d|p|q|dp|dq|qi)\\*":\s*\\*")[\w-]{20,}/g, `$1${REDACTED}`],
  // A header in a line, up to the line's end: a cookie has several parts.
  [new RegExp(`^(\\s*(?:${NAMES}):\\s+)\\S.*$`, 'gim'), `$1${REDACTED}`],
  [new RegExp(`\\b((?:${NAMES})=)[^\\s&"',;]+`, 'gi'), `$1${REDACTED}`],
];

/** Lists too: their places are names. */
function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

export class Scrubber {
  readonly #known = new Set<string>();

  /** Texts that are secret wherever they are. */
  learn(secret: string): void {
    const text = secret.trim();
    if (text.length < KNOWN_MIN || this.#known.size >= KNOWN_MAX) return;
    this.#known.add(text);
    this.#known.add(JSON.stringify(text).slice(1, -1));
    this.#known.add(encodeURIComponent(text));
    this.#known.add(Buffer.from(text).toString('base64'));
  }

  /** Every text that `clean` has not, which is `whole` without its secrets. */
  learnFrom(whole: JsonValue | undefined, clean: JsonValue | undefined): void {
    if (whole === clean) return;
    if (typeof whole === 'string') {
      if (whole !== clean) this.learn(whole);
    } else if (typeof whole === 'object' && whole !== null) {
      const kept = isObject(clean) ? clean : undefined;
      for (const [name, value] of Object.entries(whole)) {
        const beside = kept !== undefined && Object.hasOwn(kept, name) ? kept[name] : undefined;
        this.learnFrom(value as JsonValue, beside);
      }
    }
  }

  clean(text: string): string {
    let cleaned = text;
    // The longest first: one may be a part of another.
    const known = [...this.#known].toSorted((one, other) => other.length - one.length);
    for (const secret of known) cleaned = cleaned.replaceAll(secret, REDACTED);
    for (const [pattern, replacement] of RULES) cleaned = cleaned.replace(pattern, replacement);
    return cleaned;
  }
}

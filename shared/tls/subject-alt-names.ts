/**
 * Reads the subject alternative names of a certificate from node:crypto's text form, which separates
 * them by `, ` and quotes (as JSON) whatever could be mistaken for more than one name.
 */

export interface SubjectAltName {
  readonly kind: 'dns' | 'uri' | 'ip' | 'email' | 'other';
  readonly value: string;
}

const KINDS: Readonly<Record<string, SubjectAltName['kind']>> = {
  DNS: 'dns',
  URI: 'uri',
  'IP Address': 'ip',
  email: 'email',
};

/** In the certificate's order. */
export function parseSubjectAltNames(text: string | undefined): readonly SubjectAltName[] {
  if (text === undefined || text === '') return [];
  return splitNames(text).map((part) => {
    const colon = part.indexOf(':');
    const kind = KINDS[part.slice(0, colon)] ?? 'other';
    return { kind, value: unquote(part.slice(colon + 1)) };
  });
}

function splitNames(text: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\' && quoted) at += 1;
    else if (char === '"') quoted = !quoted;
    else if (char === ',' && !quoted && text[at + 1] === ' ') {
      parts.push(text.slice(start, at));
      start = at + 2;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function unquote(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
}

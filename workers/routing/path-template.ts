/**
 * Path templates: `/a/{name}/b/{rest=**}`, where `*` is one segment, `**` anything up to the end
 * and `{name=pattern}` a part that a rewrite may use. The supervisor has checked their syntax.
 */
import { dictionary, type Dictionary } from '../../shared/text/dictionary.ts';

export interface PathTemplate {
  matches(path: string): boolean;
  /** The named parts of a path, undefined when it does not match. */
  parts(path: string): Dictionary<string> | undefined;
}

const SEGMENT_CHARACTERS = String.raw`[a-zA-Z0-9\-._~%!$&'()*+,;:@=]`;
const SEGMENT = `${SEGMENT_CHARACTERS}+`;
const REST = `${SEGMENT_CHARACTERS.slice(0, -1)}/]*`;
const TOKEN = /\{(\w+)(?:=([^}]*))?\}|\*\*|\*|[^{*]+/g;

export function compilePathTemplate(template: string): PathTemplate {
  const names: string[] = [];
  const source = template.replace(TOKEN, (token, name: string | undefined, pattern?: string) => {
    if (name === undefined) return tokenSource(token);
    names.push(name);
    return `(${(pattern ?? '*').replace(TOKEN, tokenSource)})`;
  });
  const regex = new RegExp(`^${source}$`);
  return {
    matches: (path) => regex.test(path),
    parts(path) {
      const match = regex.exec(path);
      if (match === null) return undefined;
      return dictionary(names.map((name, index) => [name, match[index + 1] ?? '']));
    },
  };
}

/** The text before the first part that varies. */
export function literalPrefixOf(template: string): string {
  return template.replace(/[{*].*$/s, '');
}

/** Fills the named parts of one path into another template. */
export function fillPathTemplate(template: string, parts: Dictionary<string>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? '');
}

function tokenSource(token: string): string {
  if (token === '**') return REST;
  if (token === '*') return SEGMENT;
  return token.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

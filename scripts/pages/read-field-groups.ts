/**
 * Which fields of the API's messages are served, accepted without effect or refused: read from the
 * lists that resolvers give to `knownFields`, against the fields that the messages have.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { MessageTypes } from '../../supervisor/admin/message-types.ts';
import type { FieldGroup } from '../../supervisor/features/field-groups.ts';
import { argumentsAt, callsOf, sourcesBelow, type Source } from './source-calls.ts';

const CALLS = /\bknownFields<(\w+)>(?=\()/g;
const IMPORTS = /import (?:type )?\{([^}]*)\} from '([^']*shared\/api\/generated\/[^']*)'/g;
const GENERATED = /shared\/api\/generated\/(.+)\/[^/]+\.ts$/;

/** Fields that a resolver hands on to the list of another message. */
const ELSEWHERE: ReadonlyMap<string, readonly string[]> = new Map([
  ['envoy.config.core.v3.DataSource', ['watched_directory']],
  ['envoy.config.core.v3.RetryPolicy', ['num_retries', 'retry_on']],
  ['envoy.config.route.v3.RouteConfiguration', ['vhds']],
]);

interface Lists {
  readonly acted: readonly string[];
  readonly harmless: readonly string[];
}

/** By name of the message. Throws where a list is no literal: the table must hold all of them. */
export function readFieldGroups(root: string, types: MessageTypes): readonly FieldGroup[] {
  const byMessage = new Map<string, Lists[]>();
  for (const source of sourcesBelow(root, 'supervisor')) {
    for (const { match, args } of callsOf(source, CALLS)) {
      const message = messageNamed(match[1] ?? '', source, types);
      if (message === undefined) continue;
      const [acted = '[]', harmless = '[]'] = args;
      const words = (list: string): readonly string[] => wordsOf(list, source, root);
      const taken = ELSEWHERE.get(message) ?? [];
      const lists = { acted: [...words(acted), ...taken], harmless: words(harmless) };
      byMessage.set(message, [...(byMessage.get(message) ?? []), lists]);
    }
  }
  return [...byMessage]
    .map(([message, lists]) => groupOf(message, lists, types))
    .sort((left, right) => (left.message < right.message ? -1 : 1));
}

/** A field that one place serves and another one refuses counts as served. */
function groupOf(message: string, lists: readonly Lists[], types: MessageTypes): FieldGroup {
  const fields = (types.find(message)?.fields ?? []).map(({ name }) => name);
  const acted = new Set(lists.flatMap((each) => each.acted));
  const harmless = new Set(lists.flatMap((each) => each.harmless));
  return {
    message,
    served: fields.filter((field) => acted.has(field)).length,
    harmless: fields.filter((field) => !acted.has(field) && harmless.has(field)),
    refused: fields.filter((field) => !acted.has(field) && !harmless.has(field)),
  };
}

/** The words of a list, with those of constants of the file or of one that it imports from. */
function wordsOf(expression: string, source: Source, root: string): readonly string[] {
  const text = expression.replace(/ as const$/, '');
  if (/^\w+$/.test(text)) {
    const found = constantOf(text, source, root);
    return wordsOf(found.list, found.source, root);
  }
  if (!text.startsWith('[')) throw new Error(`${source.path}: no list of fields: ${text}`);
  return argumentsAt(text, 0).flatMap((item) => {
    const [, word] = /^'(\w+)'$/.exec(item) ?? [];
    return word === undefined ? wordsOf(item.replace(/^\.\.\./, ''), source, root) : [word];
  });
}

function constantOf(
  name: string,
  source: Source,
  root: string,
): { readonly list: string; readonly source: Source } {
  const { path, text } = source;
  const [, list] = new RegExp(`\\bconst ${name}(?:: [^=]+)? = (\\[[^\\]]*\\])`).exec(text) ?? [];
  if (list !== undefined) return { list, source };
  const imported = new RegExp(`import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '([^']*)'`);
  const [, from] = imported.exec(text) ?? [];
  if (from === undefined) throw new Error(`${path}: ${name} is no list of fields`);
  const other = join(dirname(path), from);
  const next = { path: other, text: readFileSync(join(root, other), 'utf8') };
  return constantOf(name, next, root);
}

/** The full name of the message that an import of the file gives this name. */
function messageNamed(alias: string, source: Source, types: MessageTypes): string | undefined {
  for (const [, names = '', from = ''] of source.text.matchAll(IMPORTS)) {
    const folder = GENERATED.exec(join('/', from))?.[1];
    for (const item of names.split(',')) {
      const [own = '', given = own] = item
        .trim()
        .replace(/^type /, '')
        .split(' as ');
      if (given === alias && folder !== undefined) {
        return nestedName(`${folder.replaceAll('/', '.')}.${own}`, types);
      }
    }
  }
  return undefined;
}

/** Nested messages are joined by `_` in the generated types. */
function nestedName(name: string, types: MessageTypes): string {
  let full = name;
  while (types.find(full) === undefined && full.includes('_')) {
    const at = full.lastIndexOf('.');
    full = full.slice(0, at) + full.slice(at).replace('_', '.');
  }
  return full;
}

/** What `/config_dump` can do beside Envoy's: parts of lists, YAML, one static file, and tags. */
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { BadParam, flag, oneOf, parsed, type ParamValues, words } from '../../http-pages/params.ts';
import type { AdminContext } from '../admin-context.ts';
import { JSON_TYPE } from '../http/responses.ts';
import type { MessageTypes } from '../message-types.ts';
import type { DumpItem } from './dump-elements.ts';
import type { DumpSection } from './dump-sections.ts';
import { yamlOf } from './print-yaml.ts';
import { printStaticBootstrap } from './static-bootstrap.ts';

const WHOLE = /^\d{1,9}$/;
const YAML_TYPE = 'application/yaml';

export const OWN_DUMP_PARAMS = {
  format: oneOf<'json' | 'yaml' | 'bootstrap', 'json'>({
    help: 'yaml, or bootstrap: one file without a control plane that serves what is served now',
    values: words('json', 'yaml', 'bootstrap'),
    byDefault: 'json',
  }),
  offset: count('Elements of each list that are left out at its beginning'),
  limit: count('Elements of each list at most'),
  etag: flag('The answer has a tag of the configuration, for if-none-match'),
};

type Own = ParamValues<typeof OWN_DUMP_PARAMS>;

/** The tag of what is configured now; undefined where nobody asks for one. */
export function tagOf(
  { etag }: Own,
  ifNoneMatch: string,
  { config, server }: AdminContext,
): string | undefined {
  if (!etag && ifNoneMatch === '') return undefined;
  // The tag changes with this process, and with the state in which listeners are shown.
  return `W/"${server.startedAtNs.toString(36)}-${config.changes()}-${server.state()}"`;
}

/** Undefined: the client has another page, or none. */
export function notModified(
  tag: string | undefined,
  ifNoneMatch: string,
): AdminResponse | undefined {
  if (tag === undefined || ifNoneMatch === '') return undefined;
  const known = ifNoneMatch.split(',').map((each) => each.trim());
  return known.includes(tag) || known.includes('*')
    ? { status: 304, headers: { etag: tag }, body: '' }
    : undefined;
}

/** The static file, where it is asked for. */
export function bootstrapPage(
  { format }: Own,
  { config }: AdminContext,
  types: MessageTypes,
): AdminResponse | undefined {
  if (format !== 'bootstrap') return undefined;
  return { status: 200, contentType: JSON_TYPE, body: printStaticBootstrap(types, config) };
}

/** A good answer in the form that is asked for. */
export function inOwnForm(
  response: AdminResponse,
  { format }: Own,
  tag: string | undefined,
): AdminResponse {
  if (response.status !== 200) return response;
  const { body } = response;
  const isMade =
    typeof body === 'object' && Symbol.iterator in body && !(body instanceof Uint8Array);
  return {
    ...response,
    ...(format === 'yaml' &&
      isMade && { contentType: YAML_TYPE, body: yamlOf(body as Iterable<string>) }),
    ...(tag !== undefined && { headers: { ...response.headers, etag: tag } }),
  };
}

/** Lists from `offset` on, as far as `limit`. */
export function onePage(
  sections: readonly DumpSection[],
  { offset = 0, limit }: Own,
): readonly DumpSection[] {
  if (offset === 0 && limit === undefined) return sections;
  const end = limit === undefined ? Number.POSITIVE_INFINITY : offset + limit;
  return sections.map((section) => ({
    ...section,
    lists: section.lists.map((list) => ({ ...list, items: new Page(list.items, offset, end) })),
  }));
}

/** May be read several times, as the list may. */
class Page implements Iterable<DumpItem | undefined> {
  readonly #items: Iterable<DumpItem | undefined>;
  readonly #from: number;
  readonly #end: number;

  constructor(items: Iterable<DumpItem | undefined>, from: number, end: number) {
    this.#items = items;
    this.#from = from;
    this.#end = end;
  }

  *[Symbol.iterator](): Generator<DumpItem | undefined> {
    let at = 0;
    for (const item of this.#items) {
      const isShown = item !== undefined && at >= this.#from && at < this.#end;
      if (item !== undefined) at += 1;
      if (at > this.#end) return;
      yield isShown ? item : undefined;
    }
  }
}

function count(help: string) {
  return parsed(
    help,
    (given) =>
      WHOLE.test(given) ? Number(given) : new BadParam(`${given} is no number of elements\n`),
    undefined,
  );
}

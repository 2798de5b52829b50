/**
 * Finds what a message takes from files: every file of resources that it names, and of which kind
 * these are. It looks at the message alone and opens nothing.
 */
import { at, type Place } from '../config/problem.ts';
import type { DiscoveryKind } from '../resolved/resource-kinds.ts';

export interface NamedFile {
  readonly path: string;
  readonly kind: DiscoveryKind;
  /** The place of the field that names the file. */
  readonly place: Place;
  /** The resource that is wanted of it; absent: all that it holds. */
  readonly wanted?: string;
  /** URLs of the types that settings of a filter may have. */
  readonly types?: readonly string[];
}

/** Fields that hold an envoy.config.core.v3.ConfigSource, and what comes from it. */
const SOURCE_FIELDS: Readonly<Record<string, DiscoveryKind>> = {
  cds_config: 'cluster',
  lds_config: 'listener',
  eds_config: 'endpoints',
  sds_config: 'secret',
  rtds_config: 'runtime',
  scoped_rds_config_source: 'scoped_routes',
};

/** `place` is that of `message`. */
export function namedFiles(message: object, place: Place | undefined): readonly NamedFile[] {
  const files: NamedFile[] = [];
  const look = (value: unknown, here: Place | undefined): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) look(item, at(here, index));
      return;
    }
    const fields = value as Fields;
    for (const [name, item] of Object.entries(fields)) {
      const below = at(here, name);
      const kind = SOURCE_FIELDS[name];
      if (kind !== undefined) addFile(files, kind, item, { place: below, wanted: fields['name'] });
      if (name === 'rds') addRoutes(files, item, below);
      if (name === 'config_discovery') addFilter(files, fields, below);
      look(item, below);
    }
  };
  look(message, place);
  return files;
}

type Fields = Readonly<Record<string, unknown>>;

function addRoutes(files: NamedFile[], value: unknown, place: Place): void {
  if (!isFields(value)) return;
  const wanted = value['route_config_name'];
  const source = value['config_source'];
  addFile(files, 'route_configuration', source, { place: at(place, 'config_source'), wanted });
}

/** `filter` is the message that says from where its settings come. */
function addFilter(files: NamedFile[], filter: Fields, place: Place): void {
  const { name: wanted, config_discovery: discovery } = filter;
  if (!isFields(discovery)) return;
  const { config_source: source, type_urls: urls } = discovery;
  const types = (Array.isArray(urls) ? urls : []).filter((url) => typeof url === 'string');
  const found: NamedFile[] = [];
  addFile(found, 'extension', source, { place: at(place, 'config_source'), wanted });
  files.push(...found.map((file) => ({ ...file, types })));
}

function addFile(
  files: NamedFile[],
  kind: DiscoveryKind,
  source: unknown,
  { place, wanted }: { readonly place: Place; readonly wanted: unknown },
): void {
  if (!isFields(source)) return;
  const file = source['path_config_source'];
  const isOlder = typeof source['path'] === 'string';
  const path = isOlder ? source['path'] : isFields(file) ? file['path'] : undefined;
  if (typeof path !== 'string' || path === '') return;
  const step = isOlder ? at(place, 'path') : at(at(place, 'path_config_source'), 'path');
  const isNamed = typeof wanted === 'string' && wanted !== '' && kind !== 'endpoints';
  files.push({ path, kind, place: step, ...(isNamed ? { wanted } : {}) });
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

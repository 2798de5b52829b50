/**
 * Reads `--disable-extensions`: which of the extensions that there are no configuration may use.
 */
import { knownExtensions } from './known-extensions.ts';

export interface DisabledExtensions {
  /** Each as `category/name`, as the registries know it. */
  readonly names: ReadonlySet<string>;
  /** What came of each item, for the log. */
  readonly notes: readonly { readonly level: 'info' | 'warning'; readonly text: string }[];
}

/** `items` are the option's value split at commas. An item that names nothing changes nothing. */
export function readDisabledExtensions(items: readonly string[]): DisabledExtensions {
  const names = new Set<string>();
  if (items.length === 0) return { names, notes: [] };
  const known = new Set(knownExtensions().map(({ category, name }) => `${category}/${name}`));
  const notes = items.map((item) => {
    if (!item.includes('/')) {
      const text = `failed to disable invalid extension name '${item}'`;
      return { level: 'warning', text } as const;
    }
    const found = namesOf(item).find((name) => known.has(name));
    if (found === undefined) {
      return { level: 'warning', text: `failed to disable unknown extension '${item}'` } as const;
    }
    names.add(found);
    return { level: 'info', text: `disabled extension '${item}'` } as const;
  });
  return { names, notes };
}

/** Older names begin otherwise: `envoy.router` stands for `envoy.filters.http.router`. */
const OLDER_BEGINNINGS: ReadonlyMap<string, readonly [older: string, current: string]> = new Map(
  Object.entries({
    'envoy.access_loggers': ['envoy.file_access_log', 'envoy.access_loggers.file'],
    'envoy.filters.http': ['envoy.', 'envoy.filters.http.'],
    'envoy.filters.listener': ['envoy.listener.', 'envoy.filters.listener.'],
    'envoy.filters.network': ['envoy.', 'envoy.filters.network.'],
    'envoy.stats_sinks': ['envoy.', 'envoy.stat_sinks.'],
    'envoy.transport_sockets.downstream': ['', 'envoy.transport_sockets.'],
    'envoy.transport_sockets.upstream': ['', 'envoy.transport_sockets.'],
  }),
);

function namesOf(item: string): readonly string[] {
  const slash = item.indexOf('/');
  const category = item.slice(0, slash);
  const name = item.slice(slash + 1);
  const [older, current] = OLDER_BEGINNINGS.get(category) ?? ['', ''];
  return name.startsWith(older)
    ? [item, `${category}/${current}${name.slice(older.length)}`]
    : [item];
}

/** Where responses are kept, in memory or on disk, and when they are fetched once for all. */
import { KindTable } from '../../../../shared/resources/by-kind.ts';
import type { Endable } from '../../../../shared/process/exceptions.ts';
import type { CacheStore } from '../../../../shared/resources/filters/http/matching/http-cache.ts';
import type { FilterContext } from '../../filter-context.ts';
import { DiskCache } from './disk-cache.ts';
import { Flights } from './flights.ts';
import { MemoryCache, type KeptResponse } from './memory-cache.ts';

export interface ResponseStore {
  /** Calls `found` once, before it returns or later, with what there is. */
  find(key: string, found: (response: KeptResponse | undefined) => void, owner: Endable): void;
  keep(key: string, response: KeptResponse): void;
  readonly flights: Flights;
}

/** What all filters of this worker keep in memory, and the room for responses that are coming. */
export const MEMORY = new MemoryCache();
const IN_MEMORY: ResponseStore = {
  find: (key, found) => found(MEMORY.get(key)),
  keep: (key, response) => MEMORY.set(key, response),
  flights: new Flights(),
};
/** By their folders; of filters that name the same folder the first one's limits hold. */
const ON_DISK = new Map<string, ResponseStore>();
const FOLDERS_MAX = 1000;

const STORES = new KindTable<CacheStore, [FilterContext], ResponseStore>({
  memory: () => IN_MEMORY,
  disk: (options, context) => {
    const known = ON_DISK.get(options.path);
    if (known !== undefined) return known;
    const disk = new DiskCache(options, context.loop, (text) =>
      context.log('warning', 'cache', text),
    );
    const store: ResponseStore = {
      find: (key, found, owner) => disk.find(key, found, owner),
      keep: (key, response) => disk.keep(key, response),
      flights: new Flights(),
    };
    if (ON_DISK.size < FOLDERS_MAX) ON_DISK.set(options.path, store);
    return store;
  },
});

export function openStore(store: CacheStore, context: FilterContext): ResponseStore {
  return STORES.make(store, context);
}

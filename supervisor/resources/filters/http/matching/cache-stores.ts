/** Resolves where HTTP caches keep responses: in memory, or in a folder. */
import { resolve } from 'node:path';
import type { FileSystemHttpCacheConfig } from '../../../../../shared/api/generated/envoy/extensions/http/cache/file_system_http_cache/v3/file_system_http_cache.ts';
import type { CacheStore } from '../../../../../shared/resources/filters/http/matching/http-cache.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';

const DISK_FIELDS = knownFields<FileSystemHttpCacheConfig>(
  [
    'manager_config',
    'cache_path',
    'create_cache_path',
    'max_cache_size_bytes',
    'max_cache_entry_count',
    'max_individual_cache_entry_size_bytes',
    'evict_fraction',
  ],
  // Folders are looked at after writes, not by the clock, and have no folders in them.
  ['max_eviction_period', 'min_eviction_period', 'cache_subdivisions'],
);
/** Envoy's words. */
const NO_MANAGER = 'unrecognized AsyncFileManagerConfig::ManagerType';
/** A folder has no more files, whatever is configured: they are looked through. */
const FILES_MAX = 100_000;

export const CACHE_STORES = new ExtensionRegistry<CacheStore>('envoy.http.cache', 'HTTP cache', {
  memory: extension(
    'envoy.extensions.http.cache.simple',
    'envoy.extensions.http.cache.simple_http_cache.v3.SimpleHttpCacheConfig',
    () => ({ kind: 'memory' }),
  ),
  disk: extension(
    'envoy.extensions.http.cache.file_system_http_cache',
    'envoy.extensions.http.cache.file_system_http_cache.v3.FileSystemHttpCacheConfig',
    resolveDisk,
  ),
});

export const CACHE_V2_STORES = new ExtensionRegistry<CacheStore>(
  'envoy.http.cache_v2',
  'HTTP cache',
  {
    memory: extension(
      'envoy.extensions.http.cache_v2.simple',
      'envoy.extensions.http.cache_v2.simple_http_cache.v3.SimpleHttpCacheV2Config',
      () => ({ kind: 'memory' }),
    ),
    disk: extension(
      'envoy.extensions.http.cache_v2.file_system_http_cache',
      'envoy.extensions.http.cache_v2.file_system_http_cache.v3.FileSystemHttpCacheV2Config',
      resolveDisk,
    ),
  },
);

/** A folder that is not there is an error of the first response that is to be kept, as in Envoy. */
function resolveDisk(
  message: FileSystemHttpCacheConfig,
  scope: Scope,
): Extract<CacheStore, { readonly kind: 'disk' }> | undefined {
  refuseOtherFields(message, DISK_FIELDS, scope);
  const { cache_path: path = '', manager_config: manager } = message;
  if (manager?.thread_pool === undefined) scope.at('manager_config').error('conflict', NO_MANAGER);
  if (path === '') {
    scope.at('cache_path').error('conflict', 'a cache on disk needs the path of a folder');
    return undefined;
  }
  const bytes = message.max_cache_size_bytes;
  const entry = message.max_individual_cache_entry_size_bytes;
  return {
    kind: 'disk',
    path: `${resolve(path)}/`,
    makesFolder: message.create_cache_path ?? false,
    bytesMax: bytes === undefined ? Infinity : Number(bytes),
    filesMax: Math.min(Number(message.max_cache_entry_count ?? FILES_MAX), FILES_MAX),
    ...optional('entryBytesMax', entry === undefined ? undefined : Number(entry)),
    evictFraction: Math.min(1, Math.max(0, Number(message.evict_fraction ?? 0))),
  };
}

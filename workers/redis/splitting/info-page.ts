/**
 * Joins the pages that hosts answer to INFO: each known figure once, as one server would have it.
 * Sums and maxima are of whole numbers; what is none counts as nothing.
 */

type Way = 'first' | 'sum' | 'max' | 'human' | 'keyspace' | { readonly constant: string };

interface Figure {
  readonly section: string;
  readonly name: string;
  readonly way: Way;
}

const HUMAN = '_human';

/** In their order on the page; `name` alone is the first host's, `+name` a sum, `^name` a maximum. */
const PAGE = {
  Server:
    'redis_version redis_git_sha1 redis_git_dirty redis_build_id =redis_mode:cluster os arch_bits ' +
    'monotonic_clock gcc_version multiplexing_api atomicvar_api process_supervised run_id ' +
    'server_time_usec ^uptime_in_seconds ^uptime_in_days hz configured_hz lru_clock executable ' +
    'config_file ^io_threads_active',
  Clients:
    '+connected_clients +cluster_connections maxclients ^client_recent_max_input_buffer ' +
    '^client_recent_max_output_buffer +blocked_clients +tracking_clients +pubsub_clients ' +
    '+watching_clients +clients_in_timeout_table +total_watched_keys +total_blocking_keys ' +
    '+total_blocking_keys_on_nokey',
  Memory:
    '+used_memory used_memory_human +used_memory_rss used_memory_rss_human ^used_memory_peak ' +
    'used_memory_peak_human used_memory_peak_time +used_memory_overhead +used_memory_startup ' +
    '+used_memory_dataset +total_system_memory total_system_memory_human +used_memory_lua ' +
    '+used_memory_vm_eval used_memory_lua_human +used_memory_scripts_eval ' +
    '+number_of_cached_scripts +number_of_functions +number_of_libraries ' +
    '+used_memory_vm_functions +used_memory_vm_total used_memory_vm_total_human ' +
    '+used_memory_functions +used_memory_scripts used_memory_scripts_human +maxmemory ' +
    'maxmemory_human maxmemory_policy +mem_fragmentation_bytes +allocator_frag_bytes ' +
    '+allocator_rss_bytes +rss_overhead_bytes +allocator_allocated +allocator_active ' +
    '+allocator_resident +allocator_muzzy +mem_not_counted_for_evict +mem_clients_slaves ' +
    '+mem_clients_normal +mem_cluster_links +mem_cluster_slot_migration_output_buffer ' +
    '+mem_cluster_slot_migration_input_buffer ^mem_cluster_slot_migration_input_buffer_peak ' +
    '+mem_aof_buffer +mem_replication_backlog +mem_total_replication_buffers mem_allocator ' +
    '+mem_overhead_db_hashtable_rehashing ^active_defrag_running +lazyfree_pending_objects ' +
    '+lazyfreed_objects',
  Stats:
    '+total_connections_received +total_commands_processed +instantaneous_ops_per_sec ' +
    '+total_net_input_bytes +total_net_output_bytes +total_net_repl_input_bytes ' +
    '+total_net_repl_output_bytes +instantaneous_input_kbps +instantaneous_output_kbps ' +
    '+instantaneous_input_repl_kbps +instantaneous_output_repl_kbps +rejected_connections ' +
    '+sync_full +sync_partial_ok +sync_partial_err +expired_subkeys +expired_keys ' +
    '^expired_stale_perc +expired_time_cap_reached_count +expire_cycle_cpu_milliseconds ' +
    '+evicted_keys +evicted_clients +evicted_scripts +total_eviction_exceeded_time ' +
    '^current_eviction_exceeded_time +keyspace_hits +keyspace_misses +pubsub_channels ' +
    '+pubsub_patterns +pubsubshard_channels ^latest_fork_usec +total_forks ' +
    '+migrate_cached_sockets +slave_expires_tracked_keys +active_defrag_hits ' +
    '+active_defrag_misses +active_defrag_key_hits +active_defrag_key_misses ' +
    '+total_active_defrag_time ^current_active_defrag_time +tracking_total_keys ' +
    '+tracking_total_items +tracking_total_prefixes +unexpected_error_replies ' +
    '+total_error_replies +dump_payload_sanitizations +total_reads_processed ' +
    '+total_writes_processed +io_threaded_reads_processed +io_threaded_writes_processed ' +
    '+client_query_buffer_limit_disconnections +client_output_buffer_limit_disconnections ' +
    '+reply_buffer_shrinks +reply_buffer_expands +eventloop_cycles +eventloop_duration_sum ' +
    '+eventloop_duration_cmd_sum +instantaneous_eventloop_cycles_per_sec ' +
    '^instantaneous_eventloop_duration_usec +acl_access_denied_auth +acl_access_denied_cmd ' +
    '+acl_access_denied_key +acl_access_denied_channel',
  CPU:
    '+used_cpu_sys +used_cpu_user +used_cpu_sys_children +used_cpu_user_children ' +
    '+used_cpu_sys_main_thread +used_cpu_user_main_thread',
  Cluster: '=cluster_enabled:1',
  Keyspace: '#db0',
};

const FIGURES: readonly Figure[] = Object.entries(PAGE).flatMap(([section, text]) =>
  text.split(' ').map((entry) => figureOf(section, entry)),
);

function figureOf(section: string, entry: string): Figure {
  const name = entry.slice(1);
  switch (entry[0]) {
    case '+':
      return { section, name, way: 'sum' };
    case '^':
      return { section, name, way: 'max' };
    case '#':
      return { section, name, way: 'keyspace' };
    case '=': {
      const [constantName = '', constant = ''] = name.split(':');
      return { section, name: constantName, way: { constant } };
    }
    default:
      return { section, name: entry, way: entry.endsWith(HUMAN) ? 'human' : 'first' };
  }
}

/** `section` is empty for the whole page; in any case of letters. */
export function joinInfoPages(pages: readonly string[], section: string): string {
  const wanted = section.toLowerCase();
  const isWanted = (name: string): boolean => wanted === '' || name.toLowerCase() === wanted;
  const found = new Map<string, string[]>();
  for (const page of pages) {
    for (const [name, value] of valuesOf(page, isWanted)) {
      const values = found.get(name);
      if (values === undefined) found.set(name, [value]);
      else values.push(value);
    }
  }
  return print(
    FIGURES.filter((figure) => isWanted(figure.section)),
    found,
  );
}

function* valuesOf(
  page: string,
  isWanted: (section: string) => boolean,
): Generator<readonly [string, string]> {
  let isWithin = isWanted('');
  for (const untrimmed of page.split('\n')) {
    const line = untrimmed.trim();
    const colon = line.indexOf(':');
    if (line.startsWith('#')) isWithin = isWanted(line.slice(1).trimStart());
    else if (isWithin && colon > 0) yield [line.slice(0, colon), line.slice(colon + 1)];
  }
}

function print(figures: readonly Figure[], found: ReadonlyMap<string, readonly string[]>): string {
  let text = '';
  let last = '';
  for (const { section, name, way } of figures) {
    const value = valueOf(name, way, found);
    if (value === undefined) continue;
    if (section !== last) text += `${last === '' ? '' : '\r\n'}# ${section}\r\n`;
    last = section;
    text += `${name}:${value}\r\n`;
  }
  return text;
}

function valueOf(
  name: string,
  way: Way,
  found: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  const values = found.get(name) ?? [];
  switch (way) {
    case 'first':
      return values.find((value) => value !== '');
    case 'sum':
      return String(numbersOf(values).reduce((sum, number) => sum + number, 0n));
    case 'max':
      return String(largest(values));
    case 'human': {
      const source = name.slice(0, -HUMAN.length);
      const total =
        source === 'used_memory_peak'
          ? largest(found.get(source) ?? [])
          : numbersOf(found.get(source) ?? []).reduce((sum, number) => sum + number, 0n);
      return total > 0n ? humanBytes(Number(total)) : undefined;
    }
    case 'keyspace':
      return values.length === 0 ? undefined : joinKeyspaces(values);
    default:
      return way.constant;
  }
}

function numbersOf(values: readonly string[]): bigint[] {
  return values.filter((value) => /^-?\d{1,18}$/.test(value)).map(BigInt);
}

function largest(values: readonly string[]): bigint {
  return numbersOf(values).reduce((most, number) => (number > most ? number : most), 0n);
}

const UNITS = ['K', 'M', 'G', 'T', 'P'];

function humanBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  const power = Math.min(UNITS.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(2)}${UNITS[power - 1] ?? ''}`;
}

/** `keys=1,expires=2,avg_ttl=3` of each; the time is averaged with what came before. */
function joinKeyspaces(values: readonly string[]): string {
  let keys = 0;
  let expires = 0;
  let ttl = 0;
  for (const value of values) {
    const parts = new Map(value.split(',').map((part) => part.split('=', 2) as [string, string]));
    const read = (name: string): number => Number(/^\d{1,15}$/.exec(parts.get(name) ?? '') ?? 0);
    keys += read('keys');
    expires += read('expires');
    ttl = Math.floor((ttl + read('avg_ttl')) / 2);
  }
  return `keys=${keys},expires=${expires},avg_ttl=${ttl}`;
}

/**
 * The commands that clients may send: what is done with each, and which change what is stored.
 * Names are in lower case.
 */

/**
 * How a command finds its hosts. `simple`: by its first argument; `eval`: by its third; `object`:
 * by its second; `sum`, `mget`, `mset`: split by keys; `shards`: to all hosts; `scan` likewise;
 * `shard_info`: to one host by number; `random_shard`: to any host.
 */
export type CommandKind =
  | 'simple'
  | 'eval'
  | 'object'
  | 'sum'
  | 'mget'
  | 'mset'
  | 'scan'
  | 'shard_info'
  | 'random_shard'
  | 'shards'
  | 'transaction';

const SIMPLE =
  'append bf.add bf.card bf.exists bf.info bf.insert bf.loadchunk bf.madd bf.mexists bf.reserve ' +
  'bf.scandump bitcount bitfield bitfield_ro bitop bitpos copy decr decrby dump expire expireat ' +
  'geoadd geodist geohash geopos georadius georadius_ro georadiusbymember georadiusbymember_ro ' +
  'geosearch geosearchstore get getbit getdel getex getrange getset hdel hexists hexpire ' +
  'hexpireat hexpiretime hget hgetall hincrby hincrbyfloat hkeys hlen hmget hmset hpersist ' +
  'hpexpire hpexpireat hpexpiretime hpttl hrandfield hscan hset hsetnx hstrlen httl hvals incr ' +
  'incrby incrbyfloat lindex linsert llen lmove lpop lpos lpush lpushx lrange lrem lset ltrim ' +
  'msetnx persist pexpire pexpireat pfadd pfcount pfmerge psetex pttl publish rename renamenx ' +
  'restore rpop rpoplpush rpush rpushx sadd scard sdiff sdiffstore set setbit setex setnx ' +
  'setrange sinter sinterstore sismember smembers smismember smove sort sort_ro spop srandmember ' +
  'srem sscan strlen substr sunion sunionstore ttl type xack xadd xautoclaim xclaim xdel xlen ' +
  'xpending xrange xrevrange xtrim zadd zcard zcount zdiff zdiffstore zincrby zinter zinterstore ' +
  'zlexcount zmscore zpopmax zpopmin zrandmember zrange zrangebylex zrangebyscore zrangestore ' +
  'zrank zrem zremrangebylex zremrangebyrank zremrangebyscore zrevrange zrevrangebylex ' +
  'zrevrangebyscore zrevrank zscan zscore zunion zunionstore';

const BY_KIND: Readonly<Record<CommandKind, string>> = {
  simple: SIMPLE,
  eval: 'eval evalsha',
  object: 'object',
  sum: 'del exists touch unlink',
  mget: 'mget',
  mset: 'mset',
  scan: 'scan',
  shard_info: 'info.shard',
  random_shard: 'cluster randomkey',
  shards: 'script flushall flushdb slowlog config info keys select role',
  transaction: 'multi exec discard watch unwatch',
};

/** Those that go to hosts. */
export const COMMANDS: ReadonlyMap<string, CommandKind> = new Map(
  Object.entries(BY_KIND).flatMap(([kind, names]) =>
    names.split(' ').map((name) => [name, kind as CommandKind] as const),
  ),
);

/** Answered here. */
export const LOCAL_COMMANDS: ReadonlySet<string> = new Set([
  'auth',
  'client',
  'echo',
  'hello',
  'ping',
  'quit',
  'time',
]);

/** Those with statistics of their own, where HELLO only has the names. */
export const COUNTED_COMMANDS: readonly string[] = [...COMMANDS.keys(), 'hello'];

const COUNTED_KINDS: ReadonlySet<CommandKind | undefined> = new Set<CommandKind>([
  'simple',
  'eval',
  'sum',
  'mget',
  'mset',
  'shards',
  'random_shard',
]);

/** What a command counts as at hosts; of some kinds none is told from the others. */
export function countedUpstream(name: string): string {
  const isCounted = name === 'hello' || COUNTED_KINDS.has(COMMANDS.get(name));
  return isCounted ? name : 'unknown';
}

const WRITES: ReadonlySet<string> = new Set(
  (
    'append bitfield bitop copy decr decrby del discard eval evalsha exec expire expireat geoadd ' +
    'georadius georadiusbymember geosearchstore getdel getex hdel hexpire hexpireat hincrby ' +
    'hincrbyfloat hmset hpersist hpexpire hpexpireat hset hsetnx incr incrby incrbyfloat linsert ' +
    'lmove lpop lpush lpushx lrem lset ltrim mset msetnx multi persist pexpire pexpireat pfadd ' +
    'pfmerge psetex rename renamenx restore rpop rpoplpush rpush rpushx sadd sdiffstore set ' +
    'setbit setex setnx setrange sinterstore smove sort spop srem sunionstore touch unlink zadd ' +
    'zdiffstore zincrby zinterstore zpopmax zpopmin zrangestore zrem zremrangebylex ' +
    'zremrangebyrank zremrangebyscore zunionstore'
  ).split(' '),
);

/** Whether a command leaves everything as it is, in any case of letters. */
export function isRead(name: string): boolean {
  return !WRITES.has(name.toLowerCase());
}

const WITHOUT_ARGUMENTS: ReadonlySet<string> = new Set([
  'ping',
  'time',
  'flushall',
  'flushdb',
  'randomkey',
  'quit',
  'role',
  'info',
  'multi',
  'exec',
  'discard',
  'unwatch',
  // Asked for by what runs transactions.
  'watch',
]);

export function needsArgument(name: string): boolean {
  return !WITHOUT_ARGUMENTS.has(name);
}

/** Beside simple ones; it is the client's matter that all keys of such a command are together. */
const MULTI_KEY: ReadonlySet<string> = new Set(['del', 'mget', 'mset', 'touch', 'unlink']);

export function isPossibleInTransaction(name: string): boolean {
  const kind = COMMANDS.get(name);
  return kind === 'transaction' || kind === 'simple' || MULTI_KEY.has(name);
}

/** The permitted ones of `cluster`: others would change what the proxy goes by. */
const CLUSTER_SUBCOMMANDS: ReadonlySet<string> = new Set(['info', 'slots', 'keyslot', 'nodes']);

export function isAllowedSubcommand(name: string, subcommand: string): boolean {
  return name !== 'cluster' || CLUSTER_SUBCOMMANDS.has(subcommand);
}

/** Commands without keys, which go to all hosts of a cluster, or to one by number or at random. */
import { asciiLower } from '../../../shared/text/ascii.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import { type CommandKind, isAllowedSubcommand } from '../commands.ts';
import type { KeyRoute } from '../routes/key-routes.ts';
import type { CommandCallbacks } from '../upstream/command-queue.ts';
import type { CommandHandle } from '../upstream/command-handle.ts';
import { NO_UPSTREAM_HOST, refuse, type RunParts, type Words, wrongNumber } from './command-run.ts';
import { gatheringFor } from './shard-gathering.ts';
import { type Gathering, ListGathering, SameGathering, ShardsRun } from './split-run.ts';

type ShardKind = Extract<CommandKind, 'scan' | 'shard_info' | 'random_shard' | 'shards'>;

const SHARD_NUMBER = /^\s*\+?(\d{1,5})\s*$/;
const SHARD_MAX = 65_535;

/** What goes to some hosts, and what their answers come to. */
interface ShardPlan {
  readonly route: KeyRoute;
  readonly shards: readonly UpstreamHost[];
  readonly gathering: Gathering;
  readonly words: Words;
}

/** A text in place of the plan says why there is none. */
type PlanOrRefusal = ShardPlan | string;

/** Undefined where the answer is there already. */
export function startOnShards(
  kind: ShardKind,
  name: string,
  words: Words,
  parts: RunParts,
): CommandHandle | undefined {
  const plan = planFor(kind, name, words, parts);
  if (typeof plan === 'string') {
    refuse(parts, plan);
    return undefined;
  }
  return startPlan(plan, kind === 'shard_info' ? 'info' : name, parts);
}

function planFor(kind: ShardKind, name: string, words: Words, parts: RunParts): PlanOrRefusal {
  switch (kind) {
    case 'shard_info':
      return planShardInfo(words, parts);
    case 'scan':
      return planScan(words, parts);
    default:
      return planForAll(kind, name, words, parts);
  }
}

/** Routed by its cursor, which is rewritten as a key would be. */
function planScan(words: Words, { routes, info }: RunParts): PlanOrRefusal {
  const cursor = words[1] ?? '';
  const route = routes.find(cursor);
  words[1] = route?.rewrite(cursor, info) ?? cursor;
  const shards = route?.poolFor('scan').shards() ?? [];
  if (route === undefined || shards.length === 0) return NO_UPSTREAM_HOST;
  return { route, shards, gathering: new ListGathering(), words };
}

function planForAll(
  kind: 'random_shard' | 'shards',
  name: string,
  words: Words,
  { routes }: RunParts,
): PlanOrRefusal {
  const subcommand = asciiLower(words[1] ?? '');
  if (words.length > 1 && !isAllowedSubcommand(name, subcommand)) {
    return `ERR ${name} subcommand '${subcommand}' is not supported`;
  }
  const route = routes.find('');
  const all = route?.poolFor(name).shards() ?? [];
  if (route === undefined || all.length === 0) return NO_UPSTREAM_HOST;
  if (kind === 'random_shard') {
    const at = Math.floor(Math.random() * all.length);
    return { route, shards: all.slice(at, at + 1), gathering: new SameGathering(), words };
  }
  const gathering = gatheringFor(name, subcommand, all.length);
  if (gathering === undefined) return 'ERR unsupported cluster scope command or invalid arguments';
  return { route, shards: all, gathering, words };
}

function planShardInfo(words: Words, { routes }: RunParts): PlanOrRefusal {
  const [, number = '', ...section] = words;
  if (words.length < 2 || words.length > 3) return wrongNumber(words);
  const shard = Number(SHARD_NUMBER.exec(number)?.[1] ?? Number.NaN);
  if (Number.isNaN(shard) || shard > SHARD_MAX) {
    return 'ERR invalid shard_id - must be a numeric shard index';
  }
  const route = routes.find('');
  const all = route?.poolFor('info').shards() ?? [];
  if (route === undefined || all.length === 0) return NO_UPSTREAM_HOST;
  const host = all[shard];
  if (host === undefined) return `ERR shard_id ${shard} out of range (0-${all.length - 1})`;
  const gathering = new SameGathering();
  return { route, shards: [host], gathering, words: ['INFO', ...section] };
}

function startPlan(plan: ShardPlan, name: string, parts: RunParts): CommandHandle {
  const { route, shards, gathering, words } = plan;
  const pool = route.poolFor(name);
  const run = new ShardsRun(parts, gathering, shards.length);
  run.start(
    shards.map((host, at) => (callbacks: CommandCallbacks) => {
      const handle = pool.sendTo(host, words, callbacks);
      if (handle !== undefined) mirrorToShard(plan, name, at);
      return handle;
    }),
  );
  return run;
}

/** A mirror gets as many copies as it has hosts. */
function mirrorToShard({ route, words }: ShardPlan, name: string, at: number): void {
  for (const mirror of route.mirrors) {
    const host = mirror.pool.shards()[at];
    if (host !== undefined && mirror.takes(name)) mirror.pool.mirrorTo(host, words);
  }
}

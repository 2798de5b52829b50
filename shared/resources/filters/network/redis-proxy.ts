/** Settings of the Redis proxy, which takes the commands of clients to hosts by their keys. */
import type { GrpcTarget } from '../../grpc-target.ts';
import type { RuntimeFraction } from '../../routes/matchers.ts';
import {
  REDIS_CLUSTER,
  REDIS_COMMAND,
  REDIS_COMMAND_MICROS,
  REDIS_PROXY,
  REDIS_UPSTREAM_COMMAND,
  REDIS_UPSTREAM_FAILURE,
  REDIS_UPSTREAM_SUCCESS,
  REDIS_UPSTREAM_TIME,
} from '../../../stats/templates/redis.ts';
import { declareKind } from '../declare-filter.ts';

export interface RedisProxy {
  readonly kind: 'redis_proxy';
  /** What stands behind `redis.` in statistic names. */
  readonly statPrefix: string;
  readonly hosts: RedisHostSettings;
  /** Command times are counted in microseconds, else in milliseconds. */
  readonly hasMicroseconds: boolean;
  readonly routes: RedisRoutes;
  /** Absent: clients need no password. */
  readonly auth?: RedisDownstreamAuth;
  /** A service that knows the passwords; absent: they are those of `auth`. */
  readonly externalAuth?: {
    readonly target: GrpcTarget;
    readonly timeoutMs: number;
    /** What it agrees to holds until the time that it says. */
    readonly expires: boolean;
  };
  readonly faults: readonly RedisFault[];
  /** Names of further commands whose first argument is a key; lower case. */
  readonly customCommands: readonly string[];
  /** What clients and hosts have to speak. */
  readonly version: 2 | 3;
}

/** How commands go to hosts. */
export interface RedisHostSettings {
  /** From the first open command, or the last answer, to the next answer. */
  readonly opTimeoutMs: number;
  /** Keys with the same text in braces go to the same host. */
  readonly usesHashTags: boolean;
  readonly followsRedirections: boolean;
  /** Commands wait for more to be sent with, up to as many bytes or for as long; 0: they do not. */
  readonly flushBytes: number;
  readonly flushDelayMs: number;
  /** The limit of redirections to hosts that are not in the cluster. */
  readonly unknownConnectionsMax: number;
  readonly hasCommandStats: boolean;
  readonly readPolicy: RedisReadPolicy;
  /** Connections to each host; absent: no limit. */
  readonly connectionsPerSecond?: number;
}

export type RedisReadPolicy =
  | 'MASTER'
  | 'PREFER_MASTER'
  | 'REPLICA'
  | 'PREFER_REPLICA'
  | 'ANY'
  | 'LOCAL_ZONE_AFFINITY'
  | 'LOCAL_ZONE_AFFINITY_REPLICAS_AND_PRIMARY';

export interface RedisRoutes {
  /** The longest prefix counts. */
  readonly byPrefix: readonly RedisRoute[];
  readonly ignoresCase: boolean;
  readonly catchAll?: RedisRoute;
}

export interface RedisRoute {
  readonly prefix: string;
  readonly removesPrefix: boolean;
  readonly cluster: string;
  /** Where commands go that change nothing; absent: to the same cluster. */
  readonly readCluster?: string;
  readonly mirrors: readonly RedisMirror[];
  /** A substitution format, with the key as `%KEY%`: what becomes of keys; absent: they stay. */
  readonly keyFormat?: string;
}

export interface RedisMirror {
  readonly cluster: string;
  /** Absent: all commands. */
  readonly fraction?: RuntimeFraction;
  readonly excludesReads: boolean;
}

/** Texts are latin-1, one character per byte. */
export interface RedisDownstreamAuth {
  /** Empty: there is none. */
  readonly username: string;
  /** Any of them will do. */
  readonly passwords: readonly string[];
}

export interface RedisFault {
  readonly isError: boolean;
  readonly share: RuntimeFraction;
  readonly delayMs: number;
  /** Lower case; empty: all. */
  readonly commands: readonly string[];
}

export const REDIS_PROXY_DECLARATION = declareKind<RedisProxy>(
  REDIS_PROXY,
  REDIS_COMMAND,
  REDIS_COMMAND_MICROS,
  REDIS_CLUSTER,
  REDIS_UPSTREAM_TIME,
  REDIS_UPSTREAM_COMMAND,
  REDIS_UPSTREAM_SUCCESS,
  REDIS_UPSTREAM_FAILURE,
);

/** Where resources that are not in the configuration itself come from. Types only. */
import type { ScriptModule } from '../../shared/scripts/script-module.ts';
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';

export type ConfigSource = SourceKind & {
  /** How long the first answer is waited for before the server goes on without it; 0: for ever. */
  readonly initialFetchTimeoutMs: number;
};

export type SourceKind =
  | {
      readonly kind: 'path';
      readonly path: string;
      /** Moves in this directory count instead of moves of the file itself. */
      readonly watchedDirectory?: string;
    }
  | {
      readonly kind: 'rest';
      readonly cluster: string;
      readonly refreshMs: number;
      readonly timeoutMs: number;
    }
  | ({ readonly kind: 'grpc' } & GrpcSource)
  /** A module of the operator's own finds them. */
  | ({ readonly kind: 'script' } & ScriptDiscovery)
  /** The stream of `ads_config`. */
  | { readonly kind: 'ads' };

export interface GrpcSource {
  readonly target: GrpcTarget;
  readonly nodeOnFirstMessageOnly: boolean;
  /** Only what changed is sent. */
  readonly isDelta: boolean;
  /** The limit of requests; absent: there is none. */
  readonly rateLimit?: { readonly maxTokens: number; readonly fillPerSecond: number };
  /** Between a stream that was lost and the next attempt; the bound doubles with each failure. */
  readonly backOff: { readonly firstMs: number; readonly maxMs: number };
}

/** A module that finds the hosts of a cluster. */
export interface ScriptDiscovery {
  readonly cluster: string;
  /** Its newest version, however old this object is. */
  readonly module: ScriptModule;
  /** JSON, which the module's schema has checked. */
  readonly settings: string;
  readonly loopTimeoutMs: number;
  readonly loadTimeoutMs: number;
}

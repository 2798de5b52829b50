/** Where resources that are not in the configuration itself come from. Types only. */
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

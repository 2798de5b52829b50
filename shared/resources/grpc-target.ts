/** A gRPC server that this server is a client of. Source: envoy.config.core.v3.GrpcService. */
import type { RetryPolicy } from './routes/retry-policy.ts';

interface CallInfo {
  /** Sent with every call. */
  readonly metadata: readonly { readonly key: string; readonly value: string }[];
}

export type GrpcTarget =
  | ({
      readonly kind: 'cluster';
      readonly cluster: string;
      /** `:authority`; the cluster's name when not set. */
      readonly authority: string;
      readonly maxMessageBytes?: number;
      /** `x-envoy-internal` and `x-forwarded-for` are not sent. */
      readonly omitsEnvoyHeaders?: boolean;
      /**
       * The retries of calls and streams that workers make; the supervisor opens its streams again
       * itself.
       */
      readonly retryPolicy?: RetryPolicy;
    } & CallInfo)
  | ({
      readonly kind: 'uri';
      readonly uri: string;
      readonly statPrefix: string;
      /** Absent: plain text. */
      readonly tls?: ClientTls;
      /** Arguments of the channel by name, as the transport knows them. */
      readonly args: Readonly<Record<string, string | number>>;
    } & CallInfo);

/** PEM; absent roots are the system's. */
export interface ClientTls {
  readonly roots?: Buffer;
  readonly key?: Buffer;
  readonly chain?: Buffer;
}

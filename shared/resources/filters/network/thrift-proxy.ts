/** Settings of the Thrift proxy, which takes requests to hosts by their method. */
import { THRIFT_PROXY } from '../../../stats/templates/thrift.ts';
import type { Struct } from '../../../text/dictionary.ts';
import type { ThriftProtocol, ThriftTransport } from '../../../thrift/thrift-message.ts';
import type { HeaderMatcher } from '../../routes/matchers.ts';
import { declareKind } from '../declare-filter.ts';
import type { HeaderToMetadataOptions } from '../http/header-to-metadata.ts';
import type { ThriftRule } from '../http/matching/thrift-to-metadata.ts';

export interface ThriftRoute {
  /** Empty: any method. */
  readonly method: string;
  /** With its colon; empty: any service. */
  readonly service: string;
  readonly inverts: boolean;
  readonly headers: readonly HeaderMatcher[];
  readonly stripsService: boolean;
  readonly target:
    | { readonly kind: 'clusters'; readonly clusters: readonly ThriftWeight[] }
    | { readonly kind: 'header'; readonly name: string; readonly subset?: Struct };
}

export interface ThriftWeight {
  readonly name: string;
  readonly weight: number;
  readonly subset?: Struct;
}

/** What looks at a request before its route is chosen. */
export type ThriftFilter =
  | { readonly kind: 'header_to_metadata'; readonly options: HeaderToMetadataOptions }
  | { readonly kind: 'payload_to_metadata'; readonly rules: readonly ThriftRule[] };

export interface ThriftProxy {
  readonly kind: 'thrift_proxy';
  /** What stands behind `thrift.` in statistic names. */
  readonly statPrefix: string;
  readonly transport: ThriftTransport;
  readonly protocol: ThriftProtocol;
  readonly routes: readonly ThriftRoute[];
  readonly filters: readonly ThriftFilter[];
  /** 0: no limit. */
  readonly maxRequests: number;
}

export const THRIFT_PROXY_DECLARATION = declareKind<ThriftProxy>(THRIFT_PROXY);
